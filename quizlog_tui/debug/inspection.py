"""What a script knows at a stop, as data, and how it is read from what its process sent.

The script shares a process with what sends it, so its form is checked here and nothing else of it
is believed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from ..replay.process.protocol import read_json
from ..replay.script.source import Source
from ..text import clipped
from . import claims
from .lines import MOST_EVENTS
from .values import MOST_DIMENSIONS, MOST_ITEMS, MOST_PRINTED

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
        frames = claims.items(data["frames"], 2 * MOST_ITEMS)
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
            tuple(map(_evaluation, claims.items(data["expressions"], _MOST_EXPRESSIONS))),
        )
    except (ValueError, TypeError, KeyError) as error:
        raise claims.unreadable("snapshot", step, source) from error


def _maybe_count(value: Any) -> int | None:
    return None if value is None else claims.count(value)


def _variables(data: Any) -> tuple[Variable, ...]:
    return tuple(map(_variable, claims.items(data, 2 * MOST_ITEMS)))


def _variable(data: Any) -> Variable:
    return Variable(
        claims.name(data["name"]),
        claims.name(data["type"]),
        claims.text(data["text"]),
        _maybe_count(data["size"]),
        _shape(data["shape"]),
        claims.count(data["children"]),
    )


def _shape(value: Any) -> tuple[int, ...] | None:
    return None if value is None else tuple(map(claims.count, claims.items(value, MOST_DIMENSIONS)))


def file_path(name: Any, source: Source) -> str:
    """The path of one of the script's files; a name that none of them has stays as it is."""
    file = source.file(claims.name(name))
    return str(file.path) if file else name


def _frame(data: Any, source: Source) -> StackFrame:
    line, file = claims.count(data["line"]), source.file(claims.name(data["file"]))
    return StackFrame(
        claims.name(data["function"]),
        file_path(data["file"], source),
        line,
        clipped(file.line(line)[:_MOST_LINE].strip(), _MOST_LINE - 1) if file else "",
        _variables(data["variables"]),
        claims.count(data["folded"]),
    )


def _changes(data: Any) -> VariableChanges:
    added, changed, gone = (
        claims.items(data[key], _MOST_CHANGES) for key in ("added", "changed", "gone")
    )
    return VariableChanges(
        tuple(map(claims.name, added)), tuple(map(_change, changed)), tuple(map(claims.name, gone))
    )


def _change(data: Any) -> ChangedVariable:
    before, after = claims.text(data["before"]), claims.text(data["after"])
    return ChangedVariable(claims.name(data["name"]), before, after)


def _lines(data: Any, source: Source) -> Iterator[tuple[str, int]]:
    for name, line in claims.items(data, MOST_EVENTS):
        yield file_path(name, source), claims.count(line)


def _evaluation(data: Any) -> Evaluation:
    return Evaluation(
        claims.text(data["text"], _LONGEST_EXPRESSION),
        None if data["value"] is None else _variable(data["value"]),
        claims.text(data["stdout"], MOST_PRINTED),
        None if data["error"] is None else _error(data["error"]),
    )


def _error(data: Any) -> ExpressionError:
    return ExpressionError(claims.name(data["message"]), _maybe_count(data["line"]))
