"""Builds an episode from the runs of one script instance.

Every run is replayed, one is chosen as gold, and the others are compared with it. The result has
the schema's structure and key order. The same runs give the same bytes, in any order, at any place
and time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING

from ...errors import EpisodeError, LimitError
from ...record.append_only_list import AppendOnlyList
from ...record.model import LastError
from ...replay.replayer import Replayer
from ...replay.script.source import Source
from ...replay.transcript import Step, Transcript
from ...replay.world import CODE, World, describe_observation, doubt, start_of
from ...text import one_line
from ..format.hashing import EPOCH, episode_id, question_id, stamp, stamp_of, value_hash
from ..format.triangulate import reasons_against, standing, triangulate
from ..runs.instance import Instance, difficulty_of, hint_of, is_repeated, names_by_line, witnesses
from ..runs.runs import (
    Replay,
    Replayed,
    SolverRun,
    Turn,
    clean,
    is_text,
    script_name,
    shown,
    step_answer,
)
from .conversation import REFUSED, conversation, refused_messages

if TYPE_CHECKING:
    from ..format.schema import Episode, ExecutionTrace, Hook, Question


_ANSWER_FIRST = "answer a question first"
"""The hint for a record that contains nothing to learn from."""

_EXPORTER = "quizlog episodes 3"
"""The writer of the lines, with the version of their format and rules. It is not the program's
version, so that a new release writes the same bytes."""


_Fragility = Callable[[Instance, Replayed], str | None]
"""Tells why another world would not show what a run shows, in a clause; None if it would."""


@dataclass(frozen=True)
class BuildSettings:
    """The user's choices for building."""

    derive: bool = True
    """Whether an undeclared difficulty is derived from the number of steps."""
    retries: bool = False
    """Whether the conversation shows the answers that the script refused."""


def build(
    instance: Instance, replayer: Replayer, settings: BuildSettings | None, fragility: _Fragility
) -> Episode:
    """The episode of an instance as plain data; `fragility` judges a gold run that would verify.

    Raises:
        EpisodeError: There is nothing to learn: no answer was accepted, or an answer is not Unicode
            text.
    """
    settings = settings or BuildSettings()

    def replay(inputs: Sequence[str], start_time: str | None) -> Transcript:
        world = World(instance.seed, start_of(start_time))
        return replayer.replay(instance.source, world, inputs)

    gold, others = _chosen(instance, replay)
    _check_usable(gold)
    if settings.retries:
        gold = Replayed(_with_refusals(gold.run, replay), gold.transcript)
    return _episode(instance, gold, others, settings, fragility)


def _chosen(instance: Instance, replay: Replay) -> tuple[Replayed, list[Replayed]]:
    """The gold run, and the others in a fixed order.

    Gold is the first record that finished, else the run requested as gold, else the first record
    with an accepted answer. The answers of the others do not matter. No run counts twice, neither
    as gold and as its own witness, nor as two runs.
    """
    own = [_replayed(each.run, replay) for each in instance.attempts if each.run.turns]
    asked = [_replayed(run, replay) for run in instance.solved]
    taught = [each for each in asked if each.run.sample == 0]
    found = sorted([*own, *taught], key=lambda each: (not each.success, not each.accepted))
    if not found:
        where = script_name(instance.source.path)
        raise EpisodeError("nobody has answered it", where=where, hint=_ANSWER_FIRST)
    gold = found[0]
    models = next((each.models for each in instance.attempts if each.run is gold.run), ())
    asked = [each for each in asked if not is_repeated(each.run, models)]
    others = (*own, *asked, *(_replayed(run, replay) for run in witnesses(models, gold.run)))
    rest = [each for each in others if each is not gold and each not in taught]
    rest = [each for each in rest if not each.run.reconciled]
    return gold, sorted(rest, key=lambda each: each.run.sort_key())


def _replayed(run: SolverRun, replay: Replay) -> Replayed:
    try:
        return Replayed(run, replay(run.inputs, run.start_time))
    except LimitError as error:  # this run failed, but the others count
        ended = Step(None, (), "", None)
        said = LastError(error.message)
        return Replayed(run, Transcript(AppendOnlyList(), ended, "error", said))


def _check_usable(gold: Replayed) -> None:
    if not gold.accepted:
        error = gold.transcript.last_error
        said = f"the script says: {clean(error.message)}" if error else _ANSWER_FIRST
        message = "no answer was accepted, so there is nothing to learn"
        raise EpisodeError(message, where=gold.run.name, hint=said)
    for index, answer in enumerate(gold.run.inputs):
        if not is_text(answer):
            hint = "a lone surrogate is not Unicode text, which files for training must be"
            raise EpisodeError("cannot be written", where=f"inputs[{index}]", hint=hint)


def _with_refusals(run: SolverRun, replay: Replay) -> SolverRun:
    """The run with the script's message for each answer that it refused."""
    rejected = []
    for at, turn, message in run.rejected:
        error = replay([*run.inputs[:at], turn.answer], run.start_time).last_error
        rejected.append((at, turn, error.message if error else message))
    return replace(run, rejected=tuple(rejected))


def _episode(
    instance: Instance,
    gold: Replayed,
    others: Sequence[Replayed],
    settings: BuildSettings,
    fragility: _Fragility,
) -> Episode:
    source, extras = instance.source, _extras(instance, gold)
    hint = hint_of(source, extras)
    talk = conversation(gold, hint, retries=settings.retries)
    said = sum(message["role"] == "assistant" for message in talk["messages"])
    trace = _execution_trace(gold, source, _provenance(instance, "gold"), in_messages=said)
    traces = [
        _execution_trace(each, source, _provenance(instance, "consistency"), in_messages=0)
        for each in others
    ]
    answers = [(each["final_answer_hash"], each["final_answer"]) for each in (trace, *traces)]
    found = triangulate(answers[0], answers[1:])
    reasons = reasons_against(found, standing(trace))
    if not reasons and (doubt := fragility(instance, gold)):
        trace["submission_metadata"]["unverifiable"] = doubt
        reasons = reasons_against(found, standing(trace))
    trace["submission_metadata"] |= {
        "not_verified_because": reasons,
        REFUSED: refused_messages(gold) if settings.retries else [],
    }
    question = _question(gold, instance, extras, settings)
    begun = extras.get("start_time")
    return {
        "episode_id": episode_id(question["id"], trace),
        "timestamp": stamp(extras.get("end_time")) or stamp(begun) or EPOCH,
        "verified": not reasons,
        "question": question,
        "teacher_gold_trace": trace,
        "consistency_traces": traces,
        "conversation_for_sft": talk,
        "rl_verification_data": {
            "expected_final_answer_hash": trace["final_answer_hash"],
            "expected_final_answer": trace["final_answer"],
        },
        "triangulation_metadata": found,
    }


def _extras(instance: Instance, gold: Replayed) -> Mapping[str, object]:
    """The extensions of the gold run's record, or of the first record if none is gold."""
    own = [each for each in instance.attempts if each.run is gold.run] or instance.attempts[:1]
    return own[0].extras if own else {}


def _question(
    gold: Replayed, instance: Instance, extras: Mapping[str, object], settings: BuildSettings
) -> Question:
    text, steps = shown(gold.accepted[0]), len(gold.accepted)
    hint = hint_of(instance.source, extras)
    hint = clean(hint) if hint else None
    return {
        "id": question_id(text, hint),
        "question_text": text,
        "hint": hint,
        "difficulty": difficulty_of(instance.source, steps, derive=settings.derive),
        "n_steps": steps,
        "created_at": stamp(extras.get("start_time")),
    }


def _provenance(instance: Instance, kind: str) -> dict[str, object]:
    return {
        "exporter": _EXPORTER,
        "run": kind,
        "script": script_name(instance.source.path),
        "code_hash": instance.source.code_hash,
        "seed": instance.seed,
    }


def _execution_trace(
    replayed: Replayed, source: Source, metadata: dict[str, object], *, in_messages: int
) -> ExecutionTrace:
    """The `ExecutionTrace` of a run; `in_messages` of its turns are in the conversation."""
    answer = replayed.final_answer
    turns, steps = replayed.turns, replayed.accepted
    total = len(replayed.transcript.steps) + len(replayed.run.rejected)
    return {
        "code_cells": [_cell(turn, step) for turn, step in zip(turns, steps, strict=True)],
        "final_answer": answer,
        "final_answer_hash": None if answer is None else value_hash(answer),
        "execution_success": replayed.success,
        "hooks": _hooks(steps, source),
        "submission_metadata": metadata | _about(replayed),
        "total_turns": total,
        "archived_turn_count": total - in_messages,
    }


def _cell(turn: Turn, step: Step) -> str:
    """The turn's code, or a line that submits the answer if the solver wrote no code."""
    return clean(turn.code) if turn.code else f"submit({step_answer(step)!r})"


def _about(replayed: Replayed) -> dict[str, object]:
    run, error = replayed.run, replayed.transcript.last_error
    observed = replayed.transcript.observed
    why = doubt(observed) or (CODE if CODE in observed else None)
    generated = [index for index, turn in enumerate(replayed.turns) if not turn.code]
    return {
        "solver": clean(run.name),
        "sample": run.sample,
        "execution_id": run.run_id,
        "start_time": stamp_of(start_of(run.start_time)),
        "inputs": [clean(text) for text in run.inputs],
        "status": replayed.transcript.status,
        "score": replayed.transcript.score,
        "error_line": error.line if error else None,
        "retries": len(run.rejected),
        "reconciled": run.reconciled,
        "unverifiable": None if why is None else describe_observation(why),
        "generated_cells": generated,
    }


def _hooks(steps: Sequence[Step], source: Source) -> list[Hook]:
    """One hook for each accepted answer, each depending on the one before it."""
    names = _unique_names(steps, names_by_line(source.data) if steps else {})
    return [
        {
            "code_line": clean(source.line(step.line)) if step.line else "",
            "variable_name": name,
            "value_hash": value_hash(step_answer(step)),
            "description": _first_line(step),
            "depends_on": [before] if before else [],
        }
        for step, name, before in zip(steps, names, [None, *names], strict=False)
    ]


def _first_line(step: Step) -> str | None:
    prompt = clean(step.question or "").strip() or shown(step).rpartition("\n")[2]
    return one_line(prompt.partition("\n")[0].strip()) or None


def _unique_names(steps: Sequence[Step], by_line: dict[int, str]) -> list[str]:
    """The script's variable names, numbered from the second use of each on.

    Answers without a variable are called `answer_0` and so on. No invented name equals one that
    the script uses.
    """
    given = [by_line.get(step.line or 0) for step in steps]
    own, names = set(given), dict[str, None]()
    for n, name in enumerate(given):
        stem = name or f"answer_{n}"
        numbered = (f"{stem}_{number}" for number in count(2))
        free = (each for each in numbered if each not in own and each not in names)
        taken = stem in names or (name is None and stem in own)
        names[next(free) if taken else stem] = None
    return list(names)
