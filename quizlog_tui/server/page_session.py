"""The session of a page: what a browser gets for the token, and how a tab shows it.

A browser sends a cookie to all ports of a host, and so to servers of other users of this machine.
What a page keeps in its `sessionStorage` is for its own origin, which includes the port.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
from pathlib import Path
from typing import Any

from aiohttp import WSMsgType

from .admission.shield import READ_SECONDS

_SCRIPT = Path(__file__).with_name("page_session.js")
_WHERE = "<head>"
"""Where the script stands in the page: before the script that opens the socket."""


class PageSession:
    """A random value of this run of the server, which opens the screens and nothing else.

    Args:
        needed: Whether a tab must show it; else there is none.
    """

    def __init__(self, needed: bool) -> None:
        self._value = secrets.token_urlsafe() if needed else ""

    @property
    def address(self) -> str:
        """The page's address with the value as its fragment, which no browser sends."""
        return f"/#{self._value}"

    async def is_shown(self, socket: Any) -> bool:
        """Whether the first message of a tab's socket is the value and arrives in time."""
        try:
            async with asyncio.timeout(READ_SECONDS):
                message = await socket.receive()
        except TimeoutError:
            return False
        if message.type is not WSMsgType.TEXT:
            return False
        return not self._value or hmac.compare_digest(message.data.encode(), self._value.encode())


def with_session(page: str) -> str:
    """The page of the terminal, with the script that keeps and sends the session."""
    script = _SCRIPT.read_text(encoding="utf-8")
    return page.replace(_WHERE, f"{_WHERE}<script>{script}</script>", 1)
