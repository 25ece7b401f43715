"""The live runs of a replayer: found by their answers, extended, dropped if there are too many.

A checkpoint of a run is taken when returning to its stop would cost more than taking it. So going
back to any step costs one fork and at most about as much work again.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence

from ..errors import CancelledError, LimitError, ProtocolError, QuizlogError
from .checkpoints import MAX_GENERATION, Checkpoint, Checkpoints, Key
from .live_run import LiveRun, was_killed
from .process.process import Limits, QuizProcess
from .transcript import Transcript

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


class RunCache:
    """Live runs, the least recently used first. Not thread-safe.

    Args:
        most: Maximum number of runs.
        checkpoints: Takes the checkpoints that are worth their cost.
    """

    def __init__(self, most: int, checkpoints: Checkpoints) -> None:
        self.runs: list[CachedRun] = []
        self.running: list[LiveRun] = []
        """The runs that are awaited now."""
        self._most = most
        self._checkpoints = checkpoints
        self._over = False

    def on_the_way(self, key: Key, inputs: Sequence[str]) -> list[CachedRun]:
        """The runs whose answers begin `inputs`, and those whose answers `inputs` begin."""
        return [
            cached
            for cached in self.runs
            if cached.run.answers.agrees(inputs) and cached.key == key
        ]

    def passed(self, key: Key, inputs: Sequence[str]) -> int:
        """Number of `inputs`, from the first on, that one of the runs was given."""
        given = (cached.run.answers for cached in self.runs if cached.key == key)
        return max((answers.shared(inputs) for answers in given), default=0)

    def of(self, transcript: Transcript) -> CachedRun | None:
        """The run that made a transcript, if it still waits there."""
        for cached in reversed(self.runs):  # most often the one used last
            if cached.run.transcript is transcript:
                return cached
        return None

    def grow(self, cached: CachedRun, answers: Sequence[str]) -> Transcript:
        """Give answers to a run, and take worthwhile checkpoints; drop it if that fails.

        Then the least recently used runs are dropped that are too many: ending them takes a
        processor, on which the run would have to wait.
        """
        gap = cached.gap if _may_save(cached, self._checkpoints) else 0.0
        try:
            self._use(cached)
            grown = cached.run.grow(
                answers, gap, lambda run: _save_if_worthwhile(cached, self._checkpoints)
            )
            if cached.run.waiting:
                _save_if_worthwhile(cached, self._checkpoints)
        except BaseException:
            self.drop(cached)
            raise
        finally:
            self.running.clear()
        while len(self.runs) > self._most:
            self.drop(self.runs[0])
        return grown

    def _use(self, cached: CachedRun) -> None:
        """Mark a run as the most recently used."""
        if self.runs[-1] is not cached:
            self.runs.remove(cached)
            self.runs.append(cached)
        self.begin(cached.run)

    def begin(self, run: LiveRun) -> None:
        """Note a run that is awaited from now on.

        Raises:
            CancelledError: `give_up` was called.
        """
        self.running.append(run)
        if self._over:  # seen only now, as it may have been called just before
            raise CancelledError("given up", where=run.source.path.name)

    def give_up(self) -> None:
        """Cancel all running calls, and refuse later ones that would run anything."""
        self._over = True
        self.cancel()

    def cancel(self) -> None:
        """Make all running calls raise `CancelledError` soon."""
        for run in list(self.running):
            run.process.cancel()

    def add(self, cached: CachedRun) -> CachedRun:
        """Add a run, which is grown next."""
        self.runs.append(cached)
        return cached

    def drop(self, cached: CachedRun) -> None:
        """Drop a run and end its process."""
        self.running.clear()
        if cached in self.runs:
            self.runs.remove(cached)
            cached.run.close()


def known_transcript(runs: Sequence[CachedRun], inputs: Sequence[str]) -> Transcript | None:
    """The transcript of `inputs`, if one of several agreeing runs passed through it."""
    for cached in runs:
        known = cached.run.transcript
        if len(inputs) <= len(known.steps) or known.status != "in_progress":
            return known.upto(len(inputs))
    return None


def _may_save(cached: CachedRun, checkpoints: Checkpoints) -> bool:
    """Whether a checkpoint of this run may be taken at all."""
    young = cached.generation < MAX_GENERATION
    return checkpoints.enabled and young and not cached.tainted


def _save_if_worthwhile(cached: CachedRun, checkpoints: Checkpoints) -> None:
    """Take a checkpoint if returning to this stop would cost more."""
    run = cached.run
    if run.cost - cached.saved < cached.gap or not _may_save(cached, checkpoints):
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
    """Seconds of work that are worth a checkpoint: the time since `started`.

    Half of it costs nothing, as it passes while the next answer is awaited. But a copy costs as
    much as that later: it and its run get pages of their own for what they write to.
    """
    return max(_LEAST_GAP, time.perf_counter() - started)


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


def fan_out_copies(
    point: Checkpoint | None, answers: Sequence[str], limits: Limits, cache: RunCache
) -> list[Transcript | QuizlogError | None]:
    """The outcome of each answer; None for those that must run alone.

    Args:
        point: The checkpoint; None if there is none.
        answers: One for each copy.
        limits: Bounds on each copy.
        cache: Holds the copies while they are awaited.

    Raises:
        CancelledError: They were cancelled, or the cache was given up.
    """
    if point is None:
        return [None] * len(answers)
    running = cache.running
    try:
        for answer in answers:
            copy = point.process.copy()
            if copy is None:
                break
            cache.begin(
                LiveRun.from_copy(point.source, limits, copy, point.transcript, point.answers)
            )
            running[-1].begin([answer])
            with contextlib.suppress(LimitError, ProtocolError):  # which `_collected` finds
                running[-2:][0].process.settle()  # before there are many that are not known
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
