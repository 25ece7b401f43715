"""The live runs of a replayer: found by their answers, extended, dropped if there are too many."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..live_run import LiveRun
from ..transcript import Transcript
from ..tree_walk import Outcome, TreeWalk
from .cached_run import CachedRun, may_save, save_if_worthwhile
from .checkpoints import Checkpoints, Key
from .known_runs import transcript_up_to


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
        self._walks: list[TreeWalk] = []
        self._most = most
        self._checkpoints = checkpoints

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
        """Give answers to a run, and take worthwhile checkpoints; drop it if that fails."""
        self._use(cached)
        gap = cached.gap if may_save(cached, self._checkpoints) else 0.0
        try:
            grown = cached.run.grow(
                answers, gap, lambda run: save_if_worthwhile(cached, self._checkpoints)
            )
            if cached.run.waiting:
                save_if_worthwhile(cached, self._checkpoints)
        except BaseException:
            self.drop(cached)
            raise
        finally:
            self.running.clear()
        return grown

    def _use(self, cached: CachedRun) -> None:
        """Mark a run as the most recently used."""
        if self.runs[-1] is not cached:
            self.runs.remove(cached)
            self.runs.append(cached)
        self.running.append(cached.run)

    def walk(self, walk: TreeWalk) -> Iterator[tuple[int, Outcome]]:
        """Iterate over a walk, whose runs are not cached, until it ends or is abandoned."""
        self._walks.append(walk)
        try:
            yield from walk
        finally:
            self._walks.remove(walk)
            walk.close()

    def cancel(self) -> None:
        """Make all running calls raise `CancelledError` soon."""
        for run in list(self.running):
            run.process.cancel()
        for walk in list(self._walks):
            walk.cancel()

    def add(self, cached: CachedRun) -> CachedRun:
        """Add a run, and drop the least recently used one if there are too many."""
        while len(self.runs) >= self._most:
            self.drop(self.runs[0])
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
    found = (transcript_up_to(cached.run.transcript, inputs) for cached in runs)
    return next((transcript for transcript in found if transcript is not None), None)
