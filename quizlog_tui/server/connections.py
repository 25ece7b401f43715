"""Limits on connections: their number, and how slowly a client may send and read.

A connection without a complete request costs only a descriptor, but a process has few of them. So
the request's head must arrive in time, and if there are too many connections, the one that has
waited longest for its head is closed for a new one. A client that does not read its reply loses it.
"""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from ..errors import LimitError, QuizlogError
from .admission import READ_SECONDS
from .replies import BadRequestError, encode, error_data

STALL_SECONDS = 60.0
"""Seconds that a client may go without reading a pending reply."""


class ConnectionCrowd:
    """A server's connections that wait for the head of a request.

    Args:
        most: Maximum number of open connections, busy ones included.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._waiting: dict[Connection, None] = {}

    def wait(self, connection: Connection) -> None:
        """Add a waiting connection as the newest."""
        self.leave(connection)
        self._waiting[connection] = None

    def leave(self, connection: Connection) -> None:
        """Remove a connection that is busy or closed."""
        self._waiting.pop(connection, None)

    def has_room(self, count: int) -> bool:
        """Whether a connection that was just opened, one of `count`, may stay.

        If there are too many, the one that has waited longest is closed.
        """
        if count <= self._most:
            return True
        oldest = next(iter(self._waiting), None)
        if oldest is None:
            return False
        self.leave(oldest)
        oldest.transport.abort()
        return True


class Connection(H11Protocol):
    """One connection of a client.

    Args:
        crowd: The server's waiting connections.
        options: The keyword arguments that uvicorn passes.
    """

    def __init__(self, crowd: ConnectionCrowd, **options: Any) -> None:
        super().__init__(**options)
        self._crowd = crowd
        self._late: asyncio.TimerHandle | None = None
        self._stalled: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for a head if there is room; refuse the connection otherwise."""
        super().connection_made(transport)
        if self._crowd.has_room(len(self.connections)):
            self._wait()
        else:
            error = LimitError("too many connections are open", hint="try again in a moment")
            self._refuse(503, error)

    def connection_lost(self, exc: Exception | None) -> None:
        """Remove the connection."""
        self._stop_waiting()
        self._stop_stalling()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read the request further."""
        super().data_received(data)
        if self._is_busy():
            self._stop_waiting()

    def on_response_complete(self) -> None:
        """Wait for the next head, unless it has already arrived."""
        super().on_response_complete()
        if not self._is_busy():
            self._wait()

    def pause_writing(self) -> None:
        """Start the time in which the client must read."""
        super().pause_writing()
        self._stalled = self.loop.call_later(STALL_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """Send the reply further."""
        self._stop_stalling()
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is not HTTP, with the JSON of every error."""
        self._refuse(400, BadRequestError("this is not an HTTP request", hint="see /openapi.json"))

    # -- inside

    def _is_busy(self) -> bool:
        """Whether a request is being answered."""
        return self.cycle is not None and not self.cycle.response_complete

    def _wait(self) -> None:
        self._stop_waiting()
        self._crowd.wait(self)
        self._late = self.loop.call_later(READ_SECONDS, self._give_up)

    def _stop_waiting(self) -> None:
        self._crowd.leave(self)
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _stop_stalling(self) -> None:
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None

    def _give_up(self) -> None:
        """Close a connection whose head did not arrive in time."""
        if self.transport.is_closing():
            return
        if self.conn.trailing_data[0]:
            message = f"the request's head did not arrive within {READ_SECONDS:g} s"
            self._refuse(408, BadRequestError(message, hint="send it again"))
        else:
            self.transport.close()

    def _refuse(self, status: int, error: QuizlogError) -> None:
        """Send an error, and close the connection."""
        body = encode(error_data(error))
        phrase = HTTPStatus(status).phrase
        head = (
            f"HTTP/1.1 {status} {phrase}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        )
        self.transport.write(head.encode("ascii") + body)
        self.transport.close()
