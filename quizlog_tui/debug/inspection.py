"""Looks at a script at one of its stops: what it knows there, and which lines it ran before.

The run is brought to the question before, in a process that is thrown away; from there on its lines
are watched up to the stop. What is asked of the process is in `inside`. The script shares that
process with what sends the data, so types and sizes are checked here, and nothing else of it is
believed. The code that sends it keeps to the same bounds: only a script that forges it exceeds one.
"""

from __future__ import annotations

import json
import marshal
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

from ..errors import LimitError, ProtocolError, UsageError
from ..replay.process.process import QuizProcess
from ..replay.process.protocol import read_json
from ..replay.replayer import Replayer
from ..replay.script.interpreter import OWN
from ..replay.script.source import Source
from ..replay.world import World
from ..text import clipped
from .changes import MOST_CHANGES
from .lines import MOST_DEPTH, MOST_EVENTS
from .raised import MOST_CAUSES, MOST_RAISED
from .tables import MOST_CELL, MOST_COLUMNS, MOST_ROWS
from .values import LARGEST, MOST_DIMENSIONS, MOST_ITEMS, MOST_PRINTED, MOST_TEXT


def inspect(
    replayer: Replayer,
    source: Source,
    world: World,
    answers: Sequence[str],
    *,
    frame: int = 0,
    expressions: Sequence[str] = (),
    opened: Sequence[ValuePath] = (),
) -> Inspection:
    """What a script knows after these answers: at its question, where it raised, or at its end.

    Args:
        replayer: Runs the script; its runs stay as they are.
        source: The script.
        world: The world of the script.
        answers: The answers, in order.
        frame: The frame in which expressions are evaluated; 0 is the innermost.
        expressions: Expressions or statements to evaluate, one after the other.
        opened: The values whose children are wanted, as they are before any expression.

    Raises:
        UsageError: The script does not use all answers, or there is no such frame.
        LimitError: The script, or a look at it, exceeded a limit.
        ProtocolError: The script tampered with what is sent.
        CancelledError: The replayer was cancelled meanwhile.
    """
    paths = [(one.frame, one.expression, one.indexes) for one in opened]
    request = {
        "find": "inspection",
        "frame": frame,
        "expressions": list(expressions),
        "opened": paths,
    }
    text = _looked(replayer, source, world, answers, request)
    found = inspection_from(text, len(answers), source, opened)
    if [one.text for one in found.expressions] != list(expressions):
        raise unreadable_look("snapshot", len(answers), source)
    if not 0 <= frame < max(1, len(found.frames)):
        raise UsageError(f"there is no frame {frame}: the stack has {len(found.frames)}")
    status = replayer.replay(source, world, answers).status
    return replace(found, at=_AT[status])  # the script tells nobody how it ended


_AT = {"in_progress": "question", "error": "error", "success": "end"}


def trace(replayer: Replayer, source: Source, world: World, answers: Sequence[str]) -> Trace:
    """The lines that ran after the last of these answers, with the variables that each changed.

    Only those of the thread that got that answer, or of the main thread before any.

    Args:
        replayer: Runs the script; its runs stay as they are.
        source: The script.
        world: The world of the script.
        answers: The answers, in order; none for the lines before the first question.

    Raises:
        As `inspect`.
    """
    request = {"find": "trace", "frame": 0, "expressions": [], "opened": []}
    text = _looked(replayer, source, world, answers, request)
    return trace_from(text, len(answers), source)


def _looked(
    replayer: Replayer,
    source: Source,
    world: World,
    answers: Sequence[str],
    request: dict[str, Any],
) -> str:
    """What a process sends at the stop after these answers."""
    used = len(replayer.replay(source, world, answers).inputs)
    if used < len(answers):
        raise UsageError(f"the script asks only {used} of these {len(answers)} questions")
    process = _before(replayer, source, world, answers)
    try:
        with looking():
            return _look(process, source, answers[-1:], request)
    finally:
        process.release()


@contextmanager
def looking() -> Iterator[None]:
    """Say of a limit that is exceeded meanwhile that the look was ended, not the script."""
    try:
        yield
    except ProtocolError:
        raise
    except LimitError as error:
        message = f"the look was ended, not the script: {error.message}"
        raise LimitError(message, where=error.where, hint=error.hint) from error


def _before(
    replayer: Replayer, source: Source, world: World, answers: Sequence[str]
) -> QuizProcess:
    """A process that waits at the question before the last answer, or before the script begins."""
    if not answers:
        return QuizProcess.start(source, world, replayer.limits, waits=True)
    process = replayer.throw_away(source, world, answers[:-1])
    if process is None:
        raise UsageError("the script ends before that step")
    return process


def _look(
    process: QuizProcess, source: Source, answers: Sequence[str], request: dict[str, Any]
) -> str:
    """Bring a process to the stop, watching its lines, and return what it sends from there."""
    process.look(looker(source), beginning(request, source))
    process.looks(1)
    process.answer(answers)
    for _ in process.reports():
        pass
    if process.alive:
        process.look((), json.dumps(request | {"what": "show"}))
    sent = process.looks(2)
    if len(sent) < 2:
        where = source.path.name
        raise LimitError("the script ended before it could be looked at", where=where)
    return sent[1]


def beginning(request: dict[str, Any], source: Source) -> str:
    """The first request to a quiz process."""
    keeps_locals = re.search(_GIVES_LOCALS, source.data) is not None
    return json.dumps(request | {"what": "begin", "keeps_locals": keeps_locals})


_GIVES_LOCALS = rb"locals|\bvars\b(?!\s*\(\s*[^\s)])"
"""In the text of a script that may hold the dictionary of a call: `vars` of an object is none."""


def looker(source: Source) -> tuple[bytes, ...]:
    """The code that runs in the quiz process, in order; byte code if its Python is this one."""
    return _compiled() if source.interpreter == OWN else inside()


@cache
def inside() -> tuple[bytes, ...]:
    """The texts of the code that runs in the quiz process, in order."""
    folder = Path(__file__).parent
    names = ("values", "marks", "changes", "tables", "raised", "lines", "plain", "inside")
    return tuple((folder / f"{name}.py").read_bytes() for name in names)


@cache
def _compiled() -> tuple[bytes, ...]:
    """The same as byte code of this interpreter: compiling it takes longer than a look."""
    return tuple(marshal.dumps(compile(text, "<look>", "exec")) for text in inside())


_MOST_LINE = 1000
"""Maximum characters that are kept of a line of the script."""
_MOST_NAMES = 10 * MOST_ITEMS
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
    more: int = 0
    """Number of its variables beyond the first 200, which are left out."""
    skipped: int = 0
    """Number of calls of the script inside it that are left out, as in a deep recursion."""


@dataclass(frozen=True)
class ChangedVariable:
    """A variable whose value is another than at the question before."""

    name: str
    before: str
    after: str
    """`list of 300, changed inside`, say, if its text is the same as before."""
    frame: int | None = None
    """The number of its call, None for the module of the script."""


@dataclass(frozen=True)
class VariableName:
    """Which variable it is."""

    frame: int | None
    """The number of its call, None for the module of the script."""
    name: str


@dataclass(frozen=True)
class VariableChanges:
    """How the variables differ from those at the question before."""

    added: tuple[str, ...]
    changed: tuple[ChangedVariable, ...]
    gone: tuple[str, ...]
    new: tuple[VariableName, ...] = ()
    """Those whose names are added; all variables of a call that began meanwhile are."""


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
class ValuePath:
    """Where a value in sight is: what a script or an expression calls it, and a way into it."""

    frame: int | None
    """The number of the call that its names are of; None for the module of the script."""
    expression: str
    """The name of a variable, or an expression."""
    indexes: tuple[int, ...] = ()
    """Which child of it, which child of that, and so on; each below 100."""


@dataclass(frozen=True)
class ValueTable:
    """A value whose items have columns, as a table: at most 20 columns and 50 rows."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    """Cells of at most 40 characters; those of a table of pandas begin with the index."""
    more_columns: int = 0
    """How many further columns there are."""


@dataclass(frozen=True)
class OpenedValue:
    """What lies in a value."""

    path: ValuePath
    children: tuple[Variable, ...]
    """The first 100; a name is `[0]`, `['key']`, `{0}` (in a set) or `.attribute`."""
    more: int
    """How many further children there are, or rows where it has a table."""
    table: ValueTable | None
    error: str | None
    """Why there is no such value."""


@dataclass(frozen=True)
class RaisedError:
    """An exception, with those that it came from."""

    type: str
    message: str
    notes: tuple[str, ...]
    place: str
    """File and line of the script in which it was raised; empty if there is none."""
    cause: RaisedError | None
    relation: Literal["cause", "context"] | None
    """Whether it was raised from its cause, or while that was handled."""
    group: tuple[RaisedError, ...]
    """The exceptions that it groups."""


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
    """File and number of each line that ran since the previous answer, each once, in its thread."""
    expressions: tuple[Evaluation, ...]
    opened: tuple[OpenedValue, ...]
    error: RaisedError | None
    """The exception that ended the script, if `at` is `error`."""
    names: tuple[str, ...]
    """All names in sight of the chosen frame but for those that are built in, at most 1,000."""
    more_globals: int = 0
    """Number of variables of the module beyond the first 200, which are left out."""

    def to_dict(self) -> dict[str, Any]:
        """The snapshot as plain data for JSON."""
        return asdict(self)


def inspection_from(
    text: str, step: int, source: Source, opened: Sequence[ValuePath] = ()
) -> Inspection:
    """The snapshot that a process sent.

    Args:
        text: What it sent.
        step: The step that it is of.
        source: The script.
        opened: The values whose children were asked for.

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
            _all_opened(opened, data["opened"]),
            _raised(data["error"], source),
            tuple(map(_checked_text, _checked_items(data["names"], _MOST_NAMES))),
            _checked_count(data["more_globals"]),
        )
    except (ValueError, TypeError, KeyError) as error:
        raise unreadable_look("snapshot", step, source) from error


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


def file_path(name: Any, source: Source) -> str:
    """The path of one of the script's files; a name that none of them has stays as it is."""
    file = source.file(_checked_name(name))
    return str(file.path) if file else name


def file_of(path: str, source: Source) -> Source | None:
    """The script's file with a path as `file_path` gives it; None if there is no such file."""
    folder, own = f"{source.path.parent}/", path == str(source.path)
    if own or not path.startswith(folder):
        return source if own else None
    return source.file(path.removeprefix(folder))


def _frame(data: Any, source: Source) -> StackFrame:
    line, file = _checked_count(data["line"]), source.file(_checked_name(data["file"]))
    return StackFrame(
        _checked_name(data["function"]),
        file_path(data["file"], source),
        line,
        clipped(file.line(line)[:_MOST_LINE].strip(), _MOST_LINE - 1) if file else "",
        _variables(data["variables"]),
        _checked_count(data["folded"]),
        _checked_count(data["more"]),
        _checked_count(data["skipped"]),
    )


def _changes(data: Any) -> VariableChanges:
    added, changed, gone, new = (
        _checked_items(data[key], MOST_CHANGES) for key in ("added", "changed", "gone", "new")
    )
    return VariableChanges(
        tuple(map(_checked_name, added)),
        tuple(map(_change, changed)),
        tuple(map(_checked_name, gone)),
        tuple(VariableName(_maybe_count(one["frame"]), _checked_name(one["name"])) for one in new),
    )


def _change(data: Any) -> ChangedVariable:
    before, after = _checked_text(data["before"]), _checked_text(data["after"])
    frame = _maybe_count(data["frame"])
    return ChangedVariable(_checked_name(data["name"]), before, after, frame)


def _lines(data: Any, source: Source) -> Iterator[tuple[str, int]]:
    for name, line in _checked_items(data, MOST_EVENTS):
        yield file_path(name, source), _checked_count(line)


def _evaluation(data: Any) -> Evaluation:
    return Evaluation(
        _checked_text(data["text"], _LONGEST_EXPRESSION),
        None if data["value"] is None else _variable(data["value"]),
        _checked_text(data["stdout"], MOST_PRINTED),
        None if data["error"] is None else _error(data["error"]),
    )


def _all_opened(paths: Sequence[ValuePath], data: Any) -> tuple[OpenedValue, ...]:
    found = _checked_items(data, len(paths))
    return tuple(_opened(path, one) for path, one in zip(paths, found, strict=True))


def _opened(path: ValuePath, data: Any) -> OpenedValue:
    return OpenedValue(
        path,
        tuple(map(_variable, _checked_items(data["children"], MOST_ITEMS))),
        _checked_count(data["more"]),
        None if data["table"] is None else _table(data["table"]),
        None if data["error"] is None else _checked_name(data["error"]),
    )


def _table(data: Any) -> ValueTable:
    rows = (_cells(row) for row in _checked_items(data["rows"], MOST_ROWS))
    return ValueTable(_cells(data["columns"]), tuple(rows), _checked_count(data["more_columns"]))


def _cells(data: Any) -> tuple[str, ...]:
    return tuple(_checked_text(one, MOST_CELL) for one in _checked_items(data, MOST_COLUMNS))


def _raised(data: Any, source: Source, depth: int = MOST_CAUSES) -> RaisedError | None:
    if data is None or not depth:
        return None
    inner = (_raised(one, source, depth - 1) for one in _checked_items(data["group"], MOST_RAISED))
    return RaisedError(
        _checked_name(data["type"]),
        _checked_name(data["message"]),
        tuple(map(_checked_name, _checked_items(data["notes"], MOST_RAISED))),
        _place(data["place"], source),
        _raised(data["cause"], source, depth - 1),
        _RELATIONS[data["relation"]],
        tuple(one for one in inner if one),
    )


_RELATIONS: dict[Any, Literal["cause", "context"] | None] = {
    one: one for one in (None, "cause", "context")
}


def _place(data: Any, source: Source) -> str:
    if data is None:
        return ""
    file, line = _checked_items(data, 2)
    return f"{file_path(file, source)}:{_checked_count(line)}"


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

    @property
    def place(self) -> str:
        """File and function, to show where the text of the line cannot be read."""
        return f"({self.file.rpartition('/')[2]}, {self.function})"

    def text_in(self, file: Source | None) -> str:
        """The text of the line in its file; empty if that cannot be read."""
        return file.line(self.line)[:_MOST_LINE].strip() if file else ""


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
        path = cache(lambda name: file_path(name, source))
        return Trace(step, tuple(_event(one, path) for one in events), truncated)
    except (ValueError, TypeError, KeyError) as error:
        raise unreadable_look("trace", step, source) from error


def _event(data: Any, path: Callable[[Any], str]) -> LineEvent:
    file, line, function, depth, changed = _checked_items(data, 5)
    if type(changed) is not dict:
        raise TypeError("no such changes")
    return LineEvent(
        path(file),
        _checked_count(line),
        _checked_name(function),
        _checked_count(depth, MOST_DEPTH),
        {_checked_name(name): _checked_text(text) for name, text in changed.items()},
    )


_LONGEST_NAME = 8192
"""Maximum characters of a name; that of a file is a path."""


def unreadable_look(what: str, step: int, source: Source) -> ProtocolError:
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
