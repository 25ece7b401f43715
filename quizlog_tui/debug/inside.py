"""Looks at a script from inside its process, which is thrown away afterwards.

Sent as text to the quiz process. A module that lies beside the script could be imported in place of
one of the standard library, and the script would see any that is new. So this imports only what the
worker has (its log lists that) and hands out. The script can forge all that is sent from here.
"""

from __future__ import annotations

import _json
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # the texts of these modules are run before this one, in the same names
    from collections.abc import Callable, Iterable, Iterator
    from types import CodeType, FrameType, TracebackType
    from typing import Any

    from .changes import Scope, States, changes_since, state_of
    from .lines import MOST_EVENTS, LinesRun, LineTrace
    from .plain import plain_value, told
    from .raised import RaisedErrors, trace_of
    from .tables import table_of
    from .values import (
        LARGEST,
        MOST_ITEMS,
        MOST_TEXT,
        TooLong,
        attributes_of,
        bounded,
        checked,
        children_of,
        first,
        is_definition,
        locals_of,
        number_of,
        refreshes,
        shut_off,
        text_of,
        timed,
        unreadable,
        variable,
    )

_EXPRESSION_SECONDS = 5.0
"""Seconds of an expression."""
_PLAIN_SECONDS = 0.5
"""Seconds of a plain one; it is evaluated like the others from then on."""

log: Any = globals().get("log")
"""The log of the worker, which runs this text with it."""


class Look:
    """What is known between the requests.

    Attributes:
        request: The last request.
        answer: What is to be sent in answer to it.
        before: What is compared of the variables at the last question.
        trace: The lines that ran since.
        run: The same, each once, and those that went on then.
        codes: The expressions of the requests, compiled.
        late: Those that took too long for a process that goes on.
        keeps_locals: Whether the script may hold the dictionaries of its calls.
    """

    def __init__(self) -> None:
        self.request: dict[str, Any] = {}
        self.answer = ""
        self.before: States = {}
        self.keeps_locals = False
        self.trace = LineTrace(lambda path: log.outcome.files.name(path), self.is_held)
        self.run = LinesRun(lambda path: log.outcome.files.name(path), self.is_held)
        self.codes: dict[str, Any] = {}
        self.late: set[str] = set()

    def is_held(self, code: CodeType) -> bool:
        """Whether the script may hold the dictionary of a call, which a look would refresh."""
        return refreshes(code) and (self.keeps_locals or "locals" in code.co_names)


_look = Look()


def carry_out(request: bytes) -> None:
    """Carry out a request: `begin` notes what there is and watches lines; `show` notes it all."""
    _look.request = _read(request.decode(), 0)[0]
    _look.keeps_locals = _look.request.get("keeps_locals", _look.keeps_locals)
    frames = _own(_stack())
    if _look.request["what"] == "show":
        _note("question", frames)
    elif _look.request["find"] == "lines":
        _look.run.begin([one[0] for one in frames])
    elif _look.request["find"] != "values":
        whole = _look.request["find"] == "trace"
        _look.before = {} if whole else _state(frames)
        _look.trace.begin([one[0] for one in frames], whole=whole)


def answer() -> str:
    """What is to be sent in answer to the last request."""
    return _look.answer


def at_end() -> None:
    """Note it all where the script has ended, with the frames of its exception."""
    error = log.outcome.error
    trace = trace_of(error) if error is not None else None
    _note("end" if error is None else "error", _own(_raised(trace)))


class _Strict:
    """How JSON is read."""

    strict = True
    object_hook = object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = None


_read: Any = _json.make_scanner(_Strict)  # type: ignore[arg-type]
_written: Any = _json.make_encoder(
    None, str, _json.encode_basestring_ascii, None, ": ", ", ", False, False, True
)
"""What `json` reads and writes with."""


def _note(at: str, frames: list[tuple[FrameType, int, int]]) -> None:
    _look.answer = "".join(_written(_found(at, frames), 0))


def _found(at: str, frames: list[tuple[FrameType, int, int]]) -> dict[str, Any]:
    find = _look.request["find"]
    if find == "values":
        return {"values": [_watched(one, frames) for one in _look.request["expressions"]]}
    if find == "lines":
        return {"lines": _lines_run(at, frames)}
    _look.trace.end()
    if find == "trace":
        return {"events": _look.trace.events, "truncated": _look.trace.truncated}
    return _inspected(at, frames)


def _lines_run(at: str, frames: list[tuple[FrameType, int, int]]) -> list[tuple[str, int]]:
    """The lines that ran since the last stop; notes those up to the next one."""
    found = _look.run.end()
    if at == "question":
        _look.run.begin([one[0] for one in frames])
    return found


def _inspected(at: str, frames: list[tuple[FrameType, int, int]]) -> dict[str, Any]:
    depth, frames = len(frames), _fewer(frames)
    return {
        "at": at,
        "frames": _frames(frames, depth - len(frames)),
        "globals": _variables(_globals()),
        "more_globals": _more(_globals()),
        "changed": changes_since(_look.before, _scopes(frames)),
        "lines": list(_look.trace.lines)[:MOST_EVENTS],
        "error": RaisedErrors(_raised_at).describe(log.outcome.error if at == "error" else None),
        "names": _names_in_sight(frames),
        "opened": [_opened(path, frames) for path in _look.request["opened"]],
        "expressions": [_expression(text, frames) for text in _look.request["expressions"]],
    }


# -- the stack


def _stack() -> Iterator[tuple[FrameType, int]]:
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        yield frame, frame.f_lineno
        frame = frame.f_back


def _raised(trace: TracebackType | None) -> list[tuple[FrameType, int]]:
    found = []
    while trace is not None:
        found.append((trace.tb_frame, trace.tb_lineno))
        trace = trace.tb_next
    return found[::-1]


def _raised_at(trace: TracebackType | None) -> list[Any] | None:
    """File and line of the innermost call of the script in a traceback."""
    own = _own(_raised(trace))
    return [_file(own[0][0].f_code.co_filename), own[0][1]] if own else None


def _own(stack: Iterable[tuple[FrameType, int]]) -> list[tuple[FrameType, int, int]]:
    """The script's own frames, innermost first, each with its line and the others inside it."""
    found, folded = [], 0
    for frame, line in stack:
        if _is_own(frame.f_code.co_filename):
            found.append((frame, line, folded))
            folded = 0
        elif not frame.f_code.co_filename.startswith((_WORKER, "<look>")):
            folded += 1
    return found


_WORKER = sys._getframe(1).f_code.co_filename.rpartition("/")[0]


def _fewer(frames: list[tuple[FrameType, int, int]]) -> list[tuple[FrameType, int, int]]:
    """The innermost and outermost calls of a deep recursion; those between are skipped."""
    return frames[:MOST_ITEMS] + frames[MOST_ITEMS:][-MOST_ITEMS:]


def _frames(frames: list[tuple[FrameType, int, int]], skipped: int) -> list[dict[str, Any]]:
    """The calls as data; the outermost but 99 says how many are skipped inside it."""
    found = [_frame(*frame) for frame in frames]
    if skipped:
        found[MOST_ITEMS]["skipped"] = min(skipped, LARGEST)
    return found


def _is_own(path: str) -> bool:
    return log.outcome.files.name(path) is not None


def _file(path: str) -> str:
    """A file's name relative to the script's folder; empty for the script."""
    return log.outcome.files.name(path) or ""


def _frame(frame: FrameType, line: int, folded: int) -> dict[str, Any]:
    return {
        "function": checked(frame.f_code.co_name),
        "file": _file(frame.f_code.co_filename),
        "line": line,
        "folded": folded,
        "skipped": 0,
        "variables": _variables(_shown(frame)),
        "more": _more(_shown(frame)),
    }


def _names(frame: tuple[FrameType, int, int]) -> dict[str, Any]:
    """The variables in a frame, without what a script defines or imports."""
    found = locals_of(frame[0])
    return {name: value for name, value in found.items() if not is_definition(name, value)}


def _used(frame: FrameType) -> dict[str, Any]:
    """The variables of a call, and those of its module that its code names."""
    return _used_of_module(frame) | _names((frame, 0, 0))


def _used_of_module(frame: FrameType) -> dict[str, Any]:
    """The variables of a call's module that its code names."""
    module = frame.f_globals
    named = {name: module[name] for name in frame.f_code.co_names if name in module}
    return {k: value for k, value in named.items() if not is_definition(k, value)}


def _globals() -> dict[str, Any]:
    """The variables of the script itself."""
    return _variables_in(sys.modules["__main__"].__dict__)


def _variables_in(module: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in dict(module).items() if not is_definition(name, value)}


def _shown(frame: FrameType) -> dict[str, Any]:
    """The variables shown with a call: not those of the script itself, which stand apart."""
    if frame.f_globals is not sys.modules["__main__"].__dict__:
        return _used(frame)
    return {} if frame.f_locals is frame.f_globals else _names((frame, 0, 0))


def _state(frames: list[tuple[FrameType, int, int]]) -> States:
    """What is compared later of the script, of its other files and of its calls."""
    found: States = {_SCRIPT: state_of(_globals())}
    for at, names in _modules(frames).items():
        found["module", at] = state_of(_variables_in(names))
    for frame, *_ in _fewer(frames):
        if not _look.is_held(frame.f_code) and frame.f_locals is not frame.f_globals:
            found["call", id(frame)] = state_of(_names((frame, 0, 0)))
    return found


_SCRIPT = ("script", 0)


def _modules(frames: list[tuple[FrameType, int, int]]) -> dict[int, dict[str, Any]]:
    """The names of the script's other files, and of what else its calls are in, each once."""
    found = {id(one[0].f_globals): one[0].f_globals for one in frames}
    for one in list(sys.modules.values()):
        names = attributes_of(one) if type(one) is type(sys) else {}
        if type(names.get("__file__")) is str and _is_own(names["__file__"]):
            found[id(names)] = names
    found.pop(id(sys.modules["__main__"].__dict__), None)
    return found


def _scopes(frames: list[tuple[FrameType, int, int]]) -> Iterator[Scope]:
    """The variables that are shown, innermost first, each with the place that has it."""
    yield None, _SCRIPT, _globals()
    for number, (frame, *_) in enumerate(frames):
        in_call = frame.f_locals is not frame.f_globals
        new = id(frame) not in _look.trace.under_way
        place = ("new call" if new else "call", id(frame))
        if in_call and (new or place in _look.before):  # else it was folded or held then
            yield number, place, _names((frame, 0, 0))
        if frame.f_globals is not sys.modules["__main__"].__dict__:
            names = _used_of_module(frame) if in_call else _used(frame)
            yield number, ("module", id(frame.f_globals)), names


def _variables(names: dict[str, Any]) -> list[dict[str, Any]]:
    return [variable(name, value) for name, value in list(names.items())[: 2 * MOST_ITEMS]]


def _more(names: dict[str, Any]) -> int:
    """How many variables are left out."""
    return min(max(len(names) - 2 * MOST_ITEMS, 0), LARGEST)


def _names_in_sight(frames: list[tuple[FrameType, int, int]]) -> list[str]:
    """All names that code of the chosen call can use, but for those that are built in."""
    scope = _scope(frames, _look.request["frame"])[0]
    found = {name for name in list(scope) if type(name) is str and len(name) <= MOST_TEXT}
    return sorted(name for name in found if name.isidentifier())[: 10 * MOST_ITEMS]


# -- values that are opened


def _opened(
    path: tuple[int | None, str, list[int]], frames: list[tuple[FrameType, int, int]]
) -> dict[str, Any]:
    """What lies in a value: children, how many more (or more rows) there are, its table."""
    at, text, indexes = path
    found: dict[str, Any] = {"children": [], "more": 0, "table": None, "error": None}
    try:
        value = _inner(_reached(at, text, frames), indexes)
    except BaseException as error:
        return found | {"error": _message(error)}
    size, children = children_of(value)
    found["children"] = [variable(*one) for one in first(children, MOST_ITEMS)]
    table = table_of(value)
    more = max(min(size - len(found["children"]), LARGEST), 0)
    return found | {"more": table.pop("more") if table else more, "table": table}


def _reached(at: int | None, text: str, frames: list[tuple[FrameType, int, int]]) -> Any:
    """The value of an expression, whose code asks nobody and prints nothing."""
    if at is not None and not 0 <= at < max(len(frames), 1):
        raise _NoSuchValue(f"there is no frame {at}")
    scope = _scope(frames if at is not None else [], at or 0)[0]
    restore = shut_off([])
    try:
        code = compile(text.strip(), "<expression>", "eval")
        return timed(lambda: eval(code, scope), _EXPRESSION_SECONDS)
    finally:
        restore()


def _inner(value: Any, indexes: list[int]) -> Any:
    """The child of a child of a value."""
    for index in indexes:
        found = first(children_of(value)[1], index + 1)
        if index >= len(found):
            raise _NoSuchValue(f"there is no child {index}")
        value = found[index][1]
    return value


class _NoSuchValue(Exception):
    """A path leads to no value."""


# -- expressions


def _watched(
    expression: dict[str, Any], frames: list[tuple[FrameType, int, int]]
) -> dict[str, Any] | None:
    """The value of an expression at one of several stops.

    None if it might change what later ones show, or takes long, in a process that goes on.
    """
    text, reads = expression["text"], expression["reads"]
    if not _look.request["goes_on"]:
        found = _expression(text, frames, _noted)
        error = found["error"] and found["error"]["message"]
        return found["value"] or {"text": "", "number": None, "error": error}
    frame = frames[0][0] if frames else None
    held = frame is not None and _look.is_held(frame.f_code)
    if reads is None or held or text in _look.late:
        return None
    try:
        value: dict[str, Any] | None = timed(
            lambda: plain_value(text, reads, _look.codes, frame), _PLAIN_SECONDS
        )
    except TooLong:
        _look.late.add(text)
        return None
    return value


def _noted(value: Any) -> dict[str, Any]:
    return {"text": text_of(value), "number": number_of(value), "error": None}


def _expression(
    text: str,
    frames: list[tuple[FrameType, int, int]],
    described: Callable[[Any], dict[str, Any]] = lambda value: variable("", value),
) -> dict[str, Any]:
    """The value of an expression in the chosen frame, or what a statement prints or raises."""
    written: list[str] = []
    scope, names = _scope(frames, _look.request["frame"])
    value, error = None, None
    restore = shut_off(written)
    try:
        value = timed(lambda: _value(text, scope, names, described), _EXPRESSION_SECONDS)
    except BaseException as raised:
        error = {"message": _message(raised), "line": _line_in(raised)}
    finally:
        restore()
    return {"text": text, "value": value, "stdout": "".join(written), "error": error}


def _scope(frames: list[tuple[FrameType, int, int]], at: int) -> tuple[Any, Any]:
    if not frames:
        main = sys.modules["__main__"].__dict__
        return main, main
    frame = frames[min(max(at, 0), len(frames) - 1)][0]  # quizlog refuses any other
    if frame.f_locals is frame.f_globals:
        return frame.f_globals, frame.f_globals
    # one dictionary, as a comprehension in an expression sees no others
    both = {**frame.f_globals, **locals_of(frame)}
    return both, both


def _value(
    text: str, scope: Any, names: Any, described: Callable[[Any], dict[str, Any]]
) -> dict[str, Any] | None:
    try:
        code = compile(text.strip(), "<expression>", "eval")
    except SyntaxError:
        exec(compile(text, "<expression>", "exec"), scope, names)
        return None
    return described(eval(code, scope, names))


def _message(error: BaseException) -> str:
    if type(error) is TooLong:
        return f"it takes longer than {_EXPRESSION_SECONDS:g} seconds"
    if type(error) is _NoSuchValue:
        return str(error)
    return told(error, bounded(lambda: checked(str(error)), unreadable))


def _line_in(error: BaseException) -> int | None:
    """The line of the expression's text at which it failed."""
    if issubclass(type(error), SyntaxError):
        return _line(vars(SyntaxError)["lineno"].__get__(error))
    line, trace = None, trace_of(error)
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == "<expression>":
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _line(number: Any) -> int | None:
    """The number of a line that the script may have made up."""
    return number if type(number) is int and 0 <= number <= LARGEST else None
