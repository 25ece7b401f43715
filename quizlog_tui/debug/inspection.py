"""What a script knows at a stop and which lines it ran before, as data read from its process.

The script shares a process with what sends this, so types and sizes are checked here, and nothing
else of it is believed. The code that sends it keeps to the same bounds: only a script that forges
it exceeds one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from ..errors import ProtocolError
from ..replay.process.protocol import read_json
from ..replay.script.source import Source
from ..text import clipped
from .lines import MOST_DEPTH, MOST_EVENTS
from .values import LARGEST, MOST_DIMENSIONS, MOST_ITEMS, MOST_PRINTED, MOST_TEXT

_MOST_LINE = 1000
"""Maximum characters that are kept of a line of the script."""
_MOST_CHANGES = 10 * MOST_ITEMS
_MOST_EXPRESSIONS, _LONGEST_EXPRESSION = 10_000, 10**6


@dataclass(frozen=True)
class Variable:
    """A name and its value."""

    name: str
    type: str
    text: str
    """The value in one line of at most 200 characters."""
    size: int | None
    """Number of items or characters of a built-in collection or text."""
    shape: tuple[int, ...] | None
    """The shape of an array or a table of numpy or pandas."""
    children: int
    """Number of items or attributes in it."""


@dataclass(frozen=True)
class StackFrame:
    """A call that is under way, in a file of the script."""

    function: str
    file: str
    line: int
    text: str
    """The text of the line; empty if its file cannot be read."""
    variables: tuple[Variable, ...]
    """Its own variables; those of the module are in `Inspection.globals`."""
    folded: int
    """Number of calls of libraries inside it."""


@dataclass(frozen=True)
class ChangedVariable:
    """A variable whose value is another than at the question before."""

    name: str
    before: str
    after: str


@dataclass(frozen=True)
class VariableChanges:
    """How the variables differ from those at the question before."""

    added: tuple[str, ...]
    changed: tuple[ChangedVariable, ...]
    gone: tuple[str, ...]


@dataclass(frozen=True)
class ExpressionError:
    """The exception of an expression."""

    message: str
    line: int | None
    """The line of the expression's text."""


@dataclass(frozen=True)
class Evaluation:
    """The value of an expression, or its exception."""

    text: str
    value: Variable | None
    """None after a statement or an exception."""
    stdout: str
    """What it printed."""
    error: ExpressionError | None


@dataclass(frozen=True)
class Inspection:
    """What a script knows at a stop."""

    step: int
    at: str
    """`question`, `error` (where it raised) or `end`."""
    frames: tuple[StackFrame, ...]
    """Innermost first."""
    globals: tuple[Variable, ...]
    changed: VariableChanges
    lines: tuple[tuple[str, int], ...]
    """File and number of each line that ran since the previous answer, each once."""
    expressions: tuple[Evaluation, ...]

    def to_dict(self) -> dict[str, Any]:
        """The snapshot as plain data for JSON."""
        return asdict(self)


def inspection_from(text: str, step: int, source: Source) -> Inspection:
    """The snapshot that a process sent.

    Args:
        text: What it sent.
        step: The step that it is of.
        source: The script.

    Raises:
        ProtocolError: It has not the form of a snapshot.
    """
    try:
        data = read_json(text)
        frames = _checked_items(data["frames"], 2 * MOST_ITEMS)
        at = data["at"]
        if at not in ("question", "error", "end"):
            raise ValueError(at)
        return Inspection(
            step,
            at,
            tuple(_frame(one, source) for one in frames),
            _variables(data["globals"]),
            _changes(data["changed"]),
            tuple(_lines(data["lines"], source)),
            tuple(map(_evaluation, _checked_items(data["expressions"], _MOST_EXPRESSIONS))),
        )
    except (ValueError, TypeError, KeyError) as error:
        raise unreadable("snapshot", step, source) from error


def _maybe_count(value: Any) -> int | None:
    return None if value is None else _checked_count(value)


def _variables(data: Any) -> tuple[Variable, ...]:
    return tuple(map(_variable, _checked_items(data, 2 * MOST_ITEMS)))


def _variable(data: Any) -> Variable:
    return Variable(
        _checked_name(data["name"]),
        _checked_name(data["type"]),
        _checked_text(data["text"]),
        _maybe_count(data["size"]),
        _shape(data["shape"]),
        _checked_count(data["children"]),
    )


def _shape(value: Any) -> tuple[int, ...] | None:
    if value is None:
        return None
    return tuple(map(_checked_count, _checked_items(value, MOST_DIMENSIONS)))


def _file_path(name: Any, source: Source) -> str:
    """The path of one of the script's files; a name that none of them has stays as it is."""
    file = source.file(_checked_name(name))
    return str(file.path) if file else name


def _frame(data: Any, source: Source) -> StackFrame:
    line, file = _checked_count(data["line"]), source.file(_checked_name(data["file"]))
    return StackFrame(
        _checked_name(data["function"]),
        _file_path(data["file"], source),
        line,
        clipped(file.line(line)[:_MOST_LINE].strip(), _MOST_LINE - 1) if file else "",
        _variables(data["variables"]),
        _checked_count(data["folded"]),
    )


def _changes(data: Any) -> VariableChanges:
    added, changed, gone = (
        _checked_items(data[key], _MOST_CHANGES) for key in ("added", "changed", "gone")
    )
    return VariableChanges(
        tuple(map(_checked_name, added)),
        tuple(map(_change, changed)),
        tuple(map(_checked_name, gone)),
    )


def _change(data: Any) -> ChangedVariable:
    before, after = _checked_text(data["before"]), _checked_text(data["after"])
    return ChangedVariable(_checked_name(data["name"]), before, after)


def _lines(data: Any, source: Source) -> Iterator[tuple[str, int]]:
    for name, line in _checked_items(data, MOST_EVENTS):
        yield _file_path(name, source), _checked_count(line)


def _evaluation(data: Any) -> Evaluation:
    return Evaluation(
        _checked_text(data["text"], _LONGEST_EXPRESSION),
        None if data["value"] is None else _variable(data["value"]),
        _checked_text(data["stdout"], MOST_PRINTED),
        None if data["error"] is None else _error(data["error"]),
    )


def _error(data: Any) -> ExpressionError:
    return ExpressionError(_checked_name(data["message"]), _maybe_count(data["line"]))


@dataclass(frozen=True)
class LineEvent:
    """A line that ran."""

    file: str
    line: int
    function: str
    depth: int
    """Number of calls of the script's own around it, at most 1,000."""
    changed: dict[str, str]
    """The variables of its call that it changed, with their texts afterwards."""


@dataclass(frozen=True)
class Trace:
    """The lines that ran after the answer before a stop."""

    step: int
    events: tuple[LineEvent, ...]
    truncated: bool
    """Whether more lines ran than these."""

    def to_dict(self) -> dict[str, Any]:
        """The trace as plain data for JSON."""
        return {
            "step": self.step,
            "events": [asdict(one) for one in self.events],
            "truncated": self.truncated,
        }


def trace_from(text: str, step: int, source: Source) -> Trace:
    """The trace that a process sent.

    Args:
        text: What it sent.
        step: The step of the stop that it ends at.
        source: The script.

    Raises:
        ProtocolError: It has not the form of a trace.
    """
    try:
        data = read_json(text)
        events, truncated = _checked_items(data["events"], MOST_EVENTS), data["truncated"]
        if type(truncated) is not bool:
            raise TypeError("it may be truncated or not")
        return Trace(step, tuple(_event(one, source) for one in events), truncated)
    except (ValueError, TypeError, KeyError) as error:
        raise unreadable("trace", step, source) from error


def _event(data: Any, source: Source) -> LineEvent:
    file, line, function, depth, changed = _checked_items(data, 5)
    if type(changed) is not dict:
        raise TypeError("no such changes")
    return LineEvent(
        _file_path(file, source),
        _checked_count(line),
        _checked_name(function),
        _checked_count(depth, MOST_DEPTH),
        {_checked_name(name): _checked_text(text) for name, text in changed.items()},
    )


_LONGEST_NAME = 8192
"""Maximum characters of a name; that of a file is a path."""


def unreadable(what: str, step: int, source: Source) -> ProtocolError:
    """The error that says that a script sent no such thing.

    Args:
        what: What was asked for: a trace, say.
        step: The step that it is of.
        source: The script.
    """
    return ProtocolError(f"sent no readable {what} at step {step}", where=str(source.path))


def _checked_name(value: Any) -> str:
    """A name of a variable, type, function or file.

    Raises:
        TypeError: It is none.
    """
    return _checked_text(value, _LONGEST_NAME)


def _checked_text(value: Any, most: int = MOST_TEXT) -> str:
    """A text of at most this number of characters.

    Raises:
        TypeError: It is none.
    """
    if type(value) is not str or len(value) > most:
        raise TypeError("no such text")
    return value


def _checked_count(value: Any, most: int = LARGEST) -> int:
    """A number from 0 to `most`.

    Raises:
        TypeError: It is none.
    """
    if type(value) is not int or not 0 <= value <= most:
        raise TypeError("no such number")
    return value


def _checked_items(value: Any, most: int) -> list[Any]:
    """A list of at most this number of items.

    Raises:
        TypeError: It is none.
    """
    if type(value) is not list or len(value) > most:
        raise TypeError("no such list")
    return value
