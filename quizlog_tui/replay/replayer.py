"""`replay(script, seed, inputs)`: the pure function, and the live processes that make it quick.

A `Replayer` keeps, for each script and seed, the run that was used last. A call that extends its
answers is a message to the waiting process; a call for fewer answers is read off its transcript.
Whatever is kept can be thrown away at any time without a difference in what is returned.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType

from .limits import Limits
from .run import Run
from .source import Source, read_source
from .transcript import Transcript

_MAX_RUNS = 8


class Replayer:
    """Runs scripts, keeping the last few processes alive. Safe to share between threads.

    Args:
        limits: What each script may use.
    """

    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self._runs: OrderedDict[tuple[Path, str, int], Run] = OrderedDict()
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
        """
        source = script if isinstance(script, Source) else read_source(Path(script))
        key = (source.path, source.code_hash, seed)
        with self._lock:
            run = self._runs.get(key)
            if run is not None:
                known = _from_known(run.transcript, inputs)
                if known is not None:
                    return known
                if run.waiting and _is_prefix(run.transcript, inputs):
                    return self._grow(key, run, inputs)
                self._drop(key)
            return self._fresh(key, source, seed, inputs)

    def _fresh(
        self, key: tuple[Path, str, int], source: Source, seed: int, inputs: Sequence[str]
    ) -> Transcript:
        while len(self._runs) >= _MAX_RUNS:
            self._drop(next(iter(self._runs)))
        run = self._runs[key] = Run(source, seed, self.limits)
        return self._grow(key, run, inputs, run.start)

    def _grow(
        self,
        key: tuple[Path, str, int],
        run: Run,
        inputs: Sequence[str],
        first: Callable[[], None] | None = None,
    ) -> Transcript:
        self._runs.move_to_end(key)
        try:
            if first:
                first()
            more = inputs[len(run.transcript.steps) :]
            return run.extend(more) if more and run.waiting else run.transcript
        except BaseException:
            self._drop(key)
            raise

    def cancel(self) -> None:
        """Make a call that another thread is in give up soon, with `CancelledError`."""
        for run in list(self._runs.values()):
            run.cancel()

    def _drop(self, key: tuple[Path, str, int]) -> None:
        self._runs.pop(key).close()

    def close(self) -> None:
        """End every process."""
        with self._lock:
            for key in list(self._runs):
                self._drop(key)

    def __enter__(self) -> Replayer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _is_prefix(transcript: Transcript, inputs: Sequence[str]) -> bool:
    steps = transcript.steps
    return len(steps) <= len(inputs) and all(
        step.input == answer for step, answer in zip(steps, inputs, strict=False)
    )


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
    with Replayer(limits) as replayer:
        return replayer.replay(script, seed, inputs)
