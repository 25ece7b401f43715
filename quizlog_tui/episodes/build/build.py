"""Builds an episode from the runs of one script instance.

Every run is replayed, one is chosen as gold, and the others are compared with it. The result has
the schema's structure and key order. The same runs give the same bytes, in any order, at any place
and time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ...errors import EpisodeError, LimitError
from ...record.append_only_list import AppendOnlyList
from ...record.model import LastError
from ...replay.replayer import Replayer
from ...replay.transcript import Step, Transcript
from ...replay.world import World, start_of
from ..format.hashing import question_id
from ..format.identity import episode_id
from ..format.times import EPOCH, stamp
from ..format.triangulate import reasons_against, standing, triangulate
from ..runs.decision_runs import is_repeated, witnesses
from ..runs.declarations import difficulty_of, hint_of
from ..runs.instance import Instance
from ..runs.runs import Replay, Replayed, SolverRun, clean, is_text, shown
from .conversation import REFUSED, conversation, refused_messages
from .trace import execution_trace, script_name

if TYPE_CHECKING:
    from ..format.schema import Episode, Question

ANSWER_FIRST = "answer a question first"
"""The hint for a record that contains nothing to learn from."""

EXPORTER = "quizlog episodes 3"
"""The writer of the lines, with the version of their format and rules. It is not the program's
version, so that a new release writes the same bytes."""


Fragility = Callable[[Instance, Replayed], str | None]
"""Tells why another world would not show what a run shows, in a clause; None if it would."""


@dataclass(frozen=True)
class BuildSettings:
    """The user's choices for building."""

    derive: bool = True
    """Whether an undeclared difficulty is derived from the number of steps."""
    retries: bool = False
    """Whether the conversation shows the answers that the script refused."""


def build(
    instance: Instance, replayer: Replayer, settings: BuildSettings | None, fragility: Fragility
) -> Episode:
    """The episode of an instance as plain data; `lines.to_line` writes it.

    Args:
        instance: The script and its runs.
        replayer: Replays the runs.
        settings: The user's choices.
        fragility: Asked about the gold run of an episode that would be verified.

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
        raise EpisodeError("nobody has answered it", where=where, hint=ANSWER_FIRST)
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
        said = f"the script says: {clean(error.message)}" if error else ANSWER_FIRST
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
    fragility: Fragility,
) -> Episode:
    source, extras = instance.source, _extras(instance, gold)
    hint = hint_of(source, extras)
    talk = conversation(gold, hint, retries=settings.retries)
    said = sum(message["role"] == "assistant" for message in talk["messages"])
    trace = execution_trace(gold, source, _provenance(instance, "gold"), in_messages=said)
    traces = [
        execution_trace(each, source, _provenance(instance, "consistency"), in_messages=0)
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
        "triangulation_metadata": found.to_dict(),
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
        "exporter": EXPORTER,
        "run": kind,
        "script": script_name(instance.source.path),
        "code_hash": instance.source.code_hash,
        "seed": instance.seed,
    }
