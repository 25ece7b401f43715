"""What holds at every stop of a run: the values of expressions, and the lines that ran before.

One process, which is thrown away, goes through all answers and is looked at in each stop. In it are
evaluated expressions whose text and values are `plain`. Any other might change what later stops
show; it is evaluated in a copy, or where none can be made, in a run of its own up to there.
"""

from __future__ import annotations

import ast
import json
import time
from collections import defaultdict
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from typing import Any

from ..errors import LimitError, UsageError
from ..replay.process.process import Limits, QuizProcess
from ..replay.process.protocol import read_json
from ..replay.script.source import Source
from ..replay.world import World
from ..syntax import UNREADABLE, parse_expression
from ..text import clipped, one_line
from .inspection import beginning, file_path, looker, looking, unreadable_look
from .lines import MOST_EVENTS
from .values import LARGEST, LARGEST_VALUE, MOST_TEXT

Progress = Callable[[int, int], None]
"""Told how many stops are done, of how many at most."""
_LONGEST_ERROR = 8192
_PATIENCE, _PATIENCE_A_STOP = 5.0, 0.05
"""Seconds that an expression may take in all, and for each stop besides; then it is given up."""
_ENDED = "the script ended before it could be looked at"
_GIVEN_UP = "given up: it took too long at the steps before"


@dataclass(frozen=True)
class WatchedValue:
    """The value of an expression at a step."""

    text: str
    """In one line of at most 200 characters; empty where there is an error."""
    number: int | float | None
    """The same as a number, if it is one and finite."""
    error: str | None
    """Why there is none, as `NameError: name 'x' is not defined`."""


@dataclass(frozen=True)
class WatchedStep:
    """The values of several expressions at a step."""

    step: int
    values: tuple[WatchedValue, ...]


@dataclass(frozen=True)
class Watched:
    """The values of several expressions at each step of a run."""

    expressions: tuple[str, ...]
    steps: tuple[WatchedStep, ...]

    def to_dict(self) -> dict[str, Any]:
        """The values as plain data for JSON."""
        steps = [asdict(step) for step in self.steps]
        return {"expressions": list(self.expressions), "steps": steps}


class StopWalk:
    """A process on its way through all stops of a run; another thread may cancel it.

    Args:
        source: The script.
        world: The world of the script.
        limits: Bounds on the script.
        answers: The answers, in order. The run may end before it has used all of them.
    """

    def __init__(
        self, source: Source, world: World, limits: Limits, answers: Sequence[str]
    ) -> None:
        self.source = source
        self.answers = answers
        self._world = world
        self._limits = limits
        self._running: list[QuizProcess] = []
        self._over = False

    def cancel(self) -> None:
        """Make the walk raise `CancelledError` soon."""
        self._over = True
        for process in list(self._running):
            process.cancel()

    def looks(self, request: dict[str, Any]) -> Generator[str | None]:
        """What the process sends at each stop; None if it died before it could.

        Args:
            request: What it is asked for; see `inside`.

        Raises:
            LimitError: The script, or a look at it, exceeded a limit.
            ProtocolError: The script tampered with what is sent.
            CancelledError: The walk was cancelled.
        """
        try:
            process = self._at(0, request)
            for step in range(len(self.answers) + 1):
                if process.spoiled:  # by what an expression wrote
                    self._end()
                    process = self._at(step, request)
                elif step:
                    _go_on(process, self.answers[step - 1 : step], request)
                yield _sent(process)
                if not process.alive:
                    return
        finally:
            self._end()

    def apart(self, step: int, request: dict[str, Any]) -> tuple[str | None, float]:
        """What another process sends at the stop at which the walk is, and the seconds it takes."""
        try:
            process = self._copy(request) or self._at(step, request)
            began = time.monotonic()
            return _sent(process), time.monotonic() - began
        finally:
            self._end(1)

    def _copy(self, request: dict[str, Any]) -> QuizProcess | None:
        """A copy of the process where it waits, to be looked at; None if none can be made."""
        process = self._running[0]
        copy = process.copy() if process.alive and not process.spoiled else None
        if copy is None:
            return None
        self._running.append(copy)
        if not copy.settle():
            return None
        copy.look((), _shown(request))
        return copy

    def _at(self, step: int, request: dict[str, Any]) -> QuizProcess:
        """A process of its own at a stop or after its end, looked at there."""
        process = QuizProcess.start(self.source, self._world, self._limits, waits=True)
        self._running.append(process)
        if self._over:
            process.cancel()
        process.look(looker(self.source), beginning(request, self.source))
        _sent(process)
        if step:
            _go_on(process, ())
        if process.alive:
            _go_on(process, self.answers[:step], request)
        return process

    def _end(self, kept: int = 0) -> None:
        """End all processes except the first ones."""
        while len(self._running) > kept:
            self._running.pop().release()


def _go_on(
    process: QuizProcess, answers: Sequence[str], request: dict[str, Any] | None = None
) -> None:
    """Bring a process to its next stop; to look at it there is asked for at once, not later."""
    process.answer(answers)
    if request is not None:
        process.look((), _shown(request))
    for _ in process.reports():
        pass


def _shown(request: dict[str, Any]) -> str:
    return json.dumps(request | {"what": "show"})


def _sent(process: QuizProcess) -> str | None:
    """What a process sends of a look, or sent at its end."""
    found = process.looks(1)
    return found.pop() if found else None


# -- values


def watched(
    walk: StopWalk, expressions: Sequence[str], progress: Progress = lambda done, of: None
) -> Watched:
    """The values of expressions at each stop, in the innermost call of the script.

    None of them changes what another one, or a later stop, shows.

    Args:
        walk: Has not begun.
        expressions: The expressions.
        progress: Told how many stops are done, of how many at most.

    Raises:
        UsageError: One of them is no expression.
        LimitError: The script exceeded a limit.
        ProtocolError: It tampered with what is sent.
        CancelledError: The walk was cancelled.
    """
    request = _request([{"text": text, "reads": reads_of(text)} for text in expressions])
    apart, steps = _Apart(walk), list[WatchedStep]()
    with looking(), closing(walk.looks(request)) as stops:
        for step, sent in enumerate(stops):
            found = _values(sent, len(expressions), step, walk.source)
            pairs = zip(expressions, found, strict=True)
            values = tuple(value or apart.value(step, text) for text, value in pairs)
            steps.append(WatchedStep(step, values))
            progress(len(steps), len(walk.answers) + 1)
    return Watched(tuple(expressions), tuple(steps))


def _request(expressions: Sequence[dict[str, Any]], *, goes_on: bool = True) -> dict[str, Any]:
    return {"find": "values", "frame": 0, "expressions": expressions, "goes_on": goes_on}


class _Apart:
    """Evaluates expressions in processes of their own, as long as they do not take too long."""

    def __init__(self, walk: StopWalk) -> None:
        self._walk = walk
        self._seconds: defaultdict[str, float] = defaultdict(float)

    def value(self, step: int, text: str) -> WatchedValue:
        """The value of an expression at the stop at which the walk is."""
        if self._seconds[text] > _PATIENCE + step * _PATIENCE_A_STOP:
            return _failed(_GIVEN_UP)
        request = _request([{"text": text, "reads": None}], goes_on=False)
        began = time.monotonic()
        try:
            sent, seconds = self._walk.apart(step, request)
        except LimitError as error:
            self._seconds[text] += time.monotonic() - began
            return _failed(f"the look was ended: {error.message}")
        self._seconds[text] += seconds
        [found] = _values(sent, 1, step, self._walk.source)
        return found or _failed(_ENDED)


def _failed(why: str) -> WatchedValue:
    return WatchedValue("", None, clipped(why, MOST_TEXT))


def _values(
    sent: str | None, count: int, step: int, source: Source
) -> tuple[WatchedValue | None, ...]:
    """The values that a process sent, None for each that it did not evaluate."""
    if sent is None:
        return (_failed(_ENDED),) * count
    try:
        found = read_json(sent)["values"]
        if type(found) is not list or len(found) != count:
            raise TypeError("no such values")
        return tuple(None if one is None else _value(one) for one in found)
    except (ValueError, TypeError, KeyError) as error:
        raise unreadable_look("values", step, source) from error


def _value(data: Any) -> WatchedValue:
    text, number, error = data["text"], data["number"], data["error"]
    if error is not None:
        if type(error) is not str or len(error) > _LONGEST_ERROR:
            raise TypeError("no such error")
        return _failed(error)
    if type(text) is not str or len(text) > MOST_TEXT:
        raise TypeError("no such text")
    if number is not None and (
        type(number) not in (int, float) or not -LARGEST_VALUE < number < LARGEST_VALUE
    ):
        raise TypeError("no such number")
    return WatchedValue(text, number, None)


# -- what is plain


_NODES = (
    ast.Expression, ast.Constant, ast.Name, ast.Load, ast.Tuple, ast.List, ast.Set, ast.Dict,
    ast.UnaryOp, ast.UAdd, ast.USub, ast.Not, ast.BoolOp, ast.And, ast.Or, ast.IfExp,
    ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.BitAnd, ast.BitOr,
    ast.BitXor, ast.RShift, ast.Compare, ast.cmpop, ast.Subscript, ast.Slice, ast.keyword,
    ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.comprehension, ast.Store,
)  # fmt: skip
"""What runs no code of the script where values are plain, and ends soon: no powers, one loop."""
_FUNCTIONS = frozenset({
    "abs", "all", "any", "bool", "dict", "divmod", "float", "frozenset", "int", "len", "list",
    "max", "min", "repr", "round", "set", "sorted", "str", "sum", "tuple",
})  # fmt: skip
_METHODS = frozenset({
    "count", "endswith", "find", "get", "index", "isdigit", "join", "lower", "split", "startswith",
    "strip", "upper",
})  # fmt: skip


def reads_of(text: str) -> dict[str, list[str]] | None:
    """What an expression reads if its text is plain, as `plain.plain_value` asks for; else None.

    Raises:
        UsageError: It is no expression.
    """
    found = _Reads()
    try:
        found.visit(check_expression(text))
    except RecursionError:
        return None
    if not found.plain:
        return None
    return {"values": [*found.values], "sized": [*found.sized], "calls": [*found.calls]}


def is_expression(text: str) -> bool:
    """Whether a text is an expression."""
    try:
        check_expression(text)
    except UsageError:
        return False
    return True


def check_expression(text: str) -> ast.Expression:
    """Parse an expression.

    Raises:
        UsageError: It is none.
    """
    try:
        return parse_expression(text.strip())
    except UNREADABLE as error:
        at = f" at character {error.offset}" if isinstance(error, SyntaxError) else ""
        said = error.msg if isinstance(error, SyntaxError) else error
        where = clipped(one_line(text), MOST_TEXT)
        raise UsageError(f"not an expression: {said}{at}", where=where) from error


class _Reads(ast.NodeVisitor):
    """What an expression reads, and whether it is plain."""

    def __init__(self) -> None:
        self.values: set[str] = set()
        self.sized: set[str] = set()
        self.calls: set[str] = set()
        self.plain = True
        self._loops = 0

    def generic_visit(self, node: ast.AST) -> None:
        self.plain = self.plain and isinstance(node, _NODES)
        super().generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        self.values.add(node.id)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        path = _path(node)
        self.plain = self.plain and path is not None
        self.values |= {path} if path else set()

    def visit_comprehension(self, node: ast.comprehension) -> None:
        self._loops += 1
        self.plain = self.plain and self._loops == 1 and not node.is_async
        super().generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        read: list[ast.expr | ast.keyword] = [*node.args, *node.keywords]
        match node.func:
            case ast.Name("len") if len(read) == 1 and (path := _path(read[0])):
                self.calls.add("len")
                self.sized.add(path)
                return
            case ast.Name(name) if name in _FUNCTIONS:
                self.calls.add(name)
            case ast.Attribute(value, name) if name in _METHODS:
                read.append(value)
            case _:
                self.plain = False
        for one in read:
            self.visit(one)


def _path(node: ast.AST) -> str | None:
    """A name with attributes, as `game.player.items`; None for anything else."""
    match node:
        case ast.Name(name):
            return name
        case ast.Attribute(value, name) if path := _path(value):
            return f"{path}.{name}"
    return None


# -- lines


def lines_run(walk: StopWalk) -> dict[tuple[str, int], list[int]]:
    """The steps at which each line of the script's files ran: before their questions, as `trace`.

    Args:
        walk: Has not begun.

    Returns:
        Steps by file and line.

    Raises:
        As `watched`.
    """
    steps: dict[tuple[str, int], list[int]] = {}
    with looking(), closing(walk.looks({"find": "lines"})) as stops:
        for step, sent in enumerate(stops):
            for place in _lines(sent, step, walk.source):
                steps.setdefault(place, []).append(step)
    return steps


def _lines(sent: str | None, step: int, source: Source) -> list[tuple[str, int]]:
    """The lines that a process sent; none if it died before."""
    if sent is None:
        return []
    try:
        found = read_json(sent)["lines"]
        if type(found) is not list or len(found) > MOST_EVENTS:
            raise TypeError("no such lines")
        return list(dict.fromkeys(_place(name, line, source) for name, line in found))
    except (ValueError, TypeError, KeyError) as error:
        raise unreadable_look("lines", step, source) from error


def _place(name: Any, line: Any, source: Source) -> tuple[str, int]:
    if type(line) is not int or not 0 <= line <= LARGEST:
        raise TypeError("no such line")
    return file_path(name, source), line
