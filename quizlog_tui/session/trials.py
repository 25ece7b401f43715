"""Outcomes of other answers and branches of an open record, which is not changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ..errors import CancelledError, QuizlogError
from ..record import branches as rules
from ..record.lineage import partings
from ..record.model import Record
from ..replay.transcript import Step, Transcript
from ..replay.world import world_of
from . import walks
from .branch_list import branch_list
from .live_record import LiveRecord
from .state import SessionState

_MOST_OTHERS = 16
"""Maximum number of other recorded answers that `bisect` tries at the step it found."""

if TYPE_CHECKING:
    from ..debug.inspection import Inspection, Trace
    from ..proof.compare.sides import RunComparison


def fan_out(
    live: LiveRecord, state: SessionState, at: int, answers: Sequence[str], *, deep: bool = False
) -> list[Transcript | QuizlogError]:
    """The outcomes of several answers at step `at`.

    Args:
        live: The record and where it runs.
        state: The state of the session.
        at: The step.
        answers: The answers to try there.
        deep: Whether each run continues with the recorded later answers, as `amend` does.

    Raises:
        UsageError: There is no such step.
        CancelledError: The replayer was cancelled meanwhile.
    """
    record = state.record
    rules.check_pointer(record, at)
    steps = live.replay(record, record.inputs).steps if deep else ()
    if at < len(steps):
        return [_amended(live, record, steps, at, answer) for answer in answers]
    path = record.inputs.upto(at)
    return live.replayer.fan_out(live.source, world_of(record), path, answers)


def _amended(
    live: LiveRecord, record: Record, steps: Sequence[Step], at: int, answer: str
) -> Transcript | QuizlogError:
    """What another answer at a step leads to, or what stopped that."""
    try:
        return walks.amend(partial(live.replay, record), live.replayer.extend, steps, at, answer)
    except CancelledError:
        raise
    except QuizlogError as error:
        return error


def attempt_row(
    answer: str, result: Transcript | QuizlogError, recorded: Transcript | None = None
) -> dict[str, Any]:
    """An answer that was tried, and what it led to, as plain data.

    Args:
        answer: The answer.
        result: The run, or what stopped it.
        recorded: The recorded run, where the first step that differs from it is wanted.
    """
    row: dict[str, Any] = {"answer": answer, "status": None, "score": None, "steps": None}
    if isinstance(result, QuizlogError):
        row["error"] = str(result)
    else:
        error = result.last_error.message if result.last_error else None
        row |= {"status": result.status, "score": result.score, "steps": len(result.steps)}
        row |= {"next_prompt": result.next_prompt, "error": error}
    if recorded is not None:
        row["differs"] = differs_at(result, recorded)
    return row


def differs_at(result: Transcript | QuizlogError, recorded: Transcript) -> int | None:
    """The first step at which a run shows something else than the recorded one.

    None if there is none: also where the run only goes on behind the last recorded answer.
    """
    from ..proof.diverge import first_difference

    if isinstance(result, QuizlogError) or len(result.steps) > len(recorded.steps):
        return None
    found = first_difference(recorded, result)
    return found.step if found else None


def transcripts_of(
    live: LiveRecord, state: SessionState, names: Sequence[str]
) -> Iterator[tuple[str, Transcript | QuizlogError]]:
    """The runs of several branches in one walk of their answers, in any order.

    Yields:
        The name of a branch with the run through all its answers, or the error that stopped it.

    Raises:
        CancelledError: The replayer was cancelled meanwhile.
    """
    record = state.record
    lines = map(record.path_of, names)
    for index, outcome in live.replayer.walk(live.source, world_of(record), lines):
        yield names[index], outcome


def bisect(live: LiveRecord, state: SessionState) -> walks.Culprit | None:
    """Find the first answer of the active branch that makes the outcome worse than the best other.

    Without a better branch, the answer at which the script raised. None if there is none. The
    answers of other branches at that step are tried too.
    """
    record = state.record
    every = branch_list(record, state.transcript)
    others = [branch for branch in every if not branch.active and not branch.deleted]
    best = max(others, key=lambda branch: branch.score or 0.0, default=None)
    good = list(record.path_of(best.name)) if best and best.score else []
    end = live.replay(record, record.inputs)
    if best is None or (best.score or 0.0) <= (end.score or 0.0) or end.status == "success":
        good = []

    def given_elsewhere(step: int) -> Sequence[str]:
        parted = partings(record, record.branch).values()
        found = {branch.answer: None for branch in parted if branch.at == step}
        return [answer for answer in found if answer is not None][:_MOST_OTHERS]

    return walks.bisect(partial(live.replay, record), list(record.inputs), good, given_elsewhere)


def diff(live: LiveRecord, state: SessionState, branch: str) -> RunComparison:
    """The first difference between the active branch and another, each to its end.

    Raises:
        UsageError: There is no such branch.
    """
    from ..proof.compare.sides import Side, compare, run_of, with_branch

    record = state.record
    mine = Side(live.file.path, record, live.source, record.branch, whole=True)
    runs = [run_of(side, live.replayer) for side in (mine, with_branch(mine, branch))]
    return compare(runs[0][0], runs[1][0], ended=(runs[0][1], runs[1][1]))


def inspect(
    live: LiveRecord, state: SessionState, at: int | None, frame: int, expressions: Sequence[str]
) -> Inspection:
    """What the script knows at a step, the pointer if None; see `debug.look.inspect`.

    Raises:
        UsageError: There is no such step or frame.
        LimitError: The script, or the look, exceeded a limit.
        ScriptError: The script cannot be read.
    """
    from ..debug.look import inspect

    answers = _answers_up_to(state.record, at)
    world = world_of(state.record)
    return inspect(live.replayer, live.source, world, answers, frame=frame, expressions=expressions)


def trace(live: LiveRecord, state: SessionState, at: int | None) -> Trace:
    """The lines that ran before a step, the pointer if None; see `debug.look.trace`.

    Raises:
        As `inspect`.
    """
    from ..debug.look import trace

    answers = _answers_up_to(state.record, at)
    return trace(live.replayer, live.source, world_of(state.record), answers)


def _answers_up_to(record: Record, at: int | None) -> Sequence[str]:
    step = record.pointer if at is None else at
    rules.check_pointer(record, step)
    return record.inputs.upto(step)
