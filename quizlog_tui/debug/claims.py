"""Checks the parts of what a process sent about a look: types, and sizes that a look can have.

The code that sends them keeps to the same bounds, so only a script that forges them exceeds one.
"""

from __future__ import annotations

from typing import Any

from ..errors import ProtocolError
from ..replay.script.source import Source
from .values import LARGEST, MOST_TEXT

_LONGEST_NAME = 8192
"""Maximum characters of a name; that of a file is a path."""


def unreadable(what: str, step: int, source: Source) -> ProtocolError:
    """The error that says that a script sent no such thing.

    Args:
        what: What was asked for: a trace, say.
        step: The step that it is of.
        source: The script.
    """
    return ProtocolError(f"sent no readable {what} at step {step}", where=str(source.path))


def name(value: Any) -> str:
    """A name of a variable, type, function or file.

    Raises:
        TypeError: It is none.
    """
    return text(value, _LONGEST_NAME)


def text(value: Any, most: int = MOST_TEXT) -> str:
    """A text of at most this number of characters.

    Raises:
        TypeError: It is none.
    """
    if type(value) is not str or len(value) > most:
        raise TypeError("no such text")
    return value


def count(value: Any, most: int = LARGEST) -> int:
    """A number from 0 to `most`.

    Raises:
        TypeError: It is none.
    """
    if type(value) is not int or not 0 <= value <= most:
        raise TypeError("no such number")
    return value


def items(value: Any, most: int) -> list[Any]:
    """A list of at most this number of items.

    Raises:
        TypeError: It is none.
    """
    if type(value) is not list or len(value) > most:
        raise TypeError("no such list")
    return value
