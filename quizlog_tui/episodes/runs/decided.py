"""What the decisions kept beside a record say of its runs: how each answer came about, who agreed.

Every model of a decision is a solver of its own. Its run is what it answered by itself, before it
saw the others; it ends with the first answer that was not taken, since from there on the model was
shown what others had answered, and where it was told that an answer is wrong. Answers of a
reconciliation are nobody's own. Asks no model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...record.model import Record
from ...solver.decisions.answer_text import answer_text
from ...solver.decisions.decision import Decision, ModelReply
from ..format.hashing import canonical_answer
from ..format.matching import Matcher
from .runs import SolverRun, Turn


def taken(decisions: Sequence[Decision], record: Record) -> dict[int, Decision]:
    """The decisions that led to the record's answers, by the index of the question.

    Also where an answer was typed in other words, such as `[[2,0],[3,2]]` for `[[2, 0], [3, 2]]`.
    """
    shared = _shared(record)
    return {
        at: one
        for one in decisions
        if (at := one.question.pointer) is not None
        and 0 <= at < len(record.inputs)
        and at <= shared.get(one.question.branch or record.branch, -1)
        and _same(_text(one, one.verdict.answer), record.inputs[at])
    }


def _shared(record: Record) -> dict[str, int]:
    """How many answers the active branch shares with each branch that it grew from."""
    name, shared = record.branch, len(record.inputs)
    found = {name: shared}
    while (entry := record.branches.get(name)) and entry.parent and entry.parent not in found:
        name, shared = entry.parent, min(shared, entry.at)
        found[name] = shared
    return found


def gold_run(run: SolverRun, decisions: Mapping[int, Decision]) -> SolverRun:
    """The record's run with the code and words of a model that gave each answer."""
    turns = [
        _turn_of(decisions[index], turn) if index in decisions else turn
        for index, turn in enumerate(run.turns)
    ]
    reconciled = any(map(_after_others, decisions.values()))
    return replace(run, turns=tuple(turns), reconciled=reconciled)


def _after_others(decision: Decision) -> bool:
    return bool(decision.reconciliation)


def _text(decision: Decision, answer: Any) -> str:
    """An answer as it was given to the script."""
    return answer_text(answer, decision.question)


def _turn_of(decision: Decision, turn: Turn) -> Turn:
    for reply in _by_rank(decision):
        answer = _own_answer(reply) if reply.name in decision.verdict.contributors else None
        if answer is not None and _same(_text(decision, answer), turn.answer):
            return Turn(turn.answer, reply.code, reply.explanation)
    return turn


def _by_rank(decision: Decision) -> list[ModelReply]:
    return sorted(decision.models, key=lambda one: (not one.primary, one.name))


def _own_answer(reply: ModelReply) -> Any:
    """What a model answered by itself: what its code came to, else what it claims."""
    if reply.executed is not None and reply.code:
        return reply.executed.answer if reply.executed.status == "ok" else None
    return reply.claimed if reply.status == "ok" else None


def own_runs(decisions: Mapping[int, Decision], run: SolverRun) -> list[SolverRun]:
    """Each model's own run beside the record's; of the models that were asked the first question.

    The primary model's first, then by name.
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
        reply = next((one for one in decision.models if one.name == name), None)
        answer = _own_answer(reply) if reply else None
        if reply is None or answer is None or decision.refused:
            break
        text = _text(decision, answer)
        turns.append(Turn(text, reply.code, reply.explanation))
        chosen = _text(decision, decision.verdict.answer)
        if not _same(text, chosen):
            break
    return turns


def _same(text: str, other: str) -> bool:
    """Whether two texts give the same answer."""
    return Matcher().same(canonical_answer(text), canonical_answer(other))


def witnesses(models: Sequence[SolverRun], run: SolverRun) -> list[SolverRun]:
    """The models' own runs that are others than the record's.

    A model that answered every question as the record does is where the record's answers are
    from. The first such is the record's run itself, which is no witness to itself; any further one
    came to the same by itself.

    Args:
        models: What `own_runs` gives.
        run: The record's run.
    """
    itself = next((one for one in models if _all_same(one, run)), None)
    return [one for one in models if one is not itself]


def _all_same(one: SolverRun, other: SolverRun) -> bool:
    pairs = zip(one.inputs, other.inputs, strict=False)
    return len(one.turns) == len(other.turns) and all(_same(*pair) for pair in pairs)


def is_repeated(run: SolverRun, models: Sequence[SolverRun]) -> bool:
    """Whether a run is that of one of these models once more, word for word.

    So are replies that were recorded when the model decided, and are played again.
    """
    said = any(turn.code or turn.explanation for turn in run.turns)
    return said and any((one.name, one.turns) == (run.name, run.turns) for one in models)
