"""Implements `replay(script, seed, inputs)`, a pure function, with a cache of live processes.

A `Replayer` keeps a few live runs, and frozen copies of them: checkpoints. A call that extends a
live run sends it a message. A call whose inputs begin those of a known run is read off its
transcript. Any other call forks the deepest checkpoint on its way and feeds it the remaining
answers. The cache can be discarded at any time without changing a result.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import CancelledError, QuizlogError
from .checkpoints import Checkpoint, Checkpoints, Key, can_copy, key_of
from .live_run import LiveRun, was_killed, was_lost
from .process.process import Limits, QuizProcess, user_limits
from .run_cache import (
    CachedRun,
    RunCache,
    fan_out_copies,
    is_ready,
    known_transcript,
    take_checkpoint,
)
from .script.granted import SourceCache
from .script.source import Source
from .transcript import Transcript
from .tree_walk import Outcome, tree_of
from .walkers import Walks
from .world import World

if TYPE_CHECKING:
    from ..config import Config
    from .kept_files import Keeper

_MAX_RUNS = 8
"""Maximum number of live processes, besides checkpoints."""
CHECKPOINTS = 64
"""Maximum number of checkpoints, of all scripts together."""
CHECKPOINT_MEMORY = 512 * 1024 * 1024
"""Maximum bytes of memory that checkpoints hold and do not share with their runs."""
_ABREAST = 16
"""Maximum number of copies that run in parallel in a fan-out."""


class Replayer:
    """Replays scripts with a cache of processes and checkpoints. Thread-safe; must be closed.

    Args:
        limits: Bounds on each script.
        runs: Maximum number of live processes, besides checkpoints.
        checkpoints: Maximum number of checkpoints; 0 turns them off.
        checkpoint_memory: Maximum bytes of memory that they do not share with their runs.
        keeper: Provides each fresh run with a folder for its files; None to discard them.
    """

    def __init__(
        self,
        limits: Limits | None = None,
        *,
        runs: int = _MAX_RUNS,
        checkpoints: int = CHECKPOINTS,
        checkpoint_memory: int = CHECKPOINT_MEMORY,
        keeper: Keeper | None = None,
    ) -> None:
        self._keeper = keeper
        self._sources = SourceCache()
        self.limits = limits or Limits()
        self.checkpoints = Checkpoints(checkpoints if can_copy() else 0, checkpoint_memory)
        self._cache = RunCache(runs, self.checkpoints)
        self._walks = Walks(self.limits)
        self._lock = threading.Lock()

    def replay(
        self, script: str | Path | Source, seed: int | World, inputs: Sequence[str]
    ) -> Transcript:
        """What the script does with these answers.

        Args:
            script: Path of the script, or a version of it already read.
            seed: Seed of all randomness, or a whole world.
            inputs: The answers, in order. The run may end before it has used all of them.

        Raises:
            ScriptError: The script cannot be read.
            LimitError: The script exceeded a limit.
            CancelledError: `cancel` was called meanwhile.
        """
        source = script if isinstance(script, Source) else self._sources.source(script)
        key = key_of(source, seed)
        with self._lock:
            return self._replayed(key, source, inputs)

    def _replayed(self, key: Key, source: Source, inputs: Sequence[str]) -> Transcript:
        runs = self._cache.on_the_way(key, inputs)
        found = known_transcript(runs, inputs)
        if found is not None:
            return found
        reached = self._reach(key, source, inputs, runs)
        if was_killed(reached) or any(cached.run.blurred for cached in self._cache.runs):
            return self._again(key, source, inputs)
        return reached

    def extend(self, transcript: Transcript, answer: str) -> Transcript | None:
        """Give one more answer to the live run that made this transcript; None if it is gone.

        This is the fastest way to continue: its cost does not depend on the length of the run.
        """
        with self._lock:
            cached = self._cache.of(transcript)
            if cached is None or not is_ready(cached):
                return None
            grown = self._cache.grow(cached, [answer])
            if not was_killed(grown):
                return grown
            self._cache.drop(cached)
        return None

    def _again(self, key: Key, source: Source, inputs: Sequence[str]) -> Transcript:
        """Repeat a killed run from the start, one answer at a time.

        This shows whether the script killed itself, and at which answer.
        """
        for cached in list(self._cache.runs):
            if was_killed(cached.run.transcript) or cached.run.blurred:
                self._cache.drop(cached)
        reached = self._fresh(key, source, [])
        cached = self._cache.runs[-1]
        for answer in inputs:
            if not cached.run.waiting:
                break
            reached = self._cache.grow(cached, [answer])
        return reached

    def _reach(
        self, key: Key, source: Source, inputs: Sequence[str], runs: list[CachedRun]
    ) -> Transcript:
        """Run to the end of `inputs` from the nearest live run or checkpoint."""
        behind = [
            cached for cached in runs if len(cached.run.answers) <= len(inputs) and is_ready(cached)
        ]
        cached = max(behind, key=lambda cached: len(cached.run.answers), default=None)
        used = len(cached.run.answers) if cached else -1
        point = self.checkpoints.deepest(key, inputs, beyond=used)
        if point is not None:
            reached = self._from_checkpoint(point, inputs)
            return self._reach(key, source, inputs, runs) if reached is None else reached
        if cached is not None:
            return self._cache.grow(cached, inputs[used:])
        return self._fresh(key, source, inputs)

    def _fresh(self, key: Key, source: Source, inputs: Sequence[str]) -> Transcript:
        files_folder = self._keeper.folder() if self._keeper else ""
        process = QuizProcess.start(source, key[2], self.limits, files_folder)
        return self._cache.grow(
            self._cache.add(CachedRun(key, LiveRun(source, self.limits, process))), inputs
        )

    def _from_checkpoint(self, point: Checkpoint, inputs: Sequence[str]) -> Transcript | None:
        """Fork a checkpoint and feed it the remaining answers; None if it cannot be used."""
        point.touch()
        original = point.process
        usable = not original.spoiled and not original.family.lost() and original.settle()
        process = original.copy() if usable else None
        if process is None:
            self.checkpoints.drop(point)
            return None
        run = LiveRun.from_copy(point.source, self.limits, process, point.transcript, point.answers)
        run.cost = point.cost
        # The first steps of a copy are slower, as it copies memory pages: that is not their cost.
        saved = point.cost + 2 * point.gap
        cached = self._cache.add(
            CachedRun(point.key, run, point.generation + 1, saved, point.gap, point)
        )
        rest = inputs[len(point.answers) :]
        made = rest or process.settle()
        reached = self._cache.grow(cached, rest) if made else None
        if process.refused is None and reached is not None and made and not was_lost(cached.run):
            return reached
        self._cache.drop(cached)
        self.checkpoints.drop(point)
        return None

    def throw_away(
        self, source: Source, seed: int | World, inputs: Sequence[str]
    ) -> QuizProcess | None:
        """A process of its own that waits at the stop after `inputs`, to be released by the caller.

        A copy where one can be made, else a fresh run. What is done to it changes no other run.

        Returns:
            None if the script ends before it has used all inputs.

        Raises:
            LimitError: The script exceeded a limit.
            CancelledError: `cancel` was called meanwhile.
        """
        key = key_of(source, seed)
        with self._lock:
            if not self._stops_after(self._replayed(key, source, inputs), inputs):
                return None
            reached = self._reach(key, source, inputs, self._cache.on_the_way(key, inputs))
            cached = self._cache.of(reached)
            copied = cached.run.copy() if cached is not None and is_ready(cached) else None
            if copied is not None and copied.settle():
                return copied
            if copied is not None:
                copied.release()
        run = LiveRun(source, self.limits, QuizProcess.start(source, key[2], self.limits))
        run.grow(inputs)
        return run.process

    @staticmethod
    def _stops_after(transcript: Transcript, inputs: Sequence[str]) -> bool:
        return transcript.status == "in_progress" and len(transcript.steps) == len(inputs)

    def passed(self, source: Source, seed: int | World, inputs: Sequence[str]) -> int:
        """Number of these answers, from the first on, that a live run has been given already."""
        with self._lock:
            return self._cache.passed(key_of(source, seed), inputs)

    def walk(
        self, source: Source, seed: int | World, lines: Iterable[Sequence[str]]
    ) -> Iterator[tuple[int, Outcome]]:
        """The outcome of each of many lists of answers with its index, in any order.

        They are run in walks of their tree; see `walkers`.

        Raises:
            CancelledError: `cancel` was called meanwhile.
        """
        _, _, world = key_of(source, seed)
        walked = self._walks.through(source, [world], tree_of(lines))
        return ((index, outcome) for index, [outcome] in walked)

    def fan_out(
        self,
        script: str | Path | Source,
        seed: int | World,
        inputs: Sequence[str],
        answers: Sequence[str],
    ) -> list[Transcript | QuizlogError]:
        """The outcome of each of several answers at the stop after `inputs`.

        Copies of one process run in parallel; if it cannot be copied, one run follows another.

        Returns:
            For each answer, in order: a transcript, or the error that stopped its run.

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
                found += fan_out_copies(point, some, self.limits, self._cache)
            return [
                self._one(key, source, [*inputs, answer]) if result is None else result
                for result, answer in zip(found, answers, strict=True)
            ]

    def _checkpoint_at(self, key: Key, stop: Transcript) -> Checkpoint | None:
        """The checkpoint at exactly this stop, taken now if there is none."""
        answers = list(stop.inputs)
        point = self.checkpoints.deepest(key, answers)
        if point is not None and len(point.answers) == len(answers) and point.process.settle():
            return point
        if not self.checkpoints.enabled:
            return None
        for cached in self._cache.runs:
            if (
                cached.key == key
                and cached.run.waiting
                and list(cached.run.transcript.inputs) == answers
            ):
                return take_checkpoint(cached, self.checkpoints)
        return None

    def _one(self, key: Key, source: Source, inputs: Sequence[str]) -> Transcript | QuizlogError:
        try:
            return self._replayed(key, source, inputs)
        except CancelledError:
            raise
        except QuizlogError as error:
            return error

    def explain(self, transcript: Transcript) -> str | None:
        """Why no checkpoint can be taken at the end of this transcript; None if one can.

        The live process itself is asked, as some reasons hold only for the moment.
        """
        if transcript.status != "in_progress":
            return "the script has ended"
        if not self.checkpoints.enabled:
            return "checkpoints are turned off, or this system has none"
        with self._lock:
            cached = self._cache.of(transcript)
            if cached is not None and cached.run.waiting:
                process = cached.run.copy()
                if process is None:
                    return "too many files are open"
                process.settle()
                process.release()
                return process.refused
        return transcript.tainted

    @property
    def processes(self) -> int:
        """Number of live runs and checkpoints."""
        return len(self._cache.runs) + len(self.checkpoints)

    def cancel(self) -> None:
        """Make a running call of another thread raise `CancelledError` soon."""
        self._cache.cancel()
        self._walks.cancel()

    def give_up(self) -> None:
        """The same, also of every later call that would run anything."""
        self._cache.give_up()
        self._walks.give_up()

    def close(self) -> None:
        """End every process; a running call of another thread raises `CancelledError` soon."""
        while not self._lock.acquire(timeout=0.05):
            self.cancel()
        try:
            self.checkpoints.clear()
            for cached in list(self._cache.runs):
                self._cache.drop(cached)
        finally:
            self._lock.release()

    def __enter__(self) -> Replayer:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def user_replayer(config: Config) -> Replayer:
    """A replayer within the bounds of the user's settings."""
    memory = config.cache_memory_mb * 1024 * 1024
    return Replayer(
        user_limits(config), checkpoints=config.cache_checkpoints, checkpoint_memory=memory
    )


def replay(
    script: str | Path | Source,
    seed: int | World,
    inputs: Sequence[str],
    limits: Limits | None = None,
) -> Transcript:
    """What the script does with these answers, in a process of its own and without a cache.

    Raises:
        ScriptError: The script cannot be read.
        LimitError: The script exceeded a limit.
    """
    with Replayer(limits, checkpoints=0) as replayer:
        return replayer.replay(script, seed, inputs)
