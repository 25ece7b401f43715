"""What one run of a script did: the value that `replay` returns, and the fingerprints of its stops.

Pure data. A transcript shares its steps with the shorter transcripts of the same run, so that one
more answer costs the same after ten steps and after ten thousand.

A fingerprint identifies a stop without storing what it showed; a record keeps those of its stops,
by which an edited script is judged. It is one line of text: twelve hexadecimal digits over all that
a stop shows (printed text, the question, or how the run ended), a space, and the question itself.
At the end of a run there is neither question nor space.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from ..files.regular_file import digest, hex_digest
from ..record.append_only_list import AppendOnlyList
from ..record.model import LastError, Status
from .script.input_type import InputType, input_type
from .script.source import Source
from .world import TAMPERED

if TYPE_CHECKING:
    from hashlib import _Hash

T = TypeVar("T")
_UNNAMED = (None, "Exception", "SystemExit")
"""Classes of errors that say no more than the message; None where it is not known."""
_TRACEBACK = r"^(Traceback|  \+ Exception Group Traceback) \(most recent call last\):\n"
_SYNTAX_ERROR = r'^  File "[^"\n]*", line \d+\n'
"""How a traceback begins where a file could not be compiled."""
_CHAINED = (
    "\nDuring handling of the above exception, another exception occurred:\n\n",
    "\nThe above exception was the direct cause of the following exception:\n\n",
)
"""How the traceback of one exception ends where that of another follows."""
_MARGIN = r" *[|+] "
"""What stands before the lines of a group of exceptions."""
_DIGITS = 12
_quoted = json.encoder.encode_basestring_ascii
_MOST_STRINGS = 1_000
"""Maximum number of printed strings that are tried as those of one stop."""


def frozen(kind: type[T], fields: dict[str, Any]) -> T:
    """Make an object of a frozen dataclass in a third of the time that the class takes.

    Args:
        kind: The class.
        fields: The fields; omitted ones must have a plain default value.
    """
    made = object.__new__(kind)
    object.__setattr__(made, "__dict__", fields)
    return made


@dataclass(frozen=True)
class Step:
    """The step from one answer to the next stop: what was printed, then asked."""

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
    """Seconds since the previous answer; NaN if that is not known. Not compared."""
    source: Source | None = field(default=None, repr=False, compare=False)
    """The script, from which the kind of answer is derived on demand."""
    tampered: bool = field(default=False, compare=False)
    """Whether this is the first stop whose report contradicts its bytes."""
    place: str = ""
    """`FILE:LINE` of another file of the script that asks on its behalf; else empty."""

    @property
    def question(self) -> str | None:
        """What the program showed as its question; None where the run ended instead of asking.

        That is the prompt. Where there is none (`print("Name: ", end="")` before a bare `input()`,
        as many libraries ask) it is the unfinished line on stdout, else on stderr, and the prompt.
        """
        if self.prompt is None or self.prompt.strip():
            return self.prompt
        unfinished = (text.rpartition("\n")[2] for text in ("".join(self.written), self.stderr))
        shown = next((line for line in unfinished if line.strip()), "")
        return f"{shown}{self.prompt}"

    @property
    def printed_before(self) -> str:
        """What was printed last before the question; empty if nothing was."""
        return self.written[-1] if self.written else ""

    @cached_property
    def kind(self) -> InputType:
        """What kind of answer the question wants."""
        if self.source is None or self.question is None:
            return InputType()
        places = [(self.source, self.line), self.source.at(self.place, self.line)]
        tagged = next((at for at in places if at[1] and at[0].tags(at[1])), places[-1])
        file, line = tagged
        return input_type(self.question, line, file, self.printed_before)

    @cached_property
    def fingerprint(self) -> str:
        """The fingerprint of this stop, if it asks."""
        return _fingerprint_of(self.written, self.prompt or "")

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
    """Everything a run showed up to its last stop."""

    steps: AppendOnlyList[Step]
    """One step for each answer that was used."""
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
    """Observations about the run; see `world.UNVERIFIABLE` and `world.REMARKABLE`."""
    unavailable: tuple[str, ...] = field(default=(), compare=False)
    """What this system cannot fix; see `world.UNAVAILABLE`."""
    code: tuple[tuple[int, int], ...] = ()
    """Answers that ran as code: index, and number of answers given by then."""
    warnings: tuple[str, ...] = ()
    """Notes for the author of the script, such as an illegal score."""
    print: AppendOnlyList[str] = field(default_factory=AppendOnlyList)
    """All printed strings, in order."""
    stderr: str = ""
    """All that was written to stderr."""

    @property
    def next_prompt(self) -> str | None:
        """The pending question, as the program showed it; None if the run ended."""
        return self.last.question

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

    def error_text(self, draw: Callable[[str], str] | None = None) -> str:
        """The error in words: its message, behind the name of its class; empty without an error.

        A plain `Exception`, which is how a script refuses an answer, and `SystemExit` are not named
        unless they have no message.

        Args:
            draw: What is made of the message; None for what a terminal shows, without its styles.
        """
        if self.last_error is None:
            return ""
        if draw is None:
            from ..terminal_text import plain  # no run needs it that asks on

            draw = plain
        message, kind = draw(self.last_error.message), self.error_type
        if not message:
            return kind or "error"
        return message if kind in _UNNAMED else f"{kind}: {message}"

    @property
    def own_stderr(self) -> str:
        """What was written to stderr last, without what Python wrote about the run's error."""
        stderr = self.last.stderr
        if self.last_error is None:
            return stderr
        if self.error_type == "SystemExit":
            return stderr.removesuffix(f"{self.last_error.message}\n")
        return stderr[: _traceback_start(stderr)]

    @cached_property
    def exit_text(self) -> str:
        """What stderr says of an error besides its message and the script's lines.

        Where it left with an exit status, all it wrote last, such as its usage. Else what is in
        the traceback: notes, the members of a group, and the exceptions that led to it.
        """
        if self.last_error is None or self.error_type == "SystemExit":
            return self.last.stderr if self.last_error else ""
        told = _told(self.last.stderr.removeprefix(self.own_stderr))
        own = _told(f"{self.error_type}: {self.last_error.message}\n")
        return "" if told.count("\n") < 2 or told.removesuffix(own).count("\n") == 0 else told

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
        """The first stop whose report contradicts its bytes; None if none is known."""
        if TAMPERED not in self.observed:
            return None
        stops = enumerate((*self.steps, self.last))
        return next((at for at, stop in stops if stop.tampered), None)

    def upto(self, count: int) -> Transcript:
        """The transcript of this run when `count` answers had been given."""
        if count >= len(self.steps):
            return self
        printed, errors = self._ends[count]
        return Transcript(
            self.steps.upto(count),
            self.steps[count].answered(None),
            "in_progress",
            tainted=self.tainted,
            observed=self.observed,
            unavailable=self.unavailable,
            code=tuple(one for one in self.code if one[1] <= count),
            print=self.print.upto(printed),
            stderr=self.stderr[:errors],
        )

    @cached_property
    def _ends(self) -> list[tuple[int, int]]:
        """After each step: number of strings printed so far, and length of stderr."""
        printed = accumulate(len(step.written) for step in self.steps)
        errors = accumulate(len(step.stderr) for step in self.steps)
        return list(zip(printed, errors, strict=True))


StopPart = Literal["output", "stderr", "question", "answer", "end"]


def stop_parts(
    step: Step, run: Transcript | None = None, draw: Callable[[str], str] = str
) -> dict[StopPart, str]:
    """The parts of a stop in the order in which they are shown; what it does not have is empty.

    Args:
        step: The stop.
        run: The run it is a stop of, for how that ended there, such as `error, score 0.5: message`.
        draw: What is made of the script's own texts.
    """
    asked = step.prompt or ""
    return {
        "output": draw("".join(step.written)),
        "stderr": draw(step.stderr.removesuffix(asked)),  # a question may stand there, too
        "question": draw(asked),
        "answer": step.input or "",
        "end": "" if run is None or step.prompt is not None else _end_text(run, draw),
    }


def _end_text(run: Transcript, draw: Callable[[str], str]) -> str:
    score = "" if run.score is None else f", score {run.score:g}"
    if run.last_error is None:
        return f"finished{score}"
    return f"error{score}: {run.error_text(draw)}"


def _traceback_start(stderr: str) -> int:
    """Where the last traceback begins, with those of the exceptions that led to it."""
    starts = [found.start() for found in re.finditer(_TRACEBACK, stderr, re.M)]
    starts = starts or [found.start() for found in re.finditer(_SYNTAX_ERROR, stderr, re.M)][-1:]
    start = starts.pop() if starts else len(stderr)
    while starts and stderr[:start].endswith(_CHAINED):
        start = starts.pop()
    linked = next((len(link) for link in _CHAINED if stderr.endswith(link, 0, start)), 0)
    if linked:  # to an exception that was never raised and has no frames
        start = stderr.rfind("\n", 0, start - linked - 1) + 1
    return start


def _told(traceback: str) -> str:
    """The lines of a traceback that are no frames."""
    told, in_frames = [], False
    for line in filter(str.strip, traceback.split("\n")):
        margin = re.match(_MARGIN, line)
        text = line[margin.end() :] if margin else line
        if text.endswith("Traceback (most recent call last):"):
            in_frames = True
        elif not (in_frames and text.startswith("  ")) or text.lstrip().startswith("+-"):
            in_frames = False
            told.append(f"{line}\n")
    return "".join(told)


def _digest_of(*shown: object) -> str:
    """The digits for what a stop shows."""
    return _digits(json.dumps(shown))


def _fingerprint_of(written: Sequence[str], prompt: str) -> str:
    """The fingerprint of a stop that asks.

    Args:
        written: What was printed before the question.
        prompt: The question.
    """
    text = f"[[{', '.join(map(_quoted, written))}], {_quoted(prompt)}]"  # faster than `json.dumps`
    return f"{_digits(text)} {prompt}"


def _digits(text: str) -> str:
    return hex_digest(text.encode("ascii"))[:_DIGITS]


def stop_fingerprint(run: Transcript, stop: int) -> str:
    """The fingerprint of a stop of a run; the last one is the pending question, or the end."""
    if stop < len(run.steps):
        return run.steps[stop].fingerprint
    if run.last.prompt is not None:
        return run.last.fingerprint
    message = run.last_error.message if run.last_error else None
    return _digest_of(run.last.written, None, run.status, message, run.score)


def question_of(fingerprint: str) -> str | None:
    """The question in a fingerprint; None if the run ended there."""
    _, space, text = fingerprint.partition(" ")
    return text if space else None


def printed_before(fingerprint: str, texts: AppendOnlyList[str], start: int) -> list[str] | None:
    """The printed strings of a record that belong to a question; None if that is unclear.

    Args:
        fingerprint: The fingerprint of the question.
        texts: The record's `print`.
        start: Index of the first string that belongs to no earlier stop.
    """
    prompt = question_of(fingerprint)
    if prompt is None:
        return None
    first = texts[start : start + 1]
    if first and fingerprint == _fingerprint_of([f"{first[0]}\n"], prompt):
        return list(first)  # nearly always so, and found much faster
    shown, closing, comma = digest(b"[["), f"], {_quoted(prompt)}]", ""
    if _ends_as(fingerprint, shown, closing):
        return []
    for at in range(start, min(len(texts), start + _MOST_STRINGS)):
        before, shown = shown, _longer(shown, comma + _quoted(f"{texts[at]}\n"))
        # the last one may have no newline
        if _ends_as(fingerprint, shown, closing) or _ends_as(
            fingerprint, before, comma + _quoted(texts[at]) + closing
        ):
            return list(texts[start : at + 1])
        comma = ", "
    return None


def _longer(shown: _Hash, text: str) -> _Hash:
    """The hash of what was hashed and a text of ASCII characters behind it."""
    made = shown.copy()
    made.update(text.encode("ascii"))
    return made


def _ends_as(fingerprint: str, shown: _Hash, text: str) -> bool:
    """Whether a fingerprint is that of what was hashed and a text behind it."""
    return fingerprint.startswith(_longer(shown, text).hexdigest()[:_DIGITS])


def extended_trail(trail: AppendOnlyList[str], run: Transcript) -> AppendOnlyList[str]:
    """A trail, extended by the fingerprints of the further stops of a run."""
    return trail.then(
        *(stop_fingerprint(run, stop) for stop in range(len(trail), len(run.steps) + 1))
    )
