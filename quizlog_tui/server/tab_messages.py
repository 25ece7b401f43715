"""Checks what a browser's tab sends to its terminal, which textual-serve takes as it comes."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Callable
from typing import Any

MAX_SIDE = 2000
"""Maximum number of columns, and of rows, of a terminal in a tab."""


def is_message(text: str) -> bool:
    """Whether a text is a message that the terminal understands: `[KIND, DATA]` in JSON."""
    try:
        message = json.loads(text)
        if type(message) is not list:
            return False
        kind, *data = message
        return kind in ("blur", "focus") or _CHECKS[kind](data[0])
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return False


def _is_size(data: Any) -> bool:
    sides = data["width"], data["height"]
    return all(type(side) is int and 0 < side <= MAX_SIDE for side in sides)


_CHECKS: dict[str, Callable[[Any], bool]] = {
    "stdin": lambda data: data.encode() is not None,  # half a surrogate pair cannot be encoded
    "resize": _is_size,
    "ping": lambda data: True,
}


class CheckedSocket:
    """The socket of a tab, up to the first text that is no message.

    Args:
        socket: The socket.
    """

    def __init__(self, socket: Any) -> None:
        self._socket = socket

    async def send_json(self, data: Any) -> None:
        """Send an answer."""
        await self._socket.send_json(data)

    async def __aiter__(self) -> AsyncIterator[Any]:
        """The messages; the end of them closes the tab's terminal."""
        async for message in self._socket:
            if isinstance(message.data, str) and not is_message(message.data):
                print("quizlog: a tab sent a malformed message; it is closed", file=sys.stderr)
                return
            yield message
