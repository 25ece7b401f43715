"""Starts the server, and limits its connections: their number, and how slowly a client may be.

The socket is opened first, so that its faults are reported in one line.

A connection without a complete request costs only a descriptor, but a process has few of them. So
the request's head must arrive in time, and if there are too many connections, the one that has
waited longest for its head is closed for a new one. A client that does not read its reply loses it.
"""

from __future__ import annotations

import asyncio
import ipaddress
import signal
import socket
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from functools import partial
from http import HTTPStatus
from typing import Any, cast

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from ..errors import LimitError, QuizlogError, UsageError, error_data
from .admission import ACCEPTED, LOOPBACK, READ_SECONDS, AccessRules
from .replies import BadRequestError, encode

_BACKLOG = 2048
"""Maximum number of connections that wait to be accepted."""
END_SECONDS = 3
"""Seconds that the end of the server waits for open requests."""


def rules_for(host: str, token: str | None) -> AccessRules:
    """The access rules of a server that listens at `host`.

    Raises:
        UsageError: Other machines can reach that address and there is no token.
    """
    if _is_loopback(host):
        return AccessRules(token, LOOPBACK | {host})
    if token is None:
        hint = "set QUIZLOG_TOKEN to a secret, or listen at 127.0.0.1"
        raise UsageError(f"{host} can be reached by other machines", where="--host", hint=hint)
    return AccessRules(token, None)


def _is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def listening(host: str, port: int) -> socket.socket:
    """A listening socket.

    Raises:
        UsageError: The address cannot be used.
    """
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        sock = socket.create_server((host, port), family=family, backlog=_BACKLOG)
        # Connections inherit this option. Without it a reply's body comes 40 ms after its head.
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return sock
    except (OSError, OverflowError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or str(error)
        hint = "choose another port with --port; 0 takes any free one"
        raise UsageError(f"cannot listen: {why}", where=f"{host}:{port}", hint=hint) from None


def address(sock: socket.socket) -> str:
    """The URL of a listening socket."""
    host, port = sock.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def make_server(app: Any, connections: int, started: Callable[[], None]) -> uvicorn.Server:
    """An HTTP server, which prints nothing, and calls `started` once it accepts requests."""
    config = uvicorn.Config(
        app,
        http=cast(Any, partial(Connection, _ConnectionCrowd(connections))),
        backlog=ACCEPTED,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=END_SECONDS,
        lifespan="on",
        ws="none",
        proxy_headers=False,
    )
    return _Server(config, started)


class _Server(uvicorn.Server):
    """Accepts few connections at a time, with a long queue of waiting ones."""

    def __init__(self, config: uvicorn.Config, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._started = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, then call `started`, from where on the server may be interrupted."""
        await super().startup(sockets)
        if self.should_exit:
            return
        for sock in sockets or ():
            sock.listen(_BACKLOG)
        self._started()


OpenApp = Callable[[AsyncExitStack], Awaitable[Any]]
"""Opens the application to serve; the stack closes what it needs."""


def serve(
    open_app: OpenApp, connections: int, sock: socket.socket, started: Callable[[], None]
) -> None:
    """Answer requests until interrupted; raises what `open_app` raises."""
    signal.signal(signal.SIGTERM, end_program)
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        try:
            runner.run(_serve(open_app, connections, sock, started, stack))
        finally:
            # An interrupt ends the first run; this second one can end the tasks undisturbed.
            runner.run(stack.aclose())


async def _serve(
    open_app: OpenApp,
    connections: int,
    sock: socket.socket,
    started: Callable[[], None],
    stack: AsyncExitStack,
) -> None:
    """Open the application and answer requests, in one run of the event loop.

    A task that is found while its loop is stopped would be worked in another loop, where the
    browser never answers.
    """
    server = make_server(await open_app(stack), connections, started)
    await server.serve(sockets=[sock])


def end_program(number: int, _: object) -> None:
    """End the program in the same orderly way as Ctrl-C."""
    raise SystemExit(128 + number)


# -- connections


_STALL_SECONDS = 60.0
"""Seconds that a client may go without reading a pending reply."""


class _ConnectionCrowd:
    """A server's connections that wait for a request, of `most` with the busy ones."""

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


class _JoinedHead(h11.Connection):
    """Gives the head of a reply of known length with its body, so that one call sends both."""

    def __init__(self) -> None:
        super().__init__(h11.SERVER)
        self._head: list[bytes] = []

    def send_with_data_passthrough(self, event: h11.Event) -> list[bytes] | None:
        """The bytes of a part of a reply; none yet for a head that waits for its body.

        A stream's head goes at once: its client may wait long for the first part of the body.
        """
        data = super().send_with_data_passthrough(event)
        if data is None:
            return None
        if isinstance(event, h11.Response) and _tells_length(event):
            self._head = data
            return []
        head, self._head = self._head, []
        return head + data


def _tells_length(reply: h11.Response) -> bool:
    return any(name == b"content-length" for name, _ in reply.headers)


class Connection(H11Protocol):
    """One connection of a client, as uvicorn opens it with its options."""

    def __init__(self, crowd: _ConnectionCrowd, **options: Any) -> None:
        super().__init__(**options)
        self.conn = _JoinedHead()
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
        self._stalled = self.loop.call_later(_STALL_SECONDS, self.transport.abort)

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
