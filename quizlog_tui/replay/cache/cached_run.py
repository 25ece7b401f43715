"""Cached runs, and when a checkpoint of one is worth its cost.

A checkpoint is taken when returning to this stop would cost more than taking it. So going back to
any step costs one fork and at most about as much work again.
"""

from __future__ import annotations

import time

from ..live_run import LiveRun
from ..process.process import QuizProcess
from .checkpoints import MAX_GENERATION, Checkpoint, Checkpoints, Key

_LEAST_GAP = 5e-4
"""Seconds of work below which a checkpoint never pays."""


class CachedRun:
    """A live run with the cache's data about it."""

    def __init__(
        self,
        key: Key,
        run: LiveRun,
        generation: int = 0,
        saved: float = -1.0,
        gap: float | None = None,
        point: Checkpoint | None = None,
    ) -> None:
        self.key = key
        self.run = run
        self.generation = generation
        self.saved = saved
        """Cost of the run at its last checkpoint, or at the one it was forked from."""
        self.gap = _LEAST_GAP if gap is None else gap
        """Seconds of work that are worth a checkpoint: the cost of a copy."""
        self.point = point
        """Its last checkpoint, or the one it was forked from."""
        self.tainted = False


def is_ready(cached: CachedRun) -> bool:
    """Whether a run waits for an answer, in a folder that no other run has changed."""
    return cached.run.waiting and not cached.run.process.spoiled


def may_save(cached: CachedRun, checkpoints: Checkpoints) -> bool:
    """Whether a checkpoint of this run may be taken at all."""
    young = cached.generation < MAX_GENERATION
    return checkpoints.enabled and young and not cached.tainted


def save_if_worthwhile(cached: CachedRun, checkpoints: Checkpoints) -> None:
    """Take a checkpoint if returning to this stop would cost more."""
    run = cached.run
    if run.cost - cached.saved < cached.gap or not may_save(cached, checkpoints):
        return
    first = cached.saved < 0
    if first:
        started = time.perf_counter()
        point = take_checkpoint(cached, checkpoints)
        cached.gap = measured_gap(started)
        if point is not None:
            point.gap = cached.gap
        return
    process = _copied(cached)
    if process is not None:
        _keep(cached, process, checkpoints)


def measured_gap(started: float) -> float:
    """Seconds of work that are worth a checkpoint: half the time since `started`.

    The other half costs nothing, as it passes while the next answer is awaited.
    """
    return max(_LEAST_GAP, (time.perf_counter() - started) / 2)


def take_checkpoint(cached: CachedRun, checkpoints: Checkpoints) -> Checkpoint | None:
    """Take a checkpoint of a run at its present stop; None if that is impossible."""
    process = _copied(cached)
    if process is None:
        return None
    if process.settle():
        return _keep(cached, process, checkpoints)
    cached.saved = cached.run.cost  # try again only after as much further work
    cached.tainted = cached.run.process.taint is not None
    process.release()
    return None


def _copied(cached: CachedRun) -> QuizProcess | None:
    """A copy of a run's process; None if too many files are open."""
    process = cached.run.copy()
    if process is None:
        cached.saved = cached.run.cost  # as above
    return process


def _keep(cached: CachedRun, process: QuizProcess, checkpoints: Checkpoints) -> Checkpoint:
    run = cached.run
    cached.saved = run.cost
    point = Checkpoint(
        key=cached.key,
        source=run.source,
        parent=cached.point,
        answers=run.answers,
        transcript=run.transcript,
        process=process,
        cost=run.cost,
        generation=cached.generation + 1,
        gap=cached.gap,
    )
    cached.point = point
    checkpoints.add(point)
    return point
