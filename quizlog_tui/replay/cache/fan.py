"""Copies of one checkpoint that run side by side, each with an answer of its own."""

from __future__ import annotations

from collections.abc import Sequence

from ...errors import CancelledError, QuizlogError
from ..process.limits import Limits
from ..run import Run
from ..transcript import Transcript
from .checkpoints import Checkpoint
from .known import killed


def fanned_out(
    point: Checkpoint | None, answers: Sequence[str], limits: Limits, running: list[Run]
) -> list[Transcript | QuizlogError | None]:
    """What each answer leads to; None for those that must run alone.

    Args:
        point: The checkpoint; None if there is none.
        answers: One for each copy.
        limits: What each may use.
        running: Takes the copies while they are waited for.
    """
    if point is None:
        return [None] * len(answers)
    try:
        for answer in answers:
            copy = point.process.copy()
            if copy is None:
                break
            running.append(Run.of_copy(point.source, limits, copy, point.transcript, point.answers))
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


def _collected(run: Run) -> Transcript | QuizlogError | None:
    """Where a run went that was begun; None if its process was never made."""
    try:
        transcript = run.finish()
        return None if run.process.refused or killed(transcript) else transcript
    except CancelledError:
        raise
    except QuizlogError as error:
        # Which of several side by side started too much is not known: each is tried alone.
        return None if run.process.family.exceeded else error
    finally:
        run.close()
