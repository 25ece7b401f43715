"""Serves the screens to web browsers: each tab gets a program of its own.

The page and the terminal in it are textual-serve's. What is added here is who may use it: the
access rules of the HTTP server, and a check of what a tab sends to its terminal. A browser sends no
header of ours, so the token is exchanged for a session, which the page keeps and each tab shows
before its program is started. A cookie would be sent to all ports of a host, and so to servers of
other users of this machine; what a page keeps in its `sessionStorage` is for its own origin, which
includes the port.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import secrets
import shlex
import signal
import socket
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Callable
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import aiohttp_jinja2
import jinja2
from aiohttp import WSCloseCode, WSMsgType, web
from textual_serve.app_service import AppService
from textual_serve.server import Server, to_int

from .admission import READ_SECONDS, AccessRefusal, AccessRules, check
from .run import END_SECONDS, end_program

_MOST_TABS = 16
"""Maximum number of tabs that are open at a time; each is a process."""
_MOST_WAITING = 64
"""Maximum number of sockets that have not shown a session yet; each may hold a message of 4 MB."""
_MAX_SIDE = 2000
"""Maximum number of columns, and of rows, of a terminal in a tab."""
_USUAL_SIZE = (("width", 80), ("height", 24))
"""Columns and rows of a terminal whose page names none."""
_LOG_IN = "The token is missing or wrong: open this address with ?token=TOKEN behind it."
_HEADERS = {
    # Nothing is loaded from elsewhere: textual-serve's page asks for a font of another site.
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data:; font-src 'self' data:; "
    "style-src 'self' 'unsafe-inline'; script-src 'self' 'unsafe-inline'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_SCRIPT = Path(__file__).with_name("page_session.js")
_WHERE = "<head>"
"""Where the script stands in the page: before the script that opens the socket."""


@dataclass(frozen=True)
class ScreenSettings:
    """What is served, and to whom."""

    place: Path
    """A record, or a folder of records."""
    rules: AccessRules
    """Which requests are allowed."""
    write: bool = False
    """Whether records may be changed; else the screens are in audit mode."""

    @property
    def command(self) -> str:
        """The shell line that starts the screens."""
        words = [sys.executable, "-P", "-m", "quizlog_tui", "tui", str(self.place.absolute())]
        line = shlex.join(words if self.write else [*words, "--read-only"])
        return f"exec {line}"  # the screens end when their parent process, this one, is gone


class _ScreenServer:
    """The routes for browsers."""

    def __init__(self, settings: ScreenSettings) -> None:
        self._settings = settings
        self._session = _PageSession(needed=settings.rules.token is not None)
        self._waiting = 0
        self._tabs = 0

    def app(self) -> Any:
        """The application."""

        async def guard(request: Any, handler: Any) -> Any:
            return await self._guard(request, handler)

        app = web.Application(middlewares=[web.middleware(guard)])
        textual = self._textual("http://localhost")
        aiohttp_jinja2.setup(app, loader=jinja2.FileSystemLoader(textual.templates_path))
        app.router.add_get("/", self._index, name="index")
        app.router.add_get("/ws", self._terminal, name="websocket")
        app.router.add_static("/static", textual.statics_path, name="static")
        return app

    def _textual(self, url: str) -> Any:
        return _TextualServer(self._settings.command, title="quizlog", public_url=url)

    async def _guard(self, request: Any, handler: Any) -> Any:
        """Answer a refused request and a log-in; pass on any other.

        The page and its files hold no secret, so only a log-in needs the token.
        """
        headers = {name.lower(): value for name, value in request.headers.items()}
        rules, token = self._settings.rules, request.query.get("token")
        if token is None:
            rules = replace(rules, token=None)
        else:
            headers["authorization"] = f"Bearer {token.encode(errors='replace').decode('latin-1')}"
        try:
            check(rules, request.method, request.path, headers)
        except AccessRefusal as refusal:
            return _refused(refusal)
        if token is None:
            return await handler(request)
        return web.Response(status=303, headers=_HEADERS | {"Location": self._session.address})

    async def _index(self, request: Any) -> Any:
        """The page, with the addresses that its browser knows this server by."""
        scheme = request.headers.get("X-Forwarded-Proto", request.scheme)
        url = f"{'https' if scheme == 'https' else 'http'}://{request.host}"
        response = await self._textual(url).handle_index(request)
        response.text = _with_session(response.text)
        response.headers.update(_HEADERS)
        return response

    async def _terminal(self, request: Any) -> Any:
        """The terminal of a tab, as long as the tab is open."""
        size = [to_int(request.query.get(side, ""), usual) for side, usual in _USUAL_SIZE]
        if max(size) > _MAX_SIDE:
            text = f"a terminal has at most {_MAX_SIDE} columns and {_MAX_SIDE} rows\n"
            return web.Response(status=400, text=text)
        if self._waiting >= _MOST_WAITING:
            return web.Response(status=503, text="too many tabs are being opened; try again\n")
        socket = web.WebSocketResponse(heartbeat=15)
        if await self._is_let_in(request, socket):
            await self._run_tab(socket, *size)
        return socket

    async def _is_let_in(self, request: Any, socket: Any) -> bool:
        """Open the socket of a tab, and close it again unless it shows the session."""
        self._waiting += 1
        try:
            await socket.prepare(request)
            shown = await self._session.is_shown(socket)
            if not shown:
                await socket.close(code=WSCloseCode.POLICY_VIOLATION, message=_LOG_IN.encode())
            return shown
        finally:
            self._waiting -= 1

    async def _run_tab(self, socket: Any, width: int, height: int) -> None:
        if self._tabs >= _MOST_TABS:
            text = f"{_MOST_TABS} tabs are open already; close one"
            await socket.close(code=WSCloseCode.TRY_AGAIN_LATER, message=text.encode())
            return
        self._tabs += 1
        try:
            await self._textual("http://localhost").run_tab(socket, width, height)
        finally:
            self._tabs -= 1


class _TextualServer(Server):  # type: ignore[misc]
    """textual-serve's server, which would start the program of a tab before it received anything.

    It would also end with a traceback at a malformed message, and leaves the program to itself once
    its output has ended: if the server ends then, Python complains of open pipes.
    """

    async def run_tab(self, socket: Any, width: int, height: int) -> None:
        """Run the program of a tab until it ends or the tab's socket is closed."""
        service = AppService(
            self.command,
            write_bytes=socket.send_bytes,
            write_str=socket.send_str,
            close=socket.close,
            download_manager=self.download_manager,
        )
        await service.start(width, height)
        try:
            await self._process_messages(socket, service)
        except asyncio.CancelledError:  # the server ends
            await socket.close()

    async def _process_messages(self, websocket: Any, app_service: Any) -> None:
        try:
            await super()._process_messages(_CheckedSocket(websocket), app_service)
        finally:
            await app_service.stop()
            await _wait_for_end(app_service._process)


async def _wait_for_end(program: Process) -> None:
    """Wait until a program has ended and its pipes are closed."""
    assert program.stdin
    program.stdin.close()
    with suppress(ConnectionError):  # it no longer reads
        await program.stdin.wait_closed()
    await program.wait()


def _refused(refusal: AccessRefusal) -> Any:
    """The page for a refused request."""
    text = _LOG_IN if refusal.status == 401 else refusal.error
    return web.Response(status=refusal.status, text=f"{text}\n", headers=_HEADERS)


def serve_screens(
    settings: ScreenSettings, sock: socket.socket, started: Callable[[], None]
) -> None:
    """Serve the screens until interrupted; `started` is called once browsers are answered."""
    signal.signal(signal.SIGTERM, end_program)
    asyncio.run(_serve(settings, sock, started))
    end_program(signal.SIGTERM, None)


async def _serve(
    settings: ScreenSettings, sock: socket.socket, started: Callable[[], None]
) -> None:
    runner = web.AppRunner(
        _ScreenServer(settings).app(), access_log=None, shutdown_timeout=END_SECONDS
    )
    await runner.setup()
    ended = asyncio.Event()
    # An exception at any place, as a plain handler raises it, would end a tab in a traceback.
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    try:
        await web.SockSite(runner, sock).start()
        started()
        with redirect_stdout(sys.stderr):  # textual-serve writes there what a program said at last
            await ended.wait()
    finally:
        await runner.cleanup()


# -- the session of a page


class _PageSession:
    """A random value of this run of the server, which opens the screens and nothing else."""

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


def _with_session(page: str) -> str:
    """The page of the terminal, with the script that keeps and sends the session."""
    script = _SCRIPT.read_text(encoding="utf-8")
    return page.replace(_WHERE, f"{_WHERE}<script>{script}</script>", 1)


# -- what a tab sends


def _is_message(text: str) -> bool:
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
    return all(type(side) is int and 0 < side <= _MAX_SIDE for side in sides)


_CHECKS: dict[str, Callable[[Any], bool]] = {
    "stdin": lambda data: data.encode() is not None,  # half a surrogate pair cannot be encoded
    "resize": _is_size,
    "ping": lambda data: True,
}


class _CheckedSocket:
    """The socket of a tab, up to the first text that is no message."""

    def __init__(self, socket: Any) -> None:
        self._socket = socket

    async def send_json(self, data: Any) -> None:
        """Send an answer."""
        await self._socket.send_json(data)

    async def __aiter__(self) -> AsyncIterator[Any]:
        """The messages; the end of them closes the tab's terminal."""
        async for message in self._socket:
            if isinstance(message.data, str) and not _is_message(message.data):
                print("quizlog: a tab sent a malformed message; it is closed", file=sys.stderr)
                return
            yield message
