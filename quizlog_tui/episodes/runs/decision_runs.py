"""Derives runs from a record's decisions: how each answer was found, and what each model said.

Every model of a decision counts as a separate solver. Its run consists of the answers it gave
before it saw others'. The run ends with the first answer that was not taken, because after it the
model was shown others' answers, and where the model was told that an answer is wrong. Answers of a
reconciliation belong to no model. No model is asked here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ...record.model import Record
from ...solver.decisions.decision import Decision, ModelReply
from ...solver.decisions.decision_text import answer_text
from ...solver.voting.equality import answer_value
from ...solver.voting.vote import is_equal
from ..format.hashing import value_hash
from .runs import SolverRun, Turn


def taken(decisions: Sequence[Decision], record: Record) -> dict[int, Decision]:
    """The decisions that led to the record's answers, by the index of the question.

    An answer may have been typed differently, such as `[[2,0],[3,2]]` for `[[2, 0], [3, 2]]`.
    """
    shared = _shared(record)
    return {
        at: each
        for each in decisions
        if (at := each.question.pointer) is not None
        and 0 <= at < len(record.inputs)
        and at <= shared.get(each.question.branch or record.branch, -1)
        and _counts_as(each, each.verdict.answer, record.inputs[at])
    }


def _shared(record: Record) -> dict[str, int]:
    """The number of answers that the active branch shares with each of its ancestors."""
    name, shared = record.branch, len(record.inputs)
    found = {name: shared}
    while (entry := record.branches.get(name)) and entry.parent and entry.parent not in found:
        name, shared = entry.parent, min(shared, entry.at)
        found[name] = shared
    return found


def gold_run(run: SolverRun, decisions: Mapping[int, Decision]) -> SolverRun:
    """The record's run, with the code and explanation of a model that gave each answer."""
    turns = [
        _turn_of(decisions[index], turn) if index in decisions else turn
        for index, turn in enumerate(run.turns)
    ]
    reconciled = any(map(_after_others, decisions.values()))
    return replace(run, turns=tuple(turns), reconciled=reconciled)


def _after_others(decision: Decision) -> bool:
    return bool(decision.reconciliation)


def _text(decision: Decision, answer: object) -> str:
    """An answer as it was given to the script."""
    return answer_text(answer, decision.question)


def _turn_of(decision: Decision, turn: Turn) -> Turn:
    for reply in _by_rank(decision):
        answer = _own_answer(reply) if reply.name in decision.verdict.contributors else None
        if answer is not None and _counts_as(decision, answer, turn.answer):
            return Turn(turn.answer, reply.code, reply.explanation)
    return turn


def _by_rank(decision: Decision) -> list[ModelReply]:
    return sorted(decision.models, key=lambda each: (not each.primary, each.name))


def _own_answer(reply: ModelReply) -> object:
    """A model's own answer: the result of its code, else the one it claims."""
    if reply.executed is not None and reply.code:
        return reply.executed.answer if reply.executed.status == "ok" else None
    return reply.claimed if reply.status == "ok" else None


def own_runs(decisions: Mapping[int, Decision], run: SolverRun) -> list[SolverRun]:
    """The own run of each model that was asked the first question.

    The primary model's run is first, then they are sorted by name.
    """
    asked = _by_rank(decisions[0]) if 0 in decisions else []
    names = [reply.name for reply in asked]
    return [
        SolverRun(
            name,
            tuple(_own_turns(decisions, name)),
            sample=1,
            run_id=run.run_id,
            start_time=run.start_time,
        )
        for name in names
    ]


def _own_turns(decisions: Mapping[int, Decision], name: str) -> list[Turn]:
    turns: list[Turn] = []
    while len(turns) in decisions:
        decision = decisions[len(turns)]
        reply = next((each for each in decision.models if each.name == name), None)
        answer = _own_answer(reply) if reply else None
        if reply is None or answer is None or decision.refused:
            break
        turns.append(Turn(_text(decision, answer), reply.code, reply.explanation))
        if not _counts_as(decision, answer, _text(decision, decision.verdict.answer)):
            break
    return turns


def _counts_as(decision: Decision, answer: object, text: str) -> bool:
    """Whether the decision's vote counts an answer and the text given to the script as one.

    This only tells where an answer comes from; whether runs agree is told by hashes.
    """
    own = _text(decision, answer)
    return own == text or is_equal(own, text, decision.question)


def witnesses(models: Sequence[SolverRun], run: SolverRun) -> list[SolverRun]:
    """The models' own runs that are independent of the record's run.

    A model that answered every question like the record is the source of its answers. The first
    such model's run is the record's run itself, which cannot confirm itself; any further one is
    independent.

    Args:
        models: The result of `own_runs`.
        run: The record's run.
    """
    itself = next((each for each in models if _all_same(each, run)), None)
    return [each for each in models if each is not itself]


def _all_same(each: SolverRun, other: SolverRun) -> bool:
    own, others = ([value_hash(answer_value(text)) for text in run.inputs] for run in (each, other))
    return own == others


def is_repeated(run: SolverRun, models: Sequence[SolverRun]) -> bool:
    """Whether a run is a literal repetition of the run of one of these models.

    This is the case if recorded replies of the decision were played again.
    """
    said = any(turn.code or turn.explanation for turn in run.turns)
    return said and any((each.name, each.turns) == (run.name, run.turns) for each in models)
