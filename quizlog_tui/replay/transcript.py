"""What one run of a script did: the value `replay` returns.

Pure data. A transcript is built step by step and shares its past with the transcripts it grew from,
so that one more answer costs the same after ten steps and after ten thousand.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import Any, TypeVar

from ..record.append_only_list import AppendOnlyList
from ..record.model import LastError, Status
from .script.input_type import InputType, input_type
from .script.source import Source
from .stop_fingerprint import mark_of
from .world import TAMPERED

T = TypeVar("T")


def frozen(kind: type[T], fields: dict[str, Any]) -> T:
    """An object of a frozen dataclass, as the class would make it, in a third of the time.

    Args:
        kind: The class.
        fields: The fields; those that are left out must have defaults that are values.
    """
    made = object.__new__(kind)
    object.__setattr__(made, "__dict__", fields)
    return made


@dataclass(frozen=True)
class Step:
    """From one answer to the next stop: what was printed, and what was then asked."""

    prompt: str | None
    """The question's text; None where the run ended instead of asking."""
    written: tuple[str, ...]
    """What was written to stdout before the question: a string for each `print()`, with newline."""
    stderr: str
    """What was written to stderr before the question."""
    line: int | None
    """The script line that asks."""
    input: str | None = None
    """The answer given; None at the last stop."""
    stdout: bytes = field(default=b"", repr=False)
    """The bytes that reached stdout in this step, in a plain run's order, prompt included."""
    seconds: float = field(default=0.0, compare=False)
    """How long the script took to get here from the answer before; NaN where that is not known.
    Not part of equality."""
    source: Source | None = field(default=None, repr=False, compare=False)
    """The script, to find out the kind of answer when somebody asks for it."""
    tampered: bool = field(default=False, compare=False)
    """Whether this is the first stop whose account is not what its bytes show."""

    @property
    def printed_before(self) -> str:
        """What was printed last before the question; empty if nothing was."""
        return self.written[-1] if self.written else ""

    @cached_property
    def kind(self) -> InputType:
        """What kind of answer the question wants."""
        if self.source is None or self.prompt is None:
            return InputType()
        return input_type(self.prompt, self.line, self.source, self.printed_before)

    @cached_property
    def mark(self) -> str:
        """The mark of this stop, where something is asked."""
        return mark_of(self.written, self.prompt or "")

    @property
    def input_type(self) -> str:
        """The name of the kind of answer wanted."""
        return self.kind.name

    @property
    def choices(self) -> tuple[str, ...]:
        """The options, where the question names them."""
        return self.kind.choices

    def answered(self, answer: str | None) -> Step:
        """This stop with an answer, or without."""
        return frozen(Step, {**vars(self), "input": answer})

    @property
    def print(self) -> tuple[str, ...]:
        """`written` as the trace format has it: each string without its final newline."""
        return tuple(text.removesuffix("\n") for text in self.written)


@dataclass(frozen=True)
class Transcript:
    """Everything a run showed, up to where it stopped."""

    steps: AppendOnlyList[Step]
    """One for each answer that was used."""
    last: Step
    """What came after the last answer: the pending question, or the end."""
    status: Status
    """`in_progress` (asking), `success` (finished) or `error` (raised)."""
    last_error: LastError | None = None
    """The exception, where the script raised."""
    error_type: str | None = None
    """The exception's class name."""
    traceback_lines: tuple[int, ...] = ()
    """The script's lines in the traceback, innermost last."""
    exit_code: int | None = None
    """The exit code a plain run would have; None while asking."""
    tainted: str | None = field(default=None, compare=False)
    """Why no checkpoint can be taken of this run; None if one can."""
    observed: tuple[str, ...] = field(default=(), compare=False)
    """What the fixed world does not hold; see `world.MET`."""
    unavailable: tuple[str, ...] = field(default=(), compare=False)
    """What of the fixed world this system lacks; see `world.LACKS`."""
    code: tuple[tuple[int, int], ...] = ()
    """Answers that ran as code: the index of each, and how many had been given when it did."""
    warnings: tuple[str, ...] = ()
    """What the author of the script should know, such as an illegal score."""
    print: AppendOnlyList[str] = field(default_factory=AppendOnlyList)
    """All printed strings, in order."""
    stderr: str = ""
    """All that was written to stderr."""

    @property
    def next_prompt(self) -> str | None:
        """The pending question; None if the run ended."""
        return self.last.prompt

    @property
    def input_type(self) -> str | None:
        """Kind of answer the pending question wants; None if the run ended."""
        return self.last.input_type if self.last.prompt is not None else None

    @property
    def choices(self) -> tuple[str, ...]:
        """The options of the pending question."""
        return self.last.choices

    @property
    def score(self) -> float | None:
        """1 for a finished script, the partial score of an error, None while asking."""
        if self.status == "success":
            return 1.0
        return self.last_error.score if self.last_error else None

    @property
    def exit_text(self) -> str:
        """What it wrote to stderr last where it left with an exit status, such as its usage."""
        left = self.last_error is not None and self.error_type == "SystemExit"
        return self.last.stderr if left else ""

    @cached_property
    def inputs(self) -> tuple[str, ...]:
        """The answers that were used."""
        return tuple(step.input or "" for step in self.steps)

    @cached_property
    def stdout_bytes(self) -> bytes:
        """The exact bytes a plain run with these answers on a pipe would have written."""
        return b"".join(step.stdout for step in (*self.steps, self.last))

    @property
    def stdout(self) -> str:
        """`stdout_bytes` as text; bytes that are not UTF-8 are kept as surrogates."""
        return self.stdout_bytes.decode("utf-8", "surrogateescape")

    @cached_property
    def code_answers(self) -> frozenset[int]:
        """The indexes of answers that ran as code, which is more than literals and arithmetic."""
        return frozenset(index for index, _ in self.code)

    @cached_property
    def tampered_at(self) -> int | None:
        """The first stop whose account is not what its bytes show; None if none is known."""
        if TAMPERED not in self.observed:
            return None
        stops = enumerate((*self.steps, self.last))
        return next((at for at, stop in stops if stop.tampered), None)

    def upto(self, count: int) -> Transcript:
        """This run as it stood when `count` answers had been given."""
        if count >= len(self.steps):
            return self
        printed, told = self._ends[count]
        return Transcript(
            self.steps.upto(count),
            self.steps[count].answered(None),
            "in_progress",
            tainted=self.tainted,
            observed=self.observed,
            unavailable=self.unavailable,
            code=tuple(one for one in self.code if one[1] <= count),
            print=self.print.upto(printed),
            stderr=self.stderr[:told],
        )

    @cached_property
    def _ends(self) -> list[tuple[int, int]]:
        """Up to each step and with it: how many strings were printed, how long stderr is."""
        printed = accumulate(len(step.written) for step in self.steps)
        told = accumulate(len(step.stderr) for step in self.steps)
        return list(zip(printed, told, strict=True))
