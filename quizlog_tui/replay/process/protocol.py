"""The messages of a quiz process, parsed against a schema with bounds.

A script shares an interpreter with the worker that sends these messages, so it can send any bytes
in its place. A message of a wrong form is refused here, also one whose values would take much more
memory than its text. Claims that the parent can check itself are checked where it counts. Nothing
here decides what a message means.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

MOST_PARTS = 1 << 22
"""Maximum number of values in a text whose script has written nothing."""
_STRING = re.compile('"[^"]*"?')
_MOST_BYTES, _INFLATED = 64 * 2**20, 8
"""Maximum bytes of a message: a constant, and a factor for each byte of the streams."""
_LONGEST_NAME = 8192
"""Maximum characters of a name or a reason."""
_MOST_NAMES = 256
_LONGEST_LOOK = 32 * 2**20
"""Maximum characters of an answer to a request to look."""
_MOST_CODE_NAMES = 500
_MOST_SOURCE = 1 << 16
"""Maximum characters of reported code."""
_LARGEST = 2**31 - 1
"""Maximum of a number: of a line, a process, a count, seconds."""
_LAST_POSITION = 2**53
"""Maximum of a position in a file; the file itself has the last word."""
_MOST_FRAMES = 1 << 20
_NEWLINES = ("", "\n", "\r", "\r\n")


# What forged messages did before each number, text and list had a bound, and its exact type.
#
# - Python's `True` is an `int`, and JSON's `NaN` a `float` that no comparison refuses. So types are
#   compared, not asked for by `isinstance`, and constants are no JSON here.
# - An empty list takes two characters of a message and over sixty bytes as an object: values are
#   counted before they are made. One expression for strings with their escapes would itself take
#   more memory than the values; escapes are removed first.
# - The depth of a forged trace became as many spaces, a newline of eight thousand characters was
#   put in place of each in the output, and the digits of a line's number ended in a traceback here.
# - Calls of a checking function for each field made a step of a live run a third slower. So a step
#   is checked by one expression, and the rare messages by a table.
#
# What is checked elsewhere, as it needs the files or the process: positions (`CapturedOutput`),
# texts (`WrittenText`), the sender and the order of messages (`Channel`), the number of steps
# (`LiveRun`).
class Violation(Exception):
    """A message has a form or a claim that no worker sends."""


class RawStep(NamedTuple):
    """One step as reported by the worker, with positions in the captured streams."""

    prompt: str | None
    line: int | None
    entries: list[Any]
    """The output: texts for the interpreter's own writes, `[start, end]` for all others."""
    out_end: int
    err_end: int
    seconds: float
    asked: list[Any]
    """The prompt as written, in the same form."""
    place: str
    """`FILE:LINE` of another file of the script that asks on its behalf; else empty."""


class WorkerOutcome(NamedTuple):
    """How the script ended, as it reported."""

    kind: Literal["finished", "left", "raised"]
    """`left` if code that was run from text ended it with exit status 0."""
    error_type: str | None
    message: str | None
    frames: list[tuple[int, int, str]]
    """First and last line of the statement in each of the script's own frames, innermost last, and
    its file: empty for the script."""


class ProcessStarted(NamedTuple):
    """The process has started. The kernel reports its number."""

    number: int


class IsolationReport(NamedTuple):
    """How its folder is private, and how it is isolated from the machine."""

    folder: str
    isolation: str


@dataclass(frozen=True, slots=True)
class SharedWrite:  # no tuple: one without fields would be false
    """The process is about to change files that its copies see."""


class IsolationFailed(NamedTuple):
    """The process could not be isolated, and did not run the script."""

    reason: str


class CopyRefused(NamedTuple):
    """The process could not be copied."""

    reason: str


class CodeRun(NamedTuple):
    """The process is about to run code that was compiled from text."""

    used: int
    """Number of answers it had used by then."""
    where: Literal["script", "package", "library"]
    """Whose code runs it."""
    names: list[str]
    """The names that the code uses."""
    source: str
    """Its text; empty if it is not known."""


class Looked(NamedTuple):
    """The answer to a request to look at the script: JSON text."""

    text: str


class WorkerReport(NamedTuple):
    """The state of the script, and the steps since the last report."""

    kind: Literal["asking", "paused", "working", "ended"]
    steps: list[RawStep]
    outcome: WorkerOutcome
    taint: str | None
    observed: list[str]
    writing: tuple[str, str] | None
    """Encoding and newline of stdout; None unless the script changed them."""


Message = (
    ProcessStarted
    | IsolationReport
    | SharedWrite
    | IsolationFailed
    | CopyRefused
    | CodeRun
    | Looked
    | WorkerReport
)


def most_bytes(written: int) -> int:
    """The maximum size of a message after this number of bytes was written."""
    return _MOST_BYTES + _INFLATED * written


def read_json(text: str, more_parts: int = 0) -> Any:
    """The value of a JSON text.

    An empty list takes two characters as text and over sixty bytes as an object, so the number of
    values is bounded.

    Args:
        text: The text, with nothing before or after the value.
        more_parts: Number of values that it may have beyond `MOST_PARTS`.

    Raises:
        ValueError: It is not JSON, nested too deeply, or has too many values.
    """
    if _has_more_parts(text, MOST_PARTS + more_parts):
        raise ValueError("it has too many values")
    try:
        value, end = _DECODER.raw_decode(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    if end != len(text):
        raise ValueError("it has more than one value")
    return value


def _refuse_constant(text: str) -> float:
    raise ValueError(text)


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)
"""Shared, as `json.loads` would make one for each text."""


def _has_more_parts(text: str, most: int) -> bool:
    """Whether a text has more values than that; what stands in its strings does not count."""
    if len(text) <= most or _count_marks(text) <= most:
        return False
    plain = _STRING.sub("", text.replace("\\\\", "").replace('\\"', ""))
    return _count_marks(plain) > most


def _count_marks(text: str) -> int:
    return sum(map(text.count, "[{,"))


def parse(data: bytes | bytearray, written: int = 0) -> Message:
    """A message from its JSON text.

    Args:
        data: The text.
        written: Number of bytes that the script wrote: each may be a value of the message.

    Raises:
        Violation: It is not a message.
    """
    try:
        fields = read_json(data.decode(), written)
    except ValueError as error:
        raise Violation("it sent something that is not a message") from error
    if type(fields) is not list or not fields or type(fields[0]) is not str:
        raise Violation("it sent something that is not a message")
    if fields[0] in _REPORTS:
        return _report(fields)
    kind, *rest = fields
    read = _SHORT.get(kind)
    if read is None:
        raise Violation("it sent a message of an unknown kind")
    form, fits = read
    if len(rest) != len(fits) or not all(fit(value) for fit, value in zip(fits, rest, strict=True)):
        raise Violation(f"it sent a malformed message {kind!r}")
    message: Message = form(*rest)
    return message


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value <= _LARGEST


def _is_process(value: Any) -> bool:
    return _is_count(value) and value > 0


def _is_position(value: Any) -> bool:
    return type(value) is int and 0 <= value <= _LAST_POSITION


def _is_name(value: Any) -> bool:
    return type(value) is str and len(value) <= _LONGEST_NAME


def _are_names(value: Any) -> bool:
    return _is_list(value, _is_name, _MOST_CODE_NAMES)


def _is_source(value: Any) -> bool:
    return type(value) is str and len(value) <= _MOST_SOURCE


_SHORT: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "born": (ProcessStarted, (_is_process,)),
    "place": (IsolationReport, (("overlay", "copy", "").__contains__, _is_name)),
    "straying": (SharedWrite, ()),
    "unshut": (IsolationFailed, (_is_name,)),
    "refused": (CopyRefused, (_is_name,)),
    "looked": (Looked, (lambda text: type(text) is str and len(text) <= _LONGEST_LOOK,)),
    "code": (
        CodeRun,
        (_is_count, ("script", "package", "library").__contains__, _are_names, _is_source),
    ),
}
"""The messages that report no steps: class, and checks of the fields."""
_REPORTS = frozenset(("asking", "paused", "working", "ended"))


def _report(fields: list[Any]) -> WorkerReport:
    """A report. Written for speed, as one arrives at each step."""
    if len(fields) != 6:
        raise Violation(f"it sent a malformed message {fields[0]!r}")
    kind, steps, outcome, taint, observed, writing = fields
    if type(steps) is not list:
        raise _malformed(kind, "steps")
    if taint is not None and not _is_name(taint):
        raise _malformed(kind, "taint")
    if observed != [] and not _is_list(observed, _is_name, _MOST_NAMES):
        raise _malformed(kind, "observed")
    if writing is not None and not _is_writing(writing):
        raise _malformed(kind, "writing")
    encoding = None if writing is None else (writing[0], writing[1])
    end = _RUNNING if outcome == _STILL_RUNNING else _outcome(outcome)
    return WorkerReport(kind, [_step(step) for step in steps], end, taint, observed, encoding)


_STILL_RUNNING: list[Any] = ["finished", None, None, []]
"""The outcome in reports of a script that has not ended."""
_RUNNING = WorkerOutcome("finished", None, None, [])


def _malformed(kind: str, field: str) -> Violation:
    return Violation(f"it sent a message {kind!r} whose {field} is malformed")


def _is_list(value: Any, fits: Any, most: int) -> bool:
    return type(value) is list and len(value) <= most and all(map(fits, value))


def _is_writing(value: Any) -> bool:
    """Whether it is an encoding and a newline, each of which a text may hold very often."""
    return _is_list(value, _is_name, 2) and len(value) == 2 and value[1] in _NEWLINES


def _step(value: Any) -> RawStep:
    if type(value) is not list or len(value) != 8:
        raise Violation("it sent a malformed step")
    step = RawStep._make(value)
    prompt, line, entries, out_end, err_end, seconds, asked, place = value
    if not (
        (prompt is None or type(prompt) is str)
        and (line is None or (type(line) is int and 0 < line <= _LARGEST))
        and type(entries) is type(asked) is list
        and all([type(entry) is str or _is_place(entry) for entry in entries + asked])
        and type(out_end) is type(err_end) is int
        and 0 <= out_end <= _LAST_POSITION
        and 0 <= err_end <= _LAST_POSITION
        and type(seconds) in (float, int)
        and 0 <= seconds <= _LARGEST
        and _is_name(place)
    ):
        raise Violation("it sent a malformed step")
    return step


def _is_place(value: Any) -> bool:
    """Whether it is `[start, end]` of output that the interpreter did not write."""
    return type(value) is list and len(value) == 2 and all(map(_is_position, value))


def _outcome(value: Any) -> WorkerOutcome:
    if type(value) is not list or len(value) != 4:
        raise Violation("it sent a malformed outcome")
    kind, name, message, frames = value
    if not (
        kind in ("finished", "left", "raised")
        and (name is None or _is_name(name))
        and (message is None or type(message) is str)
        and _is_list(frames, _is_frame, _MOST_FRAMES)
    ):
        raise Violation("it sent a malformed outcome")
    return WorkerOutcome(kind, name, message, [(*frame,) for frame in frames])


def _is_frame(value: Any) -> bool:
    return (
        type(value) is list
        and len(value) == 3
        and all(map(_is_count, value[:2]))
        and _is_name(value[2])
    )


def check_prompts(report: WorkerReport) -> None:
    """Check that all steps of a report end in a question, except at the end of the run.

    Raises:
        Violation: They do not, or there are none.
    """
    ends = [step.prompt is None for step in report.steps]
    if not ends or any(ends[:-1]) or ends[-1] is not (report.kind == "ended"):
        raise Violation("it reported a question where there is none")
