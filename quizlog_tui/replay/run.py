"""One run of a script that is grown answer by answer: the process and the transcript it makes.

Turns the messages of a `QuizProcess` into steps. Decides nothing about reuse; see `replayer`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..errors import LimitError
from ..record.model import LastError, Status
from ..series import Series
from .input_type import input_type
from .limits import Limits
from .process import QuizProcess
from .source import Source
from .transcript import Step, Transcript


class Run:
    """A live process and what it has shown so far.

    Args:
        source: The script.
        seed: Seed of its randomness.
        limits: What it may use.
    """

    def __init__(self, source: Source, seed: int, limits: Limits) -> None:
        self.source = source
        self._limits = limits
        self._process = QuizProcess(source, seed, limits)
        self._ends = (0, 0)
        self._steps: Series[Step] = Series()
        self._given: list[str] = []
        self.transcript = _UNSTARTED

    def start(self) -> None:
        """Run to the first stop.

        Raises:
            LimitError: The script went over a limit; the run is over.
        """
        self.transcript = self._listen()

    def cancel(self) -> None:
        """Make a call that another thread is in give up soon."""
        self._process.cancel()

    @property
    def waiting(self) -> bool:
        """Whether the process waits for an answer."""
        return self._process.alive

    def extend(self, answers: Sequence[str]) -> Transcript:
        """Give answers to the waiting process; it may end before it has used all of them.

        Raises:
            LimitError: The script went over a limit; the run is over.
        """
        self._given = list(answers)
        self._process.answer(answers)
        self._process_answers()
        return self.transcript

    def close(self) -> None:
        """End the process."""
        self._process.release()

    def _process_answers(self) -> None:
        first = self._given.pop(0)
        self._steps = self._steps.then(replace(self.transcript.last, input=first))
        self.transcript = self._listen()

    def _listen(self) -> Transcript:
        """Follow the process to its next stop, or its end."""
        outcome: Any = None
        last: Step | None = None
        for kind, raw_steps, end in self._process.messages():
            for raw in raw_steps:
                if last is not None:
                    self._steps = self._steps.then(replace(last, input=self._given.pop(0)))
                last = self._step(raw)
            outcome = end if kind == "ended" else None
        if self._process.alive and last is not None:
            return Transcript(self._steps, last, "in_progress")
        return self._ended(last, outcome)

    def _step(self, raw: Any) -> Step:
        prompt, line, entries, out_end, err_end, seconds = raw
        out_start, err_start = self._ends
        self._ends = (out_end, err_end)
        stderr = self._process.stderr(err_start, err_end).decode("utf-8", "replace")
        texts = tuple(text for entry in entries for text in self._texts(entry))
        if prompt == "" and stderr and not stderr.endswith("\n"):
            prompt = stderr.rpartition("\n")[2]  # getpass and the like ask on stderr
        kind = input_type(prompt or "", line, self.source, texts[-1] if texts else "")
        return Step(
            prompt=prompt,
            written=texts,
            stderr=stderr,
            line=line,
            input_type=kind.name,
            choices=kind.choices,
            rows=kind.rows,
            stdout=self._process.stdout(out_start, out_end),
            seconds=seconds,
        )

    def _texts(self, entry: str | list[int]) -> list[str]:
        """Written strings: the log's own text, or the lines that somebody else wrote."""
        if isinstance(entry, str):
            return [entry]
        return _split(self._process.stdout(entry[0], entry[1]))

    def _ended(self, last: Step | None, outcome: Any) -> Transcript:
        """The transcript of a process that is gone; `outcome` is None if it could not tell."""
        tail = self._tail(last)
        exit_code = self._process.exit_status or 0
        self._process.release()
        kind, name, message, frames = outcome or ("finished", None, None, [])
        if name == "MemoryError" and self._limits.memory:
            limit = f"needed more than {self._limits.memory / 2**30:g} GB of memory"
            hint = "use less, or raise the limit"
            raise LimitError(limit, where=self.source.path.name, hint=hint)
        if kind == "finished" and exit_code != 0:
            kind, message = "raised", _exit_text(exit_code)
        status: Status = "success" if kind == "finished" else "error"
        error, warnings = self._error(message, frames) if status == "error" else (None, ())
        lines = tuple(first for first, _ in frames)
        return Transcript(
            self._steps, tail, status, error, name, lines, exit_code, warnings=warnings
        )

    def _tail(self, last: Step | None) -> Step:
        """What came after the last answer, with what was written after the script told its end."""
        out_end, err_end = self._ends
        more = self._process.stdout(out_end)
        texts = _split(more)
        stderr = self._process.stderr(err_end).decode("utf-8", "replace")
        self._ends = (out_end + len(more), err_end)
        if last is None or last.prompt is not None:
            if last is not None:
                self._steps = self._steps.then(replace(last, input=self._given.pop(0)))
            return Step(None, tuple(texts), stderr, None, "text", stdout=more)
        return replace(
            last,
            written=(*last.written, *texts),
            stderr=last.stderr + stderr,
            stdout=last.stdout + more,
            input_type="text",
            choices=(),
        )

    def _error(
        self, message: str | None, frames: list[list[int]]
    ) -> tuple[LastError, tuple[str, ...]]:
        """`last_error`, the score from the innermost frame whose line carries one."""
        warnings = []
        for first, final in reversed(frames):
            score, warning = self.source.score(first, final)
            if warning:
                warnings.append(warning)
            if score is not None:
                break
        else:
            score = 0.0
        line = frames[-1][0] if frames else None
        return LastError(message or "", line, score or 0.0), tuple(warnings)


_UNSTARTED = Transcript(Series(), Step(None, (), "", None, "text"), "in_progress")


def _split(data: bytes) -> list[str]:
    """Foreign bytes as lines; bytes that are not UTF-8 are kept as surrogates."""
    lines = data.decode("utf-8", "surrogateescape").split("\n")
    return [f"{line}\n" for line in lines[:-1]] + [line for line in lines[-1:] if line]


def _exit_text(code: int) -> str:
    if code < 0:
        import signal

        name = signal.Signals(-code).name if -code in set(signal.Signals) else str(-code)
        return f"killed by signal {name}"
    return f"exit status {code}"
