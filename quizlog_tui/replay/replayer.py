"""`replay(script, seed, inputs)`: the pure function, and the live processes that make it quick.

A `Replayer` keeps a few live runs and frozen copies of them, checkpoints. A call that extends a
live run is a message to it; a call that lies on the way of a known run is read off its transcript;
any other forks the deepest checkpoint on its way and feeds it the rest. Whatever is kept can be
thrown away at any time without a difference in what is returned.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ..errors import CancelledError, QuizlogError
from .checkpoints import Checkpoint, Checkpoints, Key
from .known import collected, died, from_known, is_prefix, killed
from .limits import Limits
from .lines import Line, may_save, save, take
from .process import QuizProcess
from .run import Run
from .source import Source, read_source
from .transcript import Transcript
from .world import World

if TYPE_CHECKING:
    from .keep import Keeper

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
        self.limits = limits or Limits()
        possible = sys.platform == "linux"
        self.checkpoints = Checkpoints(checkpoints if possible else 0, checkpoint_memory)
        self._runs = runs
        self._lines: list[Line] = []
        self._running: list[Run] = []
        self._lock = threading.RLock()

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
        source = script if isinstance(script, Source) else read_source(Path(script))
        key = _key(source, seed)
        with self._lock:
            lines = [line for line in self._lines if line.key == key]
            for line in lines:
                known = from_known(line.run.transcript, inputs)
                if known is not None:
                    return known
            reached = self._reach(key, source, inputs, lines)
            if killed(reached) or any(line.run.blurred for line in self._lines):
                return self._again(key, source, inputs)
            return reached

    def extend(self, transcript: Transcript, answer: str) -> Transcript | None:
        """One more answer to the live run that made this transcript; None if it is gone.

        The quickest way on: it takes the same time however long the run is.
        """
        with self._lock:
            for line in self._lines:
                fit = line.run.waiting and not line.run.process.spoiled
                if line.run.transcript is transcript and fit:
                    grown = self._grow(line, [answer])
                    if not killed(grown):
                        return grown
                    self._leave(line)
                    return None
        return None

    def _again(self, key: Key, source: Source, inputs: Sequence[str]) -> Transcript:
        """A run that was killed, once more from the start, an answer at a time.

        So it comes out whether that was the script's own doing, and at which answer.
        """
        for line in list(self._lines):
            if killed(line.run.transcript) or line.run.blurred:
                self._leave(line)
        reached = self._fresh(key, source, [])
        line = self._lines[-1]
        for answer in inputs:
            if not line.run.waiting:
                break
            reached = self._grow(line, [answer])
        return reached

    def _reach(
        self, key: Key, source: Source, inputs: Sequence[str], lines: list[Line]
    ) -> Transcript:
        """Run to where `inputs` end, from as near as possible."""
        point = self.checkpoints.deepest(key, inputs)
        depth = len(point.answers) if point else -1
        for line in lines:
            steps = line.run.transcript.steps
            fit = line.run.waiting and not line.run.process.spoiled
            if fit and len(steps) >= depth and is_prefix(line.run, inputs):
                return self._grow(line, inputs[len(steps) :])
        if point is not None:
            reached = self._from_checkpoint(point, inputs)
            if reached is not None:
                return reached
            return self._reach(key, source, inputs, lines)
        return self._fresh(key, source, inputs)

    def _fresh(self, key: Key, source: Source, inputs: Sequence[str]) -> Transcript:
        kept = self._keeper.folder() if self._keeper else ""
        process = QuizProcess.start(source, key[2], self.limits, kept)
        return self._grow(self._enter(Line(key, Run(source, self.limits, process))), inputs)

    def _from_checkpoint(self, point: Checkpoint, inputs: Sequence[str]) -> Transcript | None:
        """Fork a checkpoint and feed it the rest; None if it turned out to be unusable."""
        point.touch()
        process = point.process
        if process.spoiled or process.family.lost() or not process.settle():
            self.checkpoints.drop(point)
            return None
        process = point.process.copy()
        run = Run.of_copy(point.source, self.limits, process, point.transcript, point.answers)
        run.cost = point.cost
        # The first steps of a copy are slowed by the pages it has to take over: not work of theirs.
        saved = point.cost + 2 * point.gap
        line = self._enter(Line(point.key, run, point.generation + 1, saved, point.gap, point))
        rest = inputs[len(point.answers) :]
        usable = rest or process.settle()
        reached = self._grow(line, rest) if usable else None
        if process.refused is None and reached is not None and usable and not died(line.run):
            return reached
        self._leave(line)
        self.checkpoints.drop(point)
        return None

    def _grow(self, line: Line, answers: Sequence[str]) -> Transcript:
        """Give answers to a run, taking checkpoints where they pay."""
        if self._lines[-1] is not line:
            self._lines.remove(line)
            self._lines.append(line)
        self._running.append(line.run)
        try:
            gap = line.gap if may_save(line, self.checkpoints) else 0.0
            transcript = line.run.grow(answers, gap, lambda run: save(line, self.checkpoints))
            if line.run.waiting:
                save(line, self.checkpoints)
            return transcript
        except BaseException:
            self._leave(line)
            raise
        finally:
            self._running.clear()

    def _enter(self, line: Line) -> Line:
        while len(self._lines) >= self._runs:
            self._leave(self._lines[0])
        self._lines.append(line)
        return line

    def _leave(self, line: Line) -> None:
        if line in self._lines:
            self._lines.remove(line)
            line.run.close()

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
        source = script if isinstance(script, Source) else read_source(Path(script))
        key = _key(source, seed)
        with self._lock:
            stop = self.replay(source, seed, inputs)
            point = self._checkpoint_at(key, stop) if stop.status == "in_progress" else None
            found: list[Transcript | QuizlogError | None] = []
            for start in range(0, len(answers), _ABREAST):
                found += self._abreast(point, answers[start : start + _ABREAST])
            return [
                self._one(source, seed, [*inputs, answer]) if result is None else result
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
        for line in self._lines:
            if line.key == key and line.run.waiting and list(line.run.transcript.inputs) == answers:
                return take(line, self.checkpoints)
        return None

    def _abreast(self, point: Checkpoint | None, answers: Sequence[str]) -> list[Any]:
        """Copies of a checkpoint, each with an answer; None for those that must run alone."""
        if point is None:
            return [None] * len(answers)
        try:
            for answer in answers:
                copy = point.process.copy()
                run = Run.of_copy(point.source, self.limits, copy, point.transcript, point.answers)
                self._running.append(run)
                run.begin([answer])
            point.touch()
            found = [collected(run) for run in self._running]
        finally:
            for run in self._running:
                run.close()
            self._running.clear()
        return [None] * len(answers) if point.process.spoiled else found

    def _one(
        self, source: Source, seed: int | World, inputs: Sequence[str]
    ) -> Transcript | QuizlogError:
        try:
            return self.replay(source, seed, inputs)
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
            for line in self._lines:
                if line.run.transcript is transcript and line.run.waiting:
                    process = line.run.copy()
                    process.settle()
                    process.release()
                    return process.refused
        return transcript.tainted

    @property
    def processes(self) -> int:
        """How many live runs and checkpoints are held."""
        return len(self._lines) + len(self.checkpoints)

    def cancel(self) -> None:
        """Make a call that another thread is in give up soon, with `CancelledError`."""
        for run in list(self._running):
            run.process.cancel()

    def close(self) -> None:
        """End every process; a call that another thread is in gives up soon."""
        while not self._lock.acquire(timeout=0.05):
            self.cancel()
        try:
            self.checkpoints.clear()
            for line in list(self._lines):
                self._leave(line)
        finally:
            self._lock.release()

    def __enter__(self) -> Replayer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _key(source: Source, seed: int | World) -> Key:
    world = seed if isinstance(seed, World) else World(seed)
    return source.path, source.code_hash, world


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
