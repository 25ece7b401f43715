"""What a script knows at a stop, as data, and how it is read from what its process sent.

The script shares a process with what sends it, so its form is checked here and nothing else of it
is believed.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from ..errors import ProtocolError
from ..replay.script.source import Source


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
        data = json.loads(text)
        frames = tuple(_frame(one, source) for one in data["frames"])
        at = data["at"]
        if at not in ("question", "error", "end"):
            raise ValueError(at)
        return Inspection(
            step,
            at,
            frames,
            _variables(data["globals"]),
            _changes(data["changed"]),
            tuple((file_path(name, source), _count(line)) for name, line in data["lines"]),
            tuple(map(_evaluation, data["expressions"])),
        )
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ProtocolError("sent no readable snapshot", where=str(source.path)) from error


def _text(value: Any) -> str:
    if type(value) is not str:
        raise TypeError(value)
    return value


def _count(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise TypeError(value)
    return value


def _maybe_count(value: Any) -> int | None:
    return None if value is None else _count(value)


def _variables(data: Any) -> tuple[Variable, ...]:
    return tuple(map(_variable, data))


def _variable(data: Any) -> Variable:
    shape = data["shape"]
    return Variable(
        _text(data["name"]),
        _text(data["type"]),
        _text(data["text"]),
        _maybe_count(data["size"]),
        None if shape is None else tuple(map(_count, shape)),
        _count(data["children"]),
    )


def file_path(name: Any, source: Source) -> str:
    """The path of one of the script's files; a name that none of them has stays as it is."""
    file = source.file(_text(name))
    return str(file.path) if file else name


def _frame(data: Any, source: Source) -> StackFrame:
    line, file = _count(data["line"]), source.file(_text(data["file"]))
    text = file.line(line).strip() if file else ""
    path = file_path(data["file"], source)
    variables = _variables(data["variables"])
    return StackFrame(_text(data["function"]), path, line, text, variables, _count(data["folded"]))


def _changes(data: Any) -> VariableChanges:
    changed = tuple(
        ChangedVariable(*(_text(one[key]) for key in ("name", "before", "after")))
        for one in data["changed"]
    )
    return VariableChanges(
        tuple(map(_text, data["added"])), changed, tuple(map(_text, data["gone"]))
    )


def _evaluation(data: Any) -> Evaluation:
    error = data["error"]
    return Evaluation(
        _text(data["text"]),
        None if data["value"] is None else _variable(data["value"]),
        _text(data["stdout"]),
        None
        if error is None
        else ExpressionError(_text(error["message"]), _maybe_count(error["line"])),
    )
