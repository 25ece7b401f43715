"""Runs copies of one checkpoint in parallel, each with another answer."""

from __future__ import annotations

from collections.abc import Sequence

from ...errors import CancelledError, QuizlogError
from ..live_run import LiveRun
from ..process.limits import Limits
from ..transcript import Transcript
from .checkpoints import Checkpoint
from .known_runs import was_killed


def fan_out_copies(
    point: Checkpoint | None, answers: Sequence[str], limits: Limits, running: list[LiveRun]
) -> list[Transcript | QuizlogError | None]:
    """The outcome of each answer; None for those that must run alone.

    Args:
        point: The checkpoint; None if there is none.
        answers: One for each copy.
        limits: Bounds on each copy.
        running: Holds the copies while they are awaited.
    """
    if point is None:
        return [None] * len(answers)
    try:
        for answer in answers:
            copy = point.process.copy()
            if copy is None:
                break
            running.append(
                LiveRun.from_copy(point.source, limits, copy, point.transcript, point.answers)
            )
            running[-1].begin([answer])
        point.touch()
        found = [_collected(run) for run in running]
    finally:
        for run in running:
            run.close()
        running.clear()
    if point.process.spoiled:
        found = []
    return [*found, *[None] * (len(answers) - len(found))]


def _collected(run: LiveRun) -> Transcript | QuizlogError | None:
    """The outcome of a run that was begun; None if its process was never made."""
    try:
        transcript = run.finish()
        return None if run.process.refused or was_killed(transcript) else transcript
    except CancelledError:
        raise
    except QuizlogError as error:
        # It is not known which of the copies exceeded the bound: each is tried alone.
        return None if run.process.family.exceeded else error
    finally:
        run.close()
