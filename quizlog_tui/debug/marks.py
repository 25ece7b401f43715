"""Tells whether a value has changed though its short text has not, inside its process.

Sent to the quiz process as text, between those of `values` and `lines`; imports as told there.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:  # the text of `values` is run before this one, in the same names
    from collections.abc import Callable, Iterable
    from typing import Any

    from .values import (
        COLLECTIONS,
        DEFINED,
        MOST_TEXT,
        MRO,
        array_form,
        attributes_of,
        bounded,
        first,
        in_place,
        in_slots,
        kind_of,
        own_names,
        place_of_attributes,
        size_of,
        slots_in,
        slots_of,
        type_name,
    )

    _Places = dict[int, tuple[list[tuple[str, Any]], Any]]
    """Slots, and the place of other attributes, by the `id` of a class."""

CHANGED_INSIDE = ", changed inside"
"""Ends what stands in place of a text that is the same after a change as before."""
_MOST_COMPARED = 10_000
"""Maximum number of parts of a value that are compared from one question to the next."""
_MOST_BYTES, _MOST_BYTES_A_LINE = 4_000_000, 100_000
"""Maximum bytes of an array that are compared from one question, or one line, to the next."""
_ENDS = 50
"""Items at either end of a value that are compared from one line to the next."""


def mark_of(value: Any) -> int:
    """A number that is another one after a change of a value or of what lies in it.

    It is made without code of the script from the nearest 10,000 parts: items, keys, attributes and
    slots; from the members of a set as they are, and from 4 MB of each array.
    """
    parts: list[Any] = []
    left, seen = [value], dict[int, int]()
    places: _Places = {}
    for one in left:  # which grows meanwhile
        leaf = _LEAVES.get(kind_of(one))
        parts.append(id(type(one)))
        if leaf is not None:
            parts.append(leaf(one))
        elif id(one) in seen:
            parts.append(seen[id(one)])
        else:
            if type(one) is not tuple:  # whether equal ones are the same depends on the compiler
                seen[id(one)] = len(seen)
            own, inner = _within(one, max(_MOST_COMPARED - len(left), 0), places)
            parts.append(own)
            left += inner
    return hash(tuple(parts))


_LEAVES: dict[type, Callable[[Any], Any]] = {
    bool: int,
    int: lambda one: int.__format__(one, "x"),  # two numbers have the hash -2
    float: float.__repr__,  # each nan has a hash of its own
    complex: complex.__repr__,
    str: str.__hash__,
    bytes: bytes.__hash__,
    bytearray: lambda one: hash(bytes(one[:_MOST_BYTES])),
    type(None): id,
}
"""What stands for a value that has no parts."""
_LEAF_BASES = (int, float, complex, str, bytes)


def _within(value: Any, room: int, places: _Places) -> tuple[Any, list[Any]]:
    """What stands for a value itself, and no more of its parts than there is room for."""
    kind = type(value)
    if kind is list or kind is tuple:
        return len(value), list(value[:room])
    if issubclass(kind, DEFINED):
        return id(value), []
    if form := array_form(value):
        found: tuple[Any, list[Any]]
        found = bounded(lambda: _in_array(value, form, room), lambda _: (None, []))
        return found
    own, inner = _in_collection(value, room)
    if kind is not dict:
        inner += _attributes(value, room - len(inner), places)
    if own is None and not inner:
        own = _own_mark(value)
    return own, inner


def _attributes(value: Any, room: int, places: _Places) -> list[Any]:
    """Names and values of the attributes of an object; where they lie is looked up once a class."""
    kind = type(value)
    if id(kind) not in places:
        places[id(kind)] = slots_in(kind), place_of_attributes(kind)
    slots, place = places[id(kind)]
    found = _pairs(in_slots(slots, value), room)
    return found + _pairs(in_place(place, value), room - len(found))


def _in_collection(value: Any, room: int) -> tuple[Any, list[Any]]:
    """The same of a collection, a number or a text of any class; of others None, and no parts."""
    kind = type(value)
    leaf = next((one for one in _LEAF_BASES if issubclass(kind, one)), None)
    base: Any = next((one for one in COLLECTIONS if issubclass(kind, one)), None)
    if leaf is not None:
        return _LEAVES[leaf](value), []
    if base is None:
        return None, []
    size = base.__len__(value)
    if base is dict:
        return size, _pairs(value, room)
    if base is list or base is tuple:
        return size, first(base.__iter__(value), room)
    # a copy of a set asks its members nothing
    return (size, hash(frozenset(value)) if size <= _MOST_COMPARED else None), []


def _pairs(names: dict[Any, Any], room: int) -> list[Any]:
    return [one for pair in first(dict.items(names), room // 2) for one in pair]


def _in_array(value: Any, form: str, room: int) -> tuple[Any, list[Any]]:
    """The bytes of an array; the index, the titles and the columns of a table, as arrays."""
    if form == "Series":
        return len(value), [value.index.to_numpy(), value.to_numpy()]
    if form == "DataFrame":
        columns = [value.iloc[:, at].to_numpy() for at in range(min(value.shape[1], room))]
        return value.shape, [value.index.to_numpy(), value.columns.to_numpy(), *columns]
    if value.dtype.hasobject:
        return value.shape, list(value.flat[:room])
    return _array_mark(value, _MOST_BYTES), []


def _array_mark(value: Any, most: int) -> Any:
    """What stands for the first bytes of an array of numpy."""
    data = value if value.nbytes <= most else value.flat[: most // value.itemsize]
    return value.shape, str(value.dtype), hash(data.tobytes())


def _own_mark(value: Any) -> int | None:
    """The whole text of a value that a library in C makes one of; None for any other."""
    found = (own_names(base).get("__repr__") for base in MRO(type(value))[:-1])
    own = next((one for one in found if one is not None), None)
    if type(own) is not type(object.__repr__):
        return None
    mark: int | None = bounded(lambda: str.__hash__(repr(value)), lambda _: None)
    return mark


def changed_inside(value: Any) -> str:
    """What stands in place of a value's text that is the same after a change as before."""
    name, size = type_name(type(value))[: MOST_TEXT // 2], size_of(value)
    return f"{name}{'' if size is None else f' of {size}'}{CHANGED_INSIDE}"


# -- from one line to the next


def mark_at_line(value: Any) -> Any:
    """What is another one after most changes of a value, and takes little time.

    It has the size, 50 items at either end, and 100 attributes: numbers and texts as they are,
    others by their identity and size. Of arrays it has all bytes up to 100 kB, of tables nothing.
    """
    kind = kind_of(value)
    if kind in _LEAVES or issubclass(type(value), DEFINED):
        return None
    if form := array_form(value):
        within = form == "ndarray" and value.nbytes <= _MOST_BYTES_A_LINE
        return _array_mark(value, _MOST_BYTES_A_LINE) if within else None
    names = () if kind in COLLECTIONS else (slots_of(value), attributes_of(value))
    return _ends_of(value), [
        (_brief(first(one, 2 * _ENDS)), _brief(first(one.values(), 2 * _ENDS))) for one in names
    ]


def _ends_of(value: Any) -> Any:
    """Size and outer items of a list, a tuple or a dictionary."""
    base: Any = next((one for one in (list, tuple, dict) if issubclass(type(value), one)), None)
    if base is None:
        return None
    if base is dict:
        items = dict.values(value)
        return len(items), _brief(first(items, _ENDS)), _brief(first(reversed(items), _ENDS))
    ends = (base.__getitem__(value, one) for one in (slice(_ENDS), slice(-_ENDS, None)))
    return base.__len__(value), [_brief(one) for one in ends]


def _brief(items: Iterable[Any]) -> list[Any]:
    return [one if kind_of(one) in _LEAVES else _which(one) for one in items]


def _which(value: Any) -> Any:
    """Which value it is; the size, too, of a collection."""
    return (id(value), len(value)) if kind_of(value) in COLLECTIONS else id(value)
