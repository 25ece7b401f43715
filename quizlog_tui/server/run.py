"""Starts the server: the socket is opened first, so that its faults are reported in one line."""

from __future__ import annotations

import asyncio
import ipaddress
import signal
import socket
from collections.abc import Callable
from contextlib import AsyncExitStack
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import uvicorn

from ..errors import UsageError
from .admission import ACCEPTED, LOOPBACK, AccessRules
from .app import ServerSettings, create_app
from .connections import Connection, ConnectionCrowd

if TYPE_CHECKING:
    from ..webquiz.task.tasks import Tasks

_BACKLOG = 2048
"""Maximum number of connections that wait to be accepted."""
END_SECONDS = 3
"""Seconds that the end of the server waits for open requests."""


def rules_for(host: str, token: str | None) -> AccessRules:
    """The access rules of a server that listens at `host`.

    Raises:
        UsageError: Other machines can reach that address and there is no token.
    """
    if is_loopback(host):
        return AccessRules(token, LOOPBACK | {host})
    if token is None:
        hint = "set QUIZLOG_TOKEN to a secret, or listen at 127.0.0.1"
        raise UsageError(f"{host} can be reached by other machines", where="--host", hint=hint)
    return AccessRules(token, None)


def is_loopback(host: str) -> bool:
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


def make_server(
    settings: ServerSettings, started: Callable[[], None], tasks: Tasks | None = None
) -> uvicorn.Server:
    """An HTTP server for the application, which prints nothing on stdout.

    It calls `started` once it accepts requests.
    """
    crowd = ConnectionCrowd(settings.bounds.connections)
    config = uvicorn.Config(
        create_app(settings, tasks),
        http=cast(Any, partial(Connection, crowd)),
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


def serve(settings: ServerSettings, sock: socket.socket, started: Callable[[], None]) -> None:
    """Answer requests until interrupted.

    Raises:
        ConfigError: The server takes tasks, and their database or models cannot be used.
        LockedError: Another process works the tasks.
    """
    signal.signal(signal.SIGTERM, end_program)
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        try:
            runner.run(_serve(settings, sock, started, stack))
        finally:
            # An interrupt ends the first run; this second one can end the tasks undisturbed.
            runner.run(stack.aclose())


async def _serve(
    settings: ServerSettings,
    sock: socket.socket,
    started: Callable[[], None],
    stack: AsyncExitStack,
) -> None:
    """Take tasks and answer requests, in one run of the event loop.

    A task that is found while its loop is stopped would be worked in another loop, where the
    browser never answers.
    """
    tasks = await _tasks(settings, stack)
    server = make_server(settings, started, tasks)
    await server.serve(sockets=[sock])


def end_program(number: int, _: object) -> None:
    """End the program in the same orderly way as Ctrl-C."""
    raise SystemExit(128 + number)


async def _tasks(settings: ServerSettings, stack: AsyncExitStack) -> Tasks | None:
    """The tasks, if the server takes any; the stack closes them."""
    if settings.tasks is None:
        return None
    from ..episodes.runs.queued import KIND, answering
    from ..sandbox import run_code
    from ..webquiz.task.task_runner import open_task_runner
    from ..webquiz.task.tasks import open_tasks

    runner = await stack.enter_async_context(
        open_task_runner(settings.tasks, settings.choice, run_code)
    )
    starting = asyncio.create_task(runner.browser.start())
    stack.push_async_callback(asyncio.wait, [starting])  # a half-started browser cannot be closed
    others = {KIND: answering(runner.panel)}
    return await stack.enter_async_context(open_tasks(runner, others))
