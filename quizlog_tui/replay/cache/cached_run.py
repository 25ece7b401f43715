"""Live runs of the cache, and when a checkpoint of one is worth its cost.

A checkpoint is taken where coming here again would cost more than taking it; so going back to any
step costs one fork and at most about as much work again.
"""

from __future__ import annotations

import time

from ..process.process import QuizProcess
from ..run import Run
from .checkpoints import MAX_GENERATION, Checkpoint, Checkpoints, Key

_LEAST_GAP = 5e-4
"""Seconds of work below which a checkpoint never pays."""


class CachedRun:
    """A live run, with what the cache knows of it."""

    def __init__(
        self,
        key: Key,
        run: Run,
        generation: int = 0,
        saved: float = -1.0,
        gap: float | None = None,
        point: Checkpoint | None = None,
    ) -> None:
        self.key = key
        self.run = run
        self.generation = generation
        self.saved = saved
        """Cost at its last checkpoint, or at the one it came from."""
        self.gap = _LEAST_GAP if gap is None else gap
        """Seconds of work worth a checkpoint: what a copy costs."""
        self.point = point
        """Its last checkpoint, or the one it came from."""
        self.lasting_taint = False


def ready(line: CachedRun) -> bool:
    """Whether a run waits for an answer, in a folder that no other has changed."""
    return line.run.waiting and not line.run.process.spoiled


def may_save(line: CachedRun, checkpoints: Checkpoints) -> bool:
    """Whether a checkpoint of this run would be of use at all."""
    young = line.generation < MAX_GENERATION
    return checkpoints.enabled and young and not line.lasting_taint


def save(line: CachedRun, checkpoints: Checkpoints) -> None:
    """Take a checkpoint here if coming here again would cost more than one."""
    run = line.run
    if run.cost - line.saved < line.gap or not may_save(line, checkpoints):
        return
    first = line.saved < 0
    if first:
        started = time.perf_counter()
        point = take(line, checkpoints)
        line.gap = measured_gap(started)
        if point is not None:
            point.gap = line.gap
        return
    process = _copied(line)
    if process is not None:
        _keep(line, process, checkpoints)


def measured_gap(started: float) -> float:
    """Seconds of work that are worth a checkpoint: half of what taking one since `started` cost.

    The other half is had for nothing, while the one who answers thinks.
    """
    return max(_LEAST_GAP, (time.perf_counter() - started) / 2)


def take(line: CachedRun, checkpoints: Checkpoints) -> Checkpoint | None:
    """A checkpoint of a run where it is, at once; None if that is not allowed."""
    process = _copied(line)
    if process is None:
        return None
    if process.settle():
        return _keep(line, process, checkpoints)
    line.saved = line.run.cost  # not before there is that much more to lose
    line.lasting_taint = line.run.process.taint is not None
    process.release()
    return None


def _copied(line: CachedRun) -> QuizProcess | None:
    """A copy of a run's process; None if too many files are open."""
    process = line.run.copy()
    if process is None:
        line.saved = line.run.cost  # as above
    return process


def _keep(line: CachedRun, process: QuizProcess, checkpoints: Checkpoints) -> Checkpoint:
    run = line.run
    line.saved = run.cost
    point = Checkpoint(
        key=line.key,
        source=run.source,
        parent=line.point,
        answers=run.answers,
        transcript=run.transcript,
        process=process,
        cost=run.cost,
        generation=line.generation + 1,
        gap=line.gap,
    )
    line.point = point
    checkpoints.add(point)
    return point
