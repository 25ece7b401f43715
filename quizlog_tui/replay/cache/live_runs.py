"""The live runs that a replayer holds: found by their answers, grown, given up when too many."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..run import Run
from ..transcript import Transcript
from ..tree_walk import Outcome, TreeWalk
from .cached_run import CachedRun, may_save, save
from .checkpoints import Checkpoints, Key
from .known import from_known


class LiveRuns:
    """Live runs, those that were not used for longest first. Not safe for threads.

    Args:
        most: How many are held.
        checkpoints: Takes the copies that pay.
    """

    def __init__(self, most: int, checkpoints: Checkpoints) -> None:
        self.lines: list[CachedRun] = []
        self.running: list[Run] = []
        """Those that somebody waits for now."""
        self._walks: list[TreeWalk] = []
        self._most = most
        self._checkpoints = checkpoints

    def agreeing(self, key: Key, inputs: Sequence[str]) -> list[CachedRun]:
        """The runs on whose way `inputs` lie, and those that lie on theirs."""
        return [line for line in self.lines if line.run.answers.agrees(inputs) and line.key == key]

    def passed(self, key: Key, inputs: Sequence[str]) -> int:
        """How many of `inputs`, from the first on, one of the runs was given."""
        given = (line.run.answers for line in self.lines if line.key == key)
        return max((answers.shared(inputs) for answers in given), default=0)

    def of(self, transcript: Transcript) -> CachedRun | None:
        """The run that made a transcript, if it stands there still."""
        for line in reversed(self.lines):  # most often the one used last
            if line.run.transcript is transcript:
                return line
        return None

    def grow(self, line: CachedRun, answers: Sequence[str]) -> Transcript:
        """Give answers to a run, taking checkpoints where they pay; it leaves if that fails."""
        self._use(line)
        gap = line.gap if may_save(line, self._checkpoints) else 0.0
        try:
            grown = line.run.grow(answers, gap, lambda run: save(line, self._checkpoints))
            if line.run.waiting:
                save(line, self._checkpoints)
        except BaseException:
            self.leave(line)
            raise
        finally:
            self.running.clear()
        return grown

    def _use(self, line: CachedRun) -> None:
        """Note that a run is used now."""
        if self.lines[-1] is not line:
            self.lines.remove(line)
            self.lines.append(line)
        self.running.append(line.run)

    def walk(self, walk: TreeWalk) -> Iterator[tuple[int, Outcome]]:
        """Go through a walk, which plays no part in what is held, until it ends or is left."""
        self._walks.append(walk)
        try:
            yield from walk
        finally:
            self._walks.remove(walk)
            walk.close()

    def cancel(self) -> None:
        """Make those that wait for a run give up soon."""
        for run in list(self.running):
            run.process.cancel()
        for walk in list(self._walks):
            walk.cancel()

    def enter(self, line: CachedRun) -> CachedRun:
        """Hold one more."""
        while len(self.lines) >= self._most:
            self.leave(self.lines[0])
        self.lines.append(line)
        return line

    def leave(self, line: CachedRun) -> None:
        """Give a run up and end its process."""
        self.running.clear()
        if line in self.lines:
            self.lines.remove(line)
            line.run.close()


def known(lines: Sequence[CachedRun], inputs: Sequence[str]) -> Transcript | None:
    """The wanted transcript, if one of several agreeing runs passed through it."""
    found = (from_known(line.run.transcript, inputs) for line in lines)
    return next((transcript for transcript in found if transcript is not None), None)
