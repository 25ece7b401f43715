"""Describes values of a script, inside its process: short texts, and what lies in a value.

No code of the script is run for it but `__repr__`, which may neither ask, end nor take long.
Sent to the quiz process as text, before that of `inside`; what it may import is told there.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import builtins
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import CodeType, FrameType
    from typing import Any

MOST_TEXT = 200
"""Maximum characters of the text of a value."""
MOST_ITEMS = 100
_MOST_LEVELS, _MARGIN = 4, 20
"""Levels of nesting in a text, and room for their brackets."""
LARGEST = 2**31 - 1
"""Maximum of a number that is sent: of items, of a line, of calls."""
LARGEST_VALUE = 1e300
"""Larger values of a script, and those below its negative, have no number that is sent."""
MOST_DIMENSIONS = 64
MOST_PRINTED = 100_000
"""Maximum characters that are kept of what an expression prints."""
_REPR_SECONDS = 0.5
"""Seconds of a value's own `__repr__`."""


def variable(name: str, value: Any) -> dict[str, Any]:
    """A variable as data."""
    return {
        "name": checked(name),
        "type": type_name(type(value)),
        "text": text_of(value),
        "size": size_of(value),
        "shape": shape_of(value),
        "children": min(children_of(value)[0], LARGEST),
    }


def size_of(value: Any) -> int | None:
    """Number of items or characters of a built-in collection or text."""
    return min(len(value), LARGEST) if kind_of(value) in _SIZED else None


def type_name(kind: type) -> str:
    """The name of a type, after that of its module if it is no built-in one."""
    name, module = checked(_QUALNAME(kind)), _module_of(kind)
    return name if module == "builtins" else f"{module}.{name}"


def name_of(kind: type) -> str:
    """The name of a type alone, whatever its metaclass says."""
    return checked(_NAME(kind))


def _module_of(kind: type) -> str:
    try:
        return checked(_MODULE(kind))
    except (AttributeError, TypeError):  # the script deleted or replaced it
        return "?"


_MODULE, _NAME, _QUALNAME, MRO, _NAMES = (
    type.__dict__[f"__{name}__"].__get__ for name in ("module", "name", "qualname", "mro", "dict")
)
"""What a type is and holds, whatever its metaclass says."""
COLLECTIONS = (list, tuple, dict, set, frozenset)
_NESTED = frozenset(COLLECTIONS)
_SIZED = _NESTED | {str, bytes, bytearray}
ATOMS: frozenset[type] = frozenset((int, float, complex, bool, type(None)))
"""Types without parts, whose texts are made without code of the script."""
_CHILDLESS = ATOMS | {str, bytes, bytearray, range}


def kind_of(value: Any) -> type:
    """A value's type; `object` for one whose metaclass may compare types by code of its own."""
    kind = type(value)
    return kind if type(kind) is type else object


def first(items: Iterable[Any], most: int) -> list[Any]:
    """The first items of a collection, of which no more are made."""
    found: list[Any] = []
    for one in items:
        if len(found) >= most:
            break
        found.append(one)
    return found


def is_plain(value: Any) -> bool:
    """Whether a value is a number, a text or alike, which nothing lies in."""
    return kind_of(value) in _CHILDLESS


# -- what lies in a value


def children_of(value: Any) -> tuple[int, Iterator[tuple[str, Any]]]:
    """How many values lie in a value, and these with their names, without any code of its own.

    Those of a collection are its items, as its built-in base class has them; those of an object
    its attributes and slots; those of an array its rows, of a table its columns.
    """
    if is_plain(value):
        return 0, iter(())
    if form := array_form(value):
        return _parts_of_array(value, form)
    size, items = _items_of(value)
    slots, names = slots_of(value), attributes_of(value)
    if not slots and not names:
        return size, items
    return size + len(slots) + len(names), _joined(items, slots, names)


def _joined(
    items: Iterator[tuple[str, Any]], slots: dict[str, Any], names: dict[Any, Any]
) -> Iterator[tuple[str, Any]]:
    yield from items
    for attributes in (slots, names):
        for name, one in attributes.items():
            yield f".{_attribute(name)}", one


def _attribute(name: Any) -> str:
    return checked(name) if issubclass(type(name), str) else text_of(name)


def _items_of(value: Any) -> tuple[int, Iterator[tuple[str, Any]]]:
    """The items of a collection, of a subclass too."""
    kind = type(value)
    base = next((one for one in COLLECTIONS if issubclass(kind, one)), None)
    if base is None:
        return 0, iter(())
    named: dict[Any, Any] = {list: _numbered, tuple: _fields_of, dict: _keyed}
    return base.__len__(value), named.get(base, _members_of)(value)


def _numbered(value: list[Any]) -> Iterator[tuple[str, Any]]:
    return ((f"[{at}]", one) for at, one in enumerate(list.__iter__(value)))


def _keyed(value: dict[Any, Any]) -> Iterator[tuple[str, Any]]:
    return ((f"[{text_of(key)}]", one) for key, one in dict.items(value))


def _members_of(value: Any) -> Iterator[tuple[str, Any]]:
    base: Any = set if issubclass(type(value), set) else frozenset
    return ((f"{{{at}}}", one) for at, one in enumerate(base.__iter__(value)))


def _fields_of(value: tuple[Any, ...]) -> Iterator[tuple[str, Any]]:
    """The items of a tuple, with the names of a named one."""
    lists = (own_names(base).get("_fields") for base in MRO(type(value)))
    fields = next((one for one in lists if one is not None), ())
    named = type(fields) is tuple and len(fields) == tuple.__len__(value)
    for at, one in enumerate(tuple.__iter__(value)):
        yield (f".{_attribute(fields[at])}" if named else f"[{at}]"), one


def own_names(kind: type) -> dict[str, Any]:
    """What a class itself holds."""
    return {name: one for name, one in _NAMES(kind).items() if type(name) is str}


def attributes_of(value: Any) -> dict[Any, Any]:
    """The attributes that an object has itself, whatever its class says of them."""
    return in_place(place_of_attributes(type(value)), value)


def in_place(place: Any, value: Any) -> dict[Any, Any]:
    """The attributes of an object at the place that its class has for them."""
    found = None if place is None else place.__get__(value)
    return found if type(found) is dict else {}


def place_of_attributes(kind: type) -> Any:
    """Where the objects of a class have their attributes; None if they have none."""
    places = (own_names(base).get("__dict__") for base in MRO(kind))
    return next((one for one in places if type(one) in _PLACES), None)


def slots_of(value: Any) -> dict[str, Any]:
    """The attributes of an object that lie in slots, and have a value."""
    return in_slots(slots_in(type(value)), value)


def in_slots(slots: list[tuple[str, Any]], value: Any) -> dict[str, Any]:
    """The attributes of an object in these slots; of equal names the first that has a value."""
    found: dict[str, Any] = {}
    for name, place in slots:
        if name not in found:
            found |= _in_slot(name, place, value)
    return found


def slots_in(kind: type) -> list[tuple[str, Any]]:
    """Names and places of the slots of a class."""
    lists = [names for names in map(own_names, MRO(kind)) if "__slots__" in names]
    return [one for names in lists for one in names.items() if type(one[1]) is _PLACES[1]]


def _in_slot(name: str, place: Any, value: Any) -> dict[str, Any]:
    try:
        return {name: place.__get__(value)}
    except (AttributeError, TypeError):  # it has no value, or is of another class
        return {}


_PLACES = [type(vars(kind)["__dict__"]) for kind in (type, type(sys))]
"""How C code gives what lies in an object: by a function, at an offset."""


# -- arrays and tables of libraries


def array_form(value: Any) -> str:
    """`ndarray`, `DataFrame` or `Series` if a value is one, else empty; imports no library."""
    kind = type(value)
    if _module_of(kind).partition(".")[0] not in _LIBRARIES:
        return ""
    for module, name in (("numpy", "ndarray"), ("pandas", "DataFrame"), ("pandas", "Series")):
        library = sys.modules.get(module)
        if type(library) is type(sys) and attributes_of(library).get(name) is kind:
            return name
    return ""


_LIBRARIES = ("numpy", "pandas")


def shape_of(value: Any) -> list[int] | None:
    """The shape of an array or a table of a library."""
    if _module_of(type(value)).partition(".")[0] not in _LIBRARIES:
        return None
    shape = bounded(lambda: tuple(value.shape), lambda _: None)
    plain = type(shape) is tuple and len(shape) <= MOST_DIMENSIONS
    sizes = plain and all(type(one) is int and 0 <= one <= LARGEST for one in shape)
    return list(shape) if sizes else None


def _parts_of_array(value: Any, form: str) -> tuple[int, Iterator[tuple[str, Any]]]:
    """The rows of an array, the items of a series, the columns of a table."""
    shape = shape_of(value)
    if not shape or (form == "DataFrame" and len(shape) != 2):
        return 0, iter(())
    size = shape[1 if form == "DataFrame" else 0]
    return size, _array_items(value, form, min(size, MOST_ITEMS))


def _array_items(value: Any, form: str, size: int) -> Iterator[tuple[str, Any]]:
    def partly(at: int) -> Callable[[], Any]:
        return lambda: _part(value, form, at)

    names: list[Any] = list(range(size))
    if form == "DataFrame":
        names = bounded(lambda: list(value.columns[:size]), lambda _: names)
    for at, name in enumerate(names):
        yield f"[{cell_of(name)}]", bounded(partly(at), unreadable)


def _part(value: Any, form: str, at: int) -> Any:
    if form == "ndarray":
        return value[at]
    return value.iloc[:, at] if form == "DataFrame" else value.iloc[at]


def _array_text(value: Any, form: str) -> str:
    """Type, shape and first items of an array, shape and columns of a table."""
    shape = shape_of(value)
    first = bounded(lambda: _first_items(value, form), lambda _: None)
    if shape is None or first is None:
        return "<it cannot be read>"
    kind, items = first
    facts = " ".join(part for part in (kind, " x ".join(map(str, shape))) if part)
    size = shape[1] if form == "DataFrame" and len(shape) == 2 else _product(shape)
    more = ["…"] if len(items) < size else []
    between = ", " if form == "DataFrame" else " "
    return f"{facts}: {between.join([cell_of(one) for one in items] + more)}"


def _first_items(value: Any, form: str) -> tuple[str, list[Any]]:
    if form == "DataFrame":
        return "", list(value.columns[:_FIRST])
    items = value.flat if form == "ndarray" else value.iloc
    return checked(str(value.dtype)), list(items[:_FIRST])


def _product(shape: list[int]) -> int:
    size = 1
    for one in shape:
        size *= one
    return size


_FIRST = 20
"""Items of an array that its text begins with."""


def cell_of(value: Any) -> str:
    """The text of an item of an array or a table: a text as it is, others as they are shown."""
    kind = type(value)
    if kind is str:
        return one_line(value[:MOST_TEXT])
    if _module_of(kind).partition(".")[0] in _LIBRARIES:  # its repr names its type, too
        return one_line(bounded(lambda: checked(str(value)), unreadable))
    return text_of(value)


# -- texts


def text_of(value: Any) -> str:
    """A short text of a value, in one line. Long values are not read to their end."""
    kind = kind_of(value)
    if kind in ATOMS and (kind is not int or value.bit_length() < MOST_TEXT):
        return repr(value)
    parts: list[str] = []
    _add(value, _MOST_LEVELS, [], parts, [MOST_TEXT + _MARGIN])
    text = one_line("".join(parts))
    return text if len(text) <= MOST_TEXT else text[: MOST_TEXT - 1] + "…"


def number_of(value: Any) -> int | float | None:
    """A finite number as a plain one; None for any other value."""
    base: Any = next((base for base in (int, float) if issubclass(type(value), base)), None)
    if base is None:
        return None
    number: int | float = base.__pos__(value)
    return number if -LARGEST_VALUE < number < LARGEST_VALUE else None


def one_line(text: str) -> str:
    """A text in one line: what is not printable is escaped."""
    if text.isprintable():
        return text
    # by no codec, as the first use of one imports it
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def _add(value: Any, levels: int, above: list[Any], parts: list[str], room: list[int]) -> None:
    """Add the parts of a value's text, as long as there is room."""
    kind = kind_of(value)
    if kind not in _NESTED:
        text = _leaf(value)
        room[0] -= len(text)
        parts.append(text)
    elif not levels or any(one is value for one in above):
        parts.append("…".join(_BRACKETS[kind]))
    else:
        above.append(value)
        _add_items(value, levels, above, parts, room)
        above.pop()


def _add_items(
    value: Any, levels: int, above: list[Any], parts: list[str], room: list[int]
) -> None:
    kind = type(value)
    opening, closing = _BRACKETS[kind]
    if not value and kind in (set, frozenset):
        parts.append(f"{kind.__name__}()")
        return
    parts.append(opening)
    pairs = first(value.items(), MOST_ITEMS + 1) if kind is dict else ()
    for number, one in enumerate(pairs or value):
        if number:
            parts.append(", ")
        room[0] -= 2  # for what stands between and around the items
        if room[0] < 0 or number >= MOST_ITEMS:
            parts.append("…")
            break
        if kind is dict:
            _add(one[0], levels - 1, above, parts, room)
            parts.append(": ")
        _add(one[1] if kind is dict else one, levels - 1, above, parts, room)
    parts.append(",)" if kind is tuple and len(value) == 1 else closing)


_BRACKETS: dict[Any, tuple[str, str]] = {
    list: ("[", "]"), tuple: ("(", ")"), dict: ("{", "}"), set: ("{", "}"),
    frozenset: ("frozenset({", "})"),
}  # fmt: skip


def _leaf(value: Any) -> str:
    """The text of a value that is no collection: its own, unless that is endless or fails."""
    kind = kind_of(value)
    if kind is int:
        bits = value.bit_length()
        return repr(value) if bits <= 4 * MOST_TEXT else f"<int of {bits} bits>"
    if kind in ATOMS:
        return repr(value)
    if kind in _SIZED:
        cut = "…" if len(value) > 2 * MOST_TEXT else ""
        return repr(value[: 2 * MOST_TEXT]) + cut
    if form := array_form(value):
        return _array_text(value, form)
    return _own_text(value)


def _own_text(value: Any) -> str:
    """What an object's own `__repr__` says; a class that took too long once is not asked again."""
    kind = type(value)

    def failed(error: BaseException) -> str:
        if type(error) is TooLong:
            _late.append(kind)
        return unreadable(error)

    if any(one is kind for one in _late):
        return unreadable(TooLong())
    text: str = bounded(lambda: checked(repr(value)), failed)
    return text


_late: list[type] = []
"""The classes whose `__repr__` took too long."""


def checked(text: Any) -> str:
    """The beginning of a text that the script made, as a plain text."""
    found: str = str.__str__(text)
    return found[: 2 * MOST_TEXT]


def unreadable(error: BaseException) -> str:
    """What stands for a text that could not be made."""
    if type(error) is TooLong:
        return "<its repr takes too long>"
    return f"<its repr raised {name_of(type(error))}>"


class TooLong(BaseException):
    """Code of the script takes too long."""


def bounded(call: Callable[[], Any], otherwise: Callable[[BaseException], Any]) -> Any:
    """The result of code of the script, which may ask, print, raise or never end."""
    restore = shut_off([])
    try:
        return timed(call, _REPR_SECONDS)
    except BaseException as error:
        _armed.clear()
        return otherwise(error)
    finally:
        restore()


_armed: list[bool] = []
"""Not empty while code of the script may be interrupted."""


def timed(call: Callable[[], Any], seconds: float) -> Any:
    """The result of code of the script, interrupted after some seconds.

    Raises:
        TooLong: It took longer.
    """
    try:
        old = _signal.signal(_signal.SIGALRM, _interrupt)
    except ValueError:  # not the main thread: then only the limits of a script hold
        return call()
    alarm = (0.0, 0.0)
    try:
        _armed.append(True)
        # again and again, as the script may catch it
        alarm = _signal.setitimer(_signal.ITIMER_REAL, seconds, seconds)
        return call()
    finally:
        _armed.clear()
        _signal.setitimer(_signal.ITIMER_REAL, 0)
        _signal.signal(_signal.SIGALRM, old)
        _signal.setitimer(_signal.ITIMER_REAL, *alarm)


def _interrupt(number: int, frame: FrameType | None) -> None:
    if _armed:
        raise TooLong


def shut_off(written: list[str]) -> Callable[[], None]:
    """Let code of the script ask nobody, end nothing, print into a list; return how to undo it."""
    places: tuple[tuple[Any, str, Any], ...] = (
        (sys, "stdout", _Text(written)),
        (sys, "stdin", None),
        (os, "_exit", _no_exit),
        (builtins, "input", _no_input),
    )
    real = [getattr(module, name) for module, name, _ in places]
    for module, name, other in places:
        setattr(module, name, other)

    def restore() -> None:
        for at, (module, name, _) in enumerate(places):
            setattr(module, name, real[at])

    return restore


def _no_exit(status: int) -> Any:
    raise SystemExit(status)


def _no_input(*_: Any) -> Any:
    raise EOFError("an expression cannot ask")


class _Text:
    """A stream that collects what is written, up to a bound."""

    encoding = "utf-8"

    def __init__(self, written: list[str]) -> None:
        self._written = written
        self._room = MOST_PRINTED

    def write(self, text: str) -> int:
        self._written.append(text[: self._room])
        self._room -= len(self._written[-1])
        return len(text)

    def flush(self) -> None:
        """Nothing is held back."""


# -- names


def locals_of(frame: FrameType) -> dict[str, Any]:
    """The names in a call and their values."""
    found: Any = frame.f_locals
    if type(found) is dict:
        return found
    if frame.f_code.co_flags & _IS_FUNCTION:  # a view, from Python 3.13 on
        return dict(found)
    # the body of a class whose metaclass gave it a mapping of its own
    return dict(dict.items(found)) if issubclass(type(found), dict) else {}


def refreshes(code: CodeType) -> bool:
    """Whether to read the names of a call changes the dictionary that `locals` gave the script."""
    return sys.version_info < (3, 13) and bool(code.co_flags & _IS_FUNCTION)


_IS_FUNCTION = 1


def is_definition(name: str, value: Any) -> bool:
    """Whether a name is one that a script defines or imports, or that Python gives."""
    if type(name) is not str or name[:1] == "@" or (name[:2] == "__" and name[-2:] == "__"):
        return True
    return issubclass(type(value), DEFINED)  # what `__class__` says is the script's word


DEFINED = (type, type(sys), type(is_definition), type(sys._getframe))
