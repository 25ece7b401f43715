"""Evaluates an expression of plain values inside the process of a script that goes on afterwards.

Plain are numbers, texts and built-in collections of them, also as attributes of objects. Their
operators and a few functions run no code of the script and change nothing, so that no copy of the
process is needed. Which expressions are made of these alone is known from their text: see
`watching`. Sent to the quiz process as text, before that of `inside`; what it may import is told
there.
"""

from __future__ import annotations

import builtins
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import FrameType
    from typing import Any

    from .values import ATOMS, checked, kind_of, name_of, number_of, text_of

_PLAIN_LEAVES: frozenset[type] = ATOMS | {str, bytes}
_PLAIN_COLLECTIONS: frozenset[type] = frozenset((list, tuple, set, frozenset, dict))
_MOST_PARTS = 10_000
"""Maximum number of parts of the values that are looked through."""
_DEEPEST = 8
_KEEPS_LOCALS = frozenset({"locals", "vars", "eval", "exec", "f_locals"})
_classes_of: Any = type.__dict__["__mro__"].__get__
_names_of: Any = type.__dict__["__dict__"].__get__
_OWN_NAMES = type.__dict__["__dict__"]
_GETTER = type(_OWN_NAMES)
"""How the dictionaries of classes and objects are found."""
_functions = dict(vars(builtins))
"""The built-in functions, as they were before the script began."""


def plain_value(
    text: str, reads: Any, codes: dict[str, Any], frame: FrameType | None
) -> dict[str, Any] | None:
    """The value of an expression, or its error; None if it or one of its values is not plain.

    Args:
        text: The expression.
        reads: What it reads, by names with attributes: `values`, `sized` (whose length alone is
            read), and `calls`, of functions.
        codes: Expressions that are compiled.
        frame: The call in which it is evaluated; None for the module.
    """
    scope = _scope_of(frame)
    if scope is None or not _are_plain(reads, scope):
        return None
    try:
        if text not in codes:
            codes[text] = compile(text.strip(), "<expression>", "eval")
        value = eval(codes[text], scope, scope)
    except Exception as error:  # of the interpreter's own, as is its text
        return {"text": "", "number": None, "error": told(error, checked(str(error)))}
    if not _is_plain([value]):
        return None
    return {"text": text_of(value), "number": number_of(value), "error": None}


def told(error: BaseException, text: str) -> str:
    """An exception in a line."""
    kind = name_of(type(error))
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
    try:
        sized = [_value_read(path, scope) for path in reads["sized"]]
        values = [_value_read(path, scope) for path in reads["values"]]
    except LookupError:
        return False
    return _are_of(_PLAIN_COLLECTIONS, sized) and _is_plain(values)


def _value_read(path: str, scope: dict[str, Any]) -> Any:
    """What a name with attributes means; an empty list for a name that nothing has.

    Raises:
        LookupError: It takes code of the script to find it.
    """
    name, *attributes = path.split(".")
    if name not in scope:
        if name in vars(builtins):
            raise LookupError
        return []
    value = scope[name]
    for attribute in attributes:
        value = _plain_attribute(value, attribute)
    return value


def _plain_attribute(value: Any, name: str) -> Any:
    """An attribute in the dictionary of an object, or the plain one of its class.

    Raises:
        LookupError: There is none, or code of the script may stand in its place.
    """
    found: list[Any] = []
    for kind in _classes_of(type(value))[:-1]:
        own = _names_of(kind)
        if "__getattribute__" in own or type(own.get("__dict__", _OWN_NAMES)) is not _GETTER:
            raise LookupError
        found += [own[name]] if name in own else []
    if not _are_of(_PLAIN_LEAVES | _PLAIN_COLLECTIONS, found):
        raise LookupError
    try:
        held = object.__getattribute__(value, "__dict__")
    except AttributeError:  # it has slots alone
        held = {}
    if type(held) is not dict:
        raise LookupError
    return held[name] if name in held else found[0]


def _is_plain(values: Any) -> bool:
    """Whether these values, and all parts of theirs, are plain."""
    parts, room = list(values), _MOST_PARTS
    for _ in range(_DEEPEST):
        parts = [part for part in parts if kind_of(part) not in _PLAIN_LEAVES]
        if not parts:
            return True
        if not _are_of(_PLAIN_COLLECTIONS, parts):
            return False
        room -= sum(map(len, parts))
        if room < 0:
            return False
        inner = [one for part in parts for one in part]
        inner += [one for part in parts if type(part) is dict for one in part.values()]
        parts = inner
    return False


def _are_of(kinds: frozenset[type], values: Iterable[Any]) -> bool:
    """Whether the type of each value is one of these."""
    return kinds.issuperset(map(kind_of, values))
