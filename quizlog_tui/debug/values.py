"""Describes values of a script, inside its process: short texts that take little time.

Sent to the quiz process as text, before that of `inside`; what it may import is told there.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType
    from typing import Any

MOST_TEXT = 200
"""Maximum characters of the text of a value."""
MOST_ITEMS = 100
_MOST_LEVELS = 4
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
    kind = type(value)
    size = len(value) if kind in _SIZED else None
    shape = _shape(value)
    attributes = 0 if kind in _PLAIN or kind in _SIZED else len(_attributes(value))
    children = size if kind in _NESTED else attributes
    type_name = kind.__qualname__
    if kind.__module__ != "builtins":
        type_name = f"{kind.__module__}.{type_name}"
    return {
        "name": checked(name),
        "type": checked(type_name),
        "text": text_of(value),
        "size": size if size is None else min(size, LARGEST),
        "shape": shape,
        "children": min(children or 0, LARGEST),
    }


def _attributes(value: Any) -> dict[str, Any]:
    try:
        found = object.__getattribute__(value, "__dict__")
    except Exception:
        return {}
    return found if type(found) is dict else {}


def _shape(value: Any) -> list[int] | None:
    """The shape of an array or a table of a library."""
    if type(value).__module__.partition(".")[0] not in ("numpy", "pandas"):
        return None
    shape = bounded(lambda: tuple(value.shape), lambda _: None)
    plain = type(shape) is tuple and len(shape) <= MOST_DIMENSIONS
    sizes = plain and all(type(one) is int and 0 <= one <= LARGEST for one in shape)
    return list(shape) if sizes else None


_NESTED = (list, tuple, dict, set, frozenset)
_SIZED = (*_NESTED, str, bytes, bytearray)
ATOMS = frozenset({int, float, complex, bool, type(None)})
"""Types without parts, whose texts are made without code of the script."""
_PLAIN = (*ATOMS, range)


def text_of(value: Any) -> str:
    """A short text of a value, in one line. Long values are not read to their end."""
    text = one_line("".join(_pieces(value, _MOST_LEVELS, set(), [2 * MOST_TEXT])))
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


def _pieces(value: Any, levels: int, above: set[int], room: list[int]) -> Iterator[str]:
    """The parts of a value's text, as long as there is room."""
    kind = type(value)
    if kind in _NESTED:
        if id(value) in above or not levels:
            yield _BRACKETS[kind][0] + "…" + _BRACKETS[kind][1]
        else:
            yield from _items(value, levels, above | {id(value)}, room)
        return
    text = _leaf(value)
    room[0] -= len(text)
    yield text


def _items(value: Any, levels: int, above: set[int], room: list[int]) -> Iterator[str]:
    kind = type(value)
    opening, closing = _BRACKETS[kind]
    if not value and kind in (set, frozenset):
        yield f"{kind.__name__}()"
        return
    yield opening
    pairs = value.items() if kind is dict else ((None, one) for one in value)
    for number, (key, one) in enumerate(pairs):
        yield ", " if number else ""
        if room[0] <= 0 or number >= MOST_ITEMS:
            yield "…"
            break
        if kind is dict:
            yield from _pieces(key, levels - 1, above, room)
            yield ": "
        yield from _pieces(one, levels - 1, above, room)
    yield ",)" if kind is tuple and len(value) == 1 else closing


_BRACKETS: dict[Any, tuple[str, str]] = {
    list: ("[", "]"), tuple: ("(", ")"), dict: ("{", "}"), set: ("{", "}"),
    frozenset: ("frozenset({", "})"),
}  # fmt: skip


def _leaf(value: Any) -> str:
    """The text of a value that is no collection: its own, unless that is endless or fails."""
    kind = type(value)
    if kind is int and value.bit_length() > 4 * MOST_TEXT:
        return f"<int of {value.bit_length()} bits>"
    if kind in ATOMS:  # no code of the script: there is nothing to interrupt
        return repr(value)
    if kind in (str, bytes, bytearray):
        cut = "…" if len(value) > 2 * MOST_TEXT else ""
        return repr(value[: 2 * MOST_TEXT]) + cut
    text: str = bounded(lambda: checked(repr(value)), unreadable)
    return text


def checked(text: Any) -> str:
    """The beginning of a text that the script made, as a plain text."""
    found: str = str.__str__(text)
    return found[: 2 * MOST_TEXT]


def unreadable(error: BaseException) -> str:
    """What stands for a text that could not be made."""
    if isinstance(error, TooLong):
        return "<its repr takes too long>"
    return f"<its repr raised {type(error).__name__}>"


class TooLong(BaseException):
    """Code of the script takes too long."""


def bounded(call: Callable[[], Any], otherwise: Callable[[BaseException], Any]) -> Any:
    """The result of code of the script, which may raise or never end."""
    try:
        return timed(call, _REPR_SECONDS)
    except BaseException as error:
        _armed.clear()
        return otherwise(error)


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
    try:
        _armed.append(True)
        # again and again, as the script may catch it
        _signal.setitimer(_signal.ITIMER_REAL, seconds, seconds)
        return call()
    finally:
        _armed.clear()
        _signal.setitimer(_signal.ITIMER_REAL, 0)
        _signal.signal(_signal.SIGALRM, old)


def _interrupt(number: int, frame: FrameType | None) -> None:
    if _armed:
        raise TooLong
