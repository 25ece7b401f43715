"""`replay(script, seed, inputs)`: the pure function, and the live processes that make it quick.

A `Replayer` keeps a few live runs and frozen copies of them, checkpoints. A call that extends a
live run is a message to it; a call that lies on the way of a known run is read off its transcript;
any other forks the deepest checkpoint on its way and feeds it the rest. Whatever is kept can be
thrown away at any time without a difference in what is returned.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import CancelledError, QuizlogError
from .cache.cached_run import CachedRun, ready, take
from .cache.checkpoints import Checkpoint, Checkpoints, Key, key_of, possible
from .cache.fan import fanned_out
from .cache.known import died, killed
from .cache.live_runs import LiveRuns, known
from .process.limits import Limits
from .process.process import QuizProcess
from .run import Run
from .script.source import Source
from .script.source_cache import SourceCache
from .transcript import Transcript
from .tree import tree_of
from .tree_walk import Outcome, TreeWalk
from .world import World

if TYPE_CHECKING:
    from .kept_files import Keeper

MAX_RUNS = 8
"""Live processes kept, besides checkpoints."""
CHECKPOINTS = 64
"""Checkpoints kept, of all scripts together."""
CHECKPOINT_MEMORY = 512 * 1024 * 1024
"""Bytes that checkpoints may hold beyond what they share."""
_ABREAST = 16
"""Copies that run side by side in a fan-out."""


class Replayer:
    """Runs scripts, keeping processes and checkpoints. Safe to share between threads.

    Args:
        limits: What each script may use.
        runs: How many live processes to keep, besides checkpoints.
        checkpoints: How many frozen copies to keep; 0 turns them off.
        checkpoint_memory: Bytes they may hold beyond what they share with their runs.
        keeper: Gives each fresh run a folder that takes the files it writes; None to forget them.
    """

    def __init__(
        self,
        limits: Limits | None = None,
        *,
        runs: int = MAX_RUNS,
        checkpoints: int = CHECKPOINTS,
        checkpoint_memory: int = CHECKPOINT_MEMORY,
        keeper: Keeper | None = None,
    ) -> None:
        self._keeper = keeper
        self._sources = SourceCache()
        self.limits = limits or Limits()
        self.checkpoints = Checkpoints(checkpoints if possible() else 0, checkpoint_memory)
        self._live = LiveRuns(runs, self.checkpoints)
        self._lock = threading.Lock()

    def replay(
        self, script: str | Path | Source, seed: int | World, inputs: Sequence[str]
    ) -> Transcript:
        """What the script does with these answers.

        Args:
            script: Path of the script, or a version of it already read.
            seed: Seed of all its randomness, or a whole world with one.
            inputs: The answers, in order. The run may end before it has used all of them.

        Raises:
            ScriptError: The script cannot be read.
            LimitError: It went over a limit.
            CancelledError: `cancel` was called meanwhile.
        """
        source = script if isinstance(script, Source) else self._sources.source(script)
        key = key_of(source, seed)
        with self._lock:
            return self._replayed(key, source, inputs)

    def _replayed(self, key: Key, source: Source, inputs: Sequence[str]) -> Transcript:
        lines = self._live.agreeing(key, inputs)
        found = known(lines, inputs)
        if found is not None:
            return found
        reached = self._reach(key, source, inputs, lines)
        if killed(reached) or any(line.run.blurred for line in self._live.lines):
            return self._again(key, source, inputs)
        return reached

    def extend(self, transcript: Transcript, answer: str) -> Transcript | None:
        """One more answer to the live run that made this transcript; None if it is gone.

        The quickest way on: it takes the same time however long the run is.
        """
        with self._lock:
            line = self._live.of(transcript)
            if line is None or not ready(line):
                return None
            grown = self._live.grow(line, [answer])
            if not killed(grown):
                return grown
            self._live.leave(line)
        return None

    def _again(self, key: Key, source: Source, inputs: Sequence[str]) -> Transcript:
        """A run that was killed, once more from the start, an answer at a time.

        So it comes out whether that was the script's own doing, and at which answer.
        """
        for line in list(self._live.lines):
            if killed(line.run.transcript) or line.run.blurred:
                self._live.leave(line)
        reached = self._fresh(key, source, [])
        line = self._live.lines[-1]
        for answer in inputs:
            if not line.run.waiting:
                break
            reached = self._live.grow(line, [answer])
        return reached

    def _reach(
        self, key: Key, source: Source, inputs: Sequence[str], lines: list[CachedRun]
    ) -> Transcript:
        """Run to where `inputs` end, from as near as possible."""
        behind = [line for line in lines if len(line.run.answers) <= len(inputs) and ready(line)]
        line = max(behind, key=lambda line: len(line.run.answers), default=None)
        used = len(line.run.answers) if line else -1
        point = self.checkpoints.deepest(key, inputs, beyond=used)
        if point is not None:
            reached = self._from_checkpoint(point, inputs)
            return self._reach(key, source, inputs, lines) if reached is None else reached
        if line is not None:
            return self._live.grow(line, inputs[used:])
        return self._fresh(key, source, inputs)

    def _fresh(self, key: Key, source: Source, inputs: Sequence[str]) -> Transcript:
        kept = self._keeper.folder() if self._keeper else ""
        process = QuizProcess.start(source, key[2], self.limits, kept)
        return self._live.grow(
            self._live.enter(CachedRun(key, Run(source, self.limits, process))), inputs
        )

    def _from_checkpoint(self, point: Checkpoint, inputs: Sequence[str]) -> Transcript | None:
        """Fork a checkpoint and feed it the rest; None if it turned out to be unusable."""
        point.touch()
        original = point.process
        usable = not original.spoiled and not original.family.lost() and original.settle()
        process = original.copy() if usable else None
        if process is None:
            self.checkpoints.drop(point)
            return None
        run = Run.of_copy(point.source, self.limits, process, point.transcript, point.answers)
        run.cost = point.cost
        # The first steps of a copy are slowed by the pages it has to take over: not work of theirs.
        saved = point.cost + 2 * point.gap
        line = self._live.enter(
            CachedRun(point.key, run, point.generation + 1, saved, point.gap, point)
        )
        rest = inputs[len(point.answers) :]
        made = rest or process.settle()
        reached = self._live.grow(line, rest) if made else None
        if process.refused is None and reached is not None and made and not died(line.run):
            return reached
        self._live.leave(line)
        self.checkpoints.drop(point)
        return None

    def passed(self, source: Source, seed: int | World, inputs: Sequence[str]) -> int:
        """How many of these answers, from the first on, a live run was given already."""
        with self._lock:
            return self._live.passed(key_of(source, seed), inputs)

    def walk(
        self, source: Source, seed: int | World, lines: Iterable[Sequence[str]]
    ) -> Iterator[tuple[int, Outcome]]:
        """What each of many lines of answers leads to, with its index, in one walk of their tree.

        Raises:
            CancelledError: `cancel` was called meanwhile.
        """
        _, _, world = key_of(source, seed)
        return self._live.walk(TreeWalk(source, world, tree_of(lines), self.limits))

    def fan_out(
        self,
        script: str | Path | Source,
        seed: int | World,
        inputs: Sequence[str],
        answers: Sequence[str],
    ) -> list[Transcript | QuizlogError]:
        """What each of several answers leads to at the stop after `inputs`.

        Copies of one process run side by side; where none can be made, one after the other.

        Returns:
            In the order of `answers`: a transcript, or the error that stopped that one.

        Raises:
            CancelledError: `cancel` was called meanwhile.
        """
        source = script if isinstance(script, Source) else self._sources.source(script)
        key = key_of(source, seed)
        with self._lock:
            stop = self._replayed(key, source, inputs)
            point = self._checkpoint_at(key, stop) if stop.status == "in_progress" else None
            found: list[Transcript | QuizlogError | None] = []
            for start in range(0, len(answers), _ABREAST):
                some = answers[start : start + _ABREAST]
                found += fanned_out(point, some, self.limits, self._live.running)
            return [
                self._one(key, source, [*inputs, answer]) if result is None else result
                for result, answer in zip(found, answers, strict=True)
            ]

    def _checkpoint_at(self, key: Key, stop: Transcript) -> Checkpoint | None:
        """A checkpoint at just this stop, taken now if there is none."""
        answers = list(stop.inputs)
        point = self.checkpoints.deepest(key, answers)
        if point is not None and len(point.answers) == len(answers) and point.process.settle():
            return point
        if not self.checkpoints.enabled:
            return None
        for line in self._live.lines:
            if line.key == key and line.run.waiting and list(line.run.transcript.inputs) == answers:
                return take(line, self.checkpoints)
        return None

    def _one(self, key: Key, source: Source, inputs: Sequence[str]) -> Transcript | QuizlogError:
        try:
            return self._replayed(key, source, inputs)
        except CancelledError:
            raise
        except QuizlogError as error:
            return error

    def explain(self, transcript: Transcript) -> str | None:
        """Why no checkpoint can be taken where this transcript ends; None if one can.

        Asks the live process itself, so that also what is known only at the moment is found.
        """
        if transcript.status != "in_progress":
            return "the script has ended"
        if not self.checkpoints.enabled:
            return "checkpoints are turned off, or this system has none"
        with self._lock:
            line = self._live.of(transcript)
            if line is not None and line.run.waiting:
                process = line.run.copy()
                if process is None:
                    return "too many files are open"
                process.settle()
                process.release()
                return process.refused
        return transcript.tainted

    @property
    def processes(self) -> int:
        """How many live runs and checkpoints are held."""
        return len(self._live.lines) + len(self.checkpoints)

    def cancel(self) -> None:
        """Make a call that another thread is in give up soon, with `CancelledError`."""
        self._live.cancel()

    def close(self) -> None:
        """End every process; a call that another thread is in gives up soon."""
        while not self._lock.acquire(timeout=0.05):
            self.cancel()
        try:
            self.checkpoints.clear()
            for line in list(self._live.lines):
                self._live.leave(line)
        finally:
            self._lock.release()

    def __enter__(self) -> Replayer:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def replay(
    script: str | Path | Source,
    seed: int | World,
    inputs: Sequence[str],
    limits: Limits | None = None,
) -> Transcript:
    """What the script does with these answers: a process of its own, nothing kept.

    Raises:
        ScriptError: The script cannot be read.
        LimitError: It went over a limit.
    """
    with Replayer(limits, checkpoints=0) as replayer:
        return replayer.replay(script, seed, inputs)
