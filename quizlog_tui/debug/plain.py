"""Evaluates an expression of plain values inside the process of a script that goes on afterwards.

Plain are numbers, texts and built-in collections of them. Their operators and a few functions run
no code of the script and change nothing, so that no copy of the process is needed. Which
expressions are made of these alone is known from their text: see `watching`. Sent to the quiz
process as text, before that of `inside`; what it may import is told there.
"""

from __future__ import annotations

import builtins
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

    from .values import ATOMS, checked, number_of, text_of

# by id: a type's own type may compare and hash with code of the script
_PLAIN_LEAVES = ATOMS | frozenset(map(id, (str, bytes)))
_PLAIN_COLLECTIONS = frozenset(map(id, (list, tuple, set, frozenset, dict)))
_MOST_PARTS = 10_000
"""Maximum number of parts of the values that are looked through."""
_DEEPEST = 8
_KEEPS_LOCALS = frozenset({"locals", "vars", "eval", "exec", "f_locals"})
_functions = dict(vars(builtins))
"""The built-in functions, as they were before the script began."""


def plain_value(code: Any, reads: Any, frame: FrameType | None) -> dict[str, Any] | None:
    """The value of an expression, or its error; None if its values are not plain.

    Args:
        code: The expression.
        reads: The names that it reads: `values`, `sized` (whose length alone is read), and
            `calls`, of functions.
        frame: The call in which it is evaluated; None for the module.
    """
    scope = _scope_of(frame)
    if scope is None or not _are_plain(reads, scope):
        return None
    try:
        value = eval(code, scope, scope)
    except Exception as error:  # of the interpreter's own, as is its text
        return {"text": "", "number": None, "error": told(error, checked(str(error)))}
    if not _is_plain([value]):
        return None
    return {"text": text_of(value), "number": number_of(value), "error": None}


def told(error: BaseException, text: str) -> str:
    """An exception in a line."""
    kind = checked(type(error).__name__)
    return f"{kind}: {text}" if text else kind


def _scope_of(frame: FrameType | None) -> dict[str, Any] | None:
    """The names at a call; None if to read them would change something."""
    if frame is None:
        main: dict[str, Any] = sys.modules["__main__"].__dict__
        return main
    if not frame.f_code.co_flags & 1:  # code of a module or a class has its names in a dictionary
        return {**frame.f_globals, **frame.f_locals}
    if not _KEEPS_LOCALS.isdisjoint(frame.f_code.co_names):
        return None
    own = frame.f_locals
    scope = {**frame.f_globals, **own}
    if type(own) is dict:  # up to 3.12 it is kept with the call, and its values with it
        own.clear()
    return scope


def _are_plain(reads: Any, scope: dict[str, Any]) -> bool:
    known = scope.get("__builtins__")
    if known is not builtins and known is not builtins.__dict__:
        return False
    for name in reads["calls"]:
        if name in scope or vars(builtins).get(name) is not _functions[name]:
            return False
    if any(name not in scope and name in vars(builtins) for name in reads["values"]):
        return False
    sized = [scope[name] for name in reads["sized"] if name in scope]
    values = [scope[name] for name in reads["values"] if name in scope]
    return all(id(type(value)) in _PLAIN_COLLECTIONS for value in sized) and _is_plain(values)


def _is_plain(values: Any) -> bool:
    """Whether these values, and all parts of theirs, are plain."""
    parts, room = list(values), _MOST_PARTS
    for _ in range(_DEEPEST):
        parts = [part for part in parts if id(type(part)) not in _PLAIN_LEAVES]
        if not parts:
            return True
        if not all(id(type(part)) in _PLAIN_COLLECTIONS for part in parts):
            return False
        room -= sum(map(len, parts))
        if room < 0:
            return False
        inner = [one for part in parts for one in part]
        inner += [one for part in parts if type(part) is dict for one in part.values()]
        parts = inner
    return False
