"""An episode from the runs of one script instance.

Replays every run, takes one as gold, compares the others with it, and writes what came of it in
the schema's shape and key order. The same runs give the same bytes, in whatever order they come,
wherever and whenever it is done.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ...errors import EpisodeError, LimitError
from ...record.append_only_list import AppendOnlyList
from ...record.model import LastError
from ...replay.replayer import Replayer
from ...replay.transcript import Step, Transcript
from ...replay.world import World, start_of
from ..format.hashing import question_id
from ..format.identity import episode_id
from ..format.matching import Matcher
from ..format.times import stamp
from ..format.triangulate import reasons_against, standing, triangulate
from ..runs.decided import is_repeated, witnesses
from ..runs.declared import difficulty_of, hint_of
from ..runs.instance import Instance
from ..runs.runs import Replay, Replayed, SolverRun, clean, is_text, shown
from .conversation import REFUSED, conversation, refused_messages
from .trace import execution_trace, script_name

ANSWER_FIRST = "answer a question first"
"""The mend of a record that holds nothing to learn from."""

EXPORTER = "quizlog episodes 2"
"""Who writes the lines, with the version of their form and rules; not the program's, so that a new
release writes the same bytes."""


@dataclass(frozen=True)
class BuildSettings:
    """What a user can choose about building."""

    matcher: Matcher = field(default_factory=Matcher)
    """When two answers count as the same."""
    derive: bool = True
    """Whether an undeclared difficulty is derived from the number of steps."""
    retries: bool = False
    """Whether the conversation shows the answers that the script refused."""


def build(instance: Instance, replayer: Replayer, settings: BuildSettings | None = None) -> Any:
    """The episode of an instance, as plain data; `lines.to_line` writes it.

    Raises:
        EpisodeError: There is nothing to learn from: no answer was accepted, or an answer is no
            Unicode text.
    """
    settings = settings or BuildSettings()

    def replay(inputs: Sequence[str], start_time: str | None) -> Transcript:
        world = World(instance.seed, start_of(start_time))
        return replayer.replay(instance.source, world, inputs)

    gold, others = _chosen(instance, replay)
    _check_usable(gold)
    if settings.retries:
        gold = Replayed(_with_refusals(gold.run, replay), gold.transcript)
    return _episode(instance, gold, others, settings)


def _chosen(instance: Instance, replay: Replay) -> tuple[Replayed, list[Replayed]]:
    """The gold run, and the others in their order.

    Gold is the first record that finished, else the run that was asked for as gold, else what
    came furthest in that order. What the others answered has no say in it. Nothing that was said
    once counts twice: neither as gold and as a witness to it, nor as two runs.
    """
    own = [_replayed(one.run, replay) for one in instance.attempts if one.run.turns]
    asked = [_replayed(run, replay) for run in instance.solved]
    taught = [one for one in asked if one.run.sample == 0]
    found = sorted([*own, *taught], key=lambda one: (not one.success, not one.accepted))
    if not found:
        where = script_name(instance.source.path)
        raise EpisodeError("nobody has answered it", where=where, hint=ANSWER_FIRST)
    gold = found[0]
    models = next((one.models for one in instance.attempts if one.run is gold.run), ())
    asked = [one for one in asked if not is_repeated(one.run, models)]
    others = (*own, *asked, *(_replayed(run, replay) for run in witnesses(models, gold.run)))
    rest = [one for one in others if one is not gold and one not in taught]
    rest = [one for one in rest if not one.run.reconciled]
    return gold, sorted(rest, key=lambda one: one.run.sort_key())


def _replayed(run: SolverRun, replay: Replay) -> Replayed:
    try:
        return Replayed(run, replay(run.inputs, run.start_time))
    except LimitError as error:  # a run that went over a limit did not end well; the others count
        ended = Step(None, (), "", None)
        said = LastError(error.message)
        return Replayed(run, Transcript(AppendOnlyList(), ended, "error", said))


def _check_usable(gold: Replayed) -> None:
    if not gold.accepted:
        error = gold.transcript.last_error
        said = f"the script says: {clean(error.message)}" if error else ANSWER_FIRST
        message = "no answer was accepted, so there is nothing to learn"
        raise EpisodeError(message, where=gold.run.name, hint=said)
    for index, answer in enumerate(gold.run.inputs):
        if not is_text(answer):
            hint = "a lone surrogate is no Unicode text, which files for training must be"
            raise EpisodeError("cannot be written", where=f"inputs[{index}]", hint=hint)


def _with_refusals(run: SolverRun, replay: Replay) -> SolverRun:
    """The run with what the script said to each answer that it refused."""
    told = []
    for at, turn, said in run.rejected:
        error = replay([*run.inputs[:at], turn.answer], run.start_time).last_error
        told.append((at, turn, error.message if error else said))
    return replace(run, rejected=tuple(told))


def _episode(
    instance: Instance, gold: Replayed, others: Sequence[Replayed], settings: BuildSettings
) -> dict[str, Any]:
    source, extras = instance.source, _extras(instance, gold)
    hint = hint_of(source, extras)
    talk = conversation(gold, hint, retries=settings.retries)
    said = sum(message["role"] == "assistant" for message in talk["messages"])
    trace = execution_trace(gold, source, _provenance(instance, "gold"), in_messages=said)
    traces = [
        execution_trace(one, source, _provenance(instance, "consistency"), in_messages=0)
        for one in others
    ]
    answers = [(one["final_answer_hash"], one["final_answer"]) for one in (trace, *traces)]
    found = triangulate(answers[0], answers[1:], settings.matcher)
    reasons = reasons_against(found, standing(trace))
    trace["submission_metadata"] |= {
        "matcher": settings.matcher.to_dict(),
        "not_verified_because": reasons,
        REFUSED: refused_messages(gold) if settings.retries else [],
    }
    question = _question(gold, instance, extras, settings)
    begun = extras.get("start_time")
    return {
        "episode_id": episode_id(question["id"], trace),
        "timestamp": stamp(extras.get("end_time")) or stamp(begun) or stamp(0),
        "verified": not reasons,
        "question": question,
        "teacher_gold_trace": trace,
        "consistency_traces": traces,
        "conversation_for_sft": talk,
        "rl_verification_data": {
            "expected_final_answer_hash": trace["final_answer_hash"],
            "expected_final_answer": trace["final_answer"],
        },
        "triangulation_metadata": found.to_dict(),
    }


def _extras(instance: Instance, gold: Replayed) -> Mapping[str, Any]:
    """The extensions of the gold run's record, or of the first where no record is gold."""
    own = [one for one in instance.attempts if one.run is gold.run] or instance.attempts[:1]
    return own[0].extras if own else {}


def _question(
    gold: Replayed, instance: Instance, extras: Mapping[str, Any], settings: BuildSettings
) -> dict[str, Any]:
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


def _provenance(instance: Instance, kind: str) -> dict[str, Any]:
    return {
        "exporter": EXPORTER,
        "run": kind,
        "script": script_name(instance.source.path),
        "code_hash": instance.source.code_hash,
        "seed": instance.seed,
    }
