"""`replay(script, seed, inputs)`: the pure function, and the live processes that make it quick.

A `Replayer` keeps a few live runs and frozen copies of them, checkpoints. A call that extends a live
run is a message to it; a call that lies on the way of a known run is read off its transcript; any
other forks the deepest checkpoint on its way and feeds it the rest. Whatever is kept can be thrown
away at any time without a difference in what is returned.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from .checkpoints import MAX_GENERATION, Checkpoint, Checkpoints, Key
from .limits import Limits
from .process import QuizProcess
from .run import Run
from .source import Source, read_source
from .transcript import Transcript

MAX_RUNS = 8
"""Live processes kept, besides checkpoints."""
CHECKPOINTS = 32
"""Checkpoints kept, of all scripts together."""
CHECKPOINT_MEMORY = 512 * 1024 * 1024
"""Bytes that checkpoints may hold beyond what they share."""
_LEAST_GAP = 1e-3


class _Line:
    """A live run, with what the cache knows of it."""

    def __init__(self, key: Key, run: Run, generation: int = 0, saved: float = -1.0) -> None:
        self.key = key
        self.run = run
        self.generation = generation
        self.saved = saved
        """Cost at its last checkpoint, or at the one it came from."""
        self.gap = _LEAST_GAP
        """Seconds of work worth a checkpoint: what a copy costs."""
        self.lasting_taint = False


class Replayer:
    """Runs scripts, keeping processes and checkpoints. Safe to share between threads.

    Args:
        limits: What each script may use.
        checkpoints: How many frozen copies to keep; 0 turns them off.
        checkpoint_memory: Bytes they may hold beyond what they share with their runs.
    """

    def __init__(
        self,
        limits: Limits | None = None,
        *,
        checkpoints: int = CHECKPOINTS,
        checkpoint_memory: int = CHECKPOINT_MEMORY,
    ) -> None:
        self.limits = limits or Limits()
        possible = sys.platform == "linux"
        self.checkpoints = Checkpoints(checkpoints if possible else 0, checkpoint_memory)
        self._lines: list[_Line] = []
        self._lock = threading.RLock()

    def replay(self, script: str | Path | Source, seed: int, inputs: Sequence[str]) -> Transcript:
        """What the script does with these answers.

        Args:
            script: Path of the script, or a version of it already read.
            seed: Seed of all its randomness.
            inputs: The answers, in order. The run may end before it has used all of them.

        Raises:
            ScriptError: The script cannot be read.
            LimitError: It went over a limit.
            CancelledError: `cancel` was called meanwhile.
        """
        source = script if isinstance(script, Source) else read_source(Path(script))
        key = (source.path, source.code_hash, seed)
        with self._lock:
            lines = [line for line in self._lines if line.key == key]
            for line in lines:
                known = _from_known(line.run.transcript, inputs)
                if known is not None:
                    return known
            return self._reach(key, source, inputs, lines)

    def extend(self, transcript: Transcript, answer: str) -> Transcript | None:
        """One more answer to the live run that made this transcript; None if it is gone.

        The quickest way on: it takes the same time however long the run is.
        """
        with self._lock:
            for line in self._lines:
                if line.run.transcript is transcript and line.run.waiting:
                    return self._grow(line, [answer])
        return None

    def _reach(
        self, key: Key, source: Source, inputs: Sequence[str], lines: list[_Line]
    ) -> Transcript:
        """Run to where `inputs` end, from as near as possible."""
        point = self.checkpoints.deepest(key, inputs)
        depth = len(point.answers) if point else -1
        for line in lines:
            steps = line.run.transcript.steps
            if line.run.waiting and len(steps) > depth - 1 and _is_prefix(line.run, inputs):
                return self._grow(line, inputs[len(steps) :])
        if point is not None:
            reached = self._from_checkpoint(point, inputs)
            if reached is not None:
                return reached
            return self._reach(key, source, inputs, lines)
        process = QuizProcess.start(source, key[2], self.limits)
        return self._grow(self._enter(_Line(key, Run(source, self.limits, process))), inputs)

    def _from_checkpoint(self, point: Checkpoint, inputs: Sequence[str]) -> Transcript | None:
        """Fork a checkpoint and feed it the rest; None if it turned out to be unusable."""
        point.touch()
        process = point.process.copy()
        run = Run(point.source, self.limits, process, point.transcript, point.cost)
        line = self._enter(_Line(point.key, run, point.generation + 1, point.cost))
        rest = inputs[len(point.answers) :]
        usable = rest or process.settle()
        reached = self._grow(line, rest) if usable else None
        if process.refused is None and reached is not None and usable and not _died(line.run):
            return reached
        self._leave(line)
        self.checkpoints.drop(point)
        return None

    def _grow(self, line: _Line, answers: Sequence[str]) -> Transcript:
        """Give answers to a run, taking checkpoints where they pay."""
        if self._lines[-1] is not line:
            self._lines.remove(line)
            self._lines.append(line)
        try:
            gap = line.gap if self._may_save(line) else 0.0
            transcript = line.run.grow(answers, gap, lambda run: self._save(line))
            if line.run.waiting:
                self._save(line)
            return transcript
        except BaseException:
            self._leave(line)
            raise

    def _may_save(self, line: _Line) -> bool:
        young = line.generation < MAX_GENERATION
        return self.checkpoints.enabled and young and not line.lasting_taint

    def _save(self, line: _Line) -> None:
        """Take a checkpoint here if coming here again would cost more than one."""
        run = line.run
        if run.cost - line.saved < line.gap or not self._may_save(line):
            return
        first = line.saved < 0
        line.saved = run.cost
        started = time.perf_counter()
        process = run.copy()
        if first:
            made = process.settle()
            line.gap = max(_LEAST_GAP, time.perf_counter() - started)
            if not made:
                line.lasting_taint = run.process.taint is not None
                process.release()
                return
        answers = [step.input or "" for step in run.transcript.steps]
        self.checkpoints.add(
            Checkpoint(
                line.key,
                run.source,
                answers,
                run.transcript,
                process,
                run.cost,
                line.generation + 1,
            )
        )

    def _enter(self, line: _Line) -> _Line:
        while len(self._lines) >= MAX_RUNS:
            self._leave(self._lines[0])
        self._lines.append(line)
        return line

    def _leave(self, line: _Line) -> None:
        if line in self._lines:
            self._lines.remove(line)
            line.run.close()

    def cancel(self) -> None:
        """Make a call that another thread is in give up soon, with `CancelledError`."""
        for line in list(self._lines):
            line.run.process.cancel()

    def close(self) -> None:
        """End every process."""
        with self._lock:
            self.checkpoints.clear()
            for line in list(self._lines):
                self._leave(line)

    def __enter__(self) -> Replayer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _is_prefix(run: Run, inputs: Sequence[str]) -> bool:
    steps = run.transcript.steps
    return len(steps) <= len(inputs) and all(
        step.input == answer for step, answer in zip(steps, inputs, strict=False)
    )


def _died(run: Run) -> bool:
    """Whether the process was killed from outside before it could tell anything."""
    return not run.waiting and run.process.pid is None


def _from_known(transcript: Transcript, inputs: Sequence[str]) -> Transcript | None:
    """The wanted transcript, if a known run passed through it."""
    steps = transcript.steps
    if len(inputs) > len(steps) and transcript.status == "in_progress":
        return None
    pairs = zip(steps, inputs, strict=False)
    return transcript.upto(len(inputs)) if all(s.input == i for s, i in pairs) else None


def replay(
    script: str | Path | Source,
    seed: int,
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
