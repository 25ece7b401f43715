"""The gate of a task: a proxy that passes requests to allowed sites only, and its connections.

The browser, downloads and submissions all go through it, redirects and scripts included. A name is
resolved once, here, and the checked address is the one that is connected to, so that no page can
lead into the private network. Refusals are recorded.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from urllib.parse import urlsplit

import httpx

from .address import Allowed, BadAddressError, Site, site_of

_HEAD = 65_536
_CONNECT = 10.0
"""Seconds that connecting may take."""
_PATIENCE = 10.0
"""Maximum number of seconds that a server may ask to wait."""


@dataclass
class Gate:
    """A running proxy."""

    allowed: Allowed
    url: str = ""
    """The proxy's address."""
    refused: list[str] = field(default_factory=list)
    """The refused requests in order, each once: site and reason."""
    tell: Callable[[str], None] = lambda line: None
    """Called with each refusal."""

    def refuse(self, what: str) -> None:
        """Record a refusal."""
        if what not in self.refused and len(self.refused) < 1000:
            self.refused.append(what)
            self.tell(what)


class _Refused(Exception):
    """A request is refused."""


@asynccontextmanager
async def gate(
    allowed: Allowed, tell: Callable[[str], None] = lambda _: None
) -> AsyncIterator[Gate]:
    """A proxy for one task, on a free port of 127.0.0.1."""
    running = Gate(allowed, tell=tell)
    tasks: set[asyncio.Task[None]] = set()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        tasks.add(task)
        try:
            await _serve(running, reader, writer)
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError):
            pass  # either side left
        except asyncio.CancelledError:
            pass  # the task is over
        finally:
            tasks.discard(task)
            writer.transport.abort()

    # Bound here, so that it is closed even if the task is ended while the server starts.
    with socket.create_server(("127.0.0.1", 0), backlog=128) as listening:
        server = await asyncio.start_server(handle, sock=listening, limit=_HEAD)
        running.url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        try:
            yield running
        finally:
            server.close()
            for task in list(tasks):
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await server.wait_closed()


async def _serve(running: Gate, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    head = await reader.readuntil(b"\r\n\r\n")
    line, _, rest = head.partition(b"\r\n")
    words = line.decode("latin-1").split(" ")
    if len(words) != 3:
        return
    method, target, version = words
    try:
        site = _site(method, target)
        out_reader, out_writer = await _connect(running, site)
    except _Refused as refused:
        running.refuse(str(refused))
        await _say(writer, 403, "refused by quizlog")
        return
    except (OSError, TimeoutError):
        await _say(writer, 502, "cannot connect")
        return
    try:
        if method == "CONNECT":
            writer.write(b"HTTP/1.1 200 Connected\r\n\r\n")
        else:
            out_writer.write(_forwarded(method, target, version, rest))
        await _join((reader, out_writer), (out_reader, writer))
    finally:
        out_writer.transport.abort()


def _site(method: str, target: str) -> Site:
    try:
        if method == "CONNECT":
            return site_of(f"https://{target}")
        if not target.startswith("http://"):
            raise BadAddressError("no proxy request")
        return site_of(target)
    except BadAddressError as error:
        raise _Refused(f"{target[:200]}: {error}") from None


def _forwarded(method: str, target: str, version: str, headers: bytes) -> bytes:
    """The request for the server: one per connection, without proxy headers."""
    parts = urlsplit(target)
    path = f"{parts.path or '/'}{'?' + parts.query if parts.query else ''}"
    lines = [line for line in headers.split(b"\r\n") if line]
    upgrade = any(line.lower().startswith(b"upgrade:") for line in lines)
    dropped = (b"proxy-", b"keep-alive:") + (() if upgrade else (b"connection:",))
    kept = [line for line in lines if not line.lower().startswith(dropped)]
    if not upgrade:
        kept.append(b"Connection: close")
    return b"\r\n".join([f"{method} {path} {version}".encode("latin-1"), *kept, b"", b""])


async def _connect(running: Gate, site: Site) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    if not running.allowed.site(site):
        raise _Refused(f"{site}: not an allowed site")
    async with asyncio.timeout(_CONNECT):
        loop = asyncio.get_running_loop()
        found = await loop.getaddrinfo(site.host, site.port, type=socket.SOCK_STREAM)
        addresses = [str(one[4][0]) for one in found]
        fit = [one for one in addresses if running.allowed.address(site.host, one)]
        if not fit:
            raise _Refused(f"{site}: a private address ({', '.join(addresses)})")
        return await asyncio.open_connection(fit[0], site.port)


_Pair = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def _join(up: _Pair, down: _Pair) -> None:
    """Pass bytes in both directions until the server's side ends."""
    sending = asyncio.create_task(_pass(*up))
    try:
        await _pass(*down)
    finally:
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()


async def _say(writer: asyncio.StreamWriter, status: int, text: str) -> None:
    head = f"HTTP/1.1 {status} X\r\nContent-Length: {len(text)}\r\nConnection: close\r\n\r\n"
    writer.write(head.encode() + text.encode())
    await writer.drain()


_EACH_ITS_OWN = httpx.Limits(max_keepalive_connections=0)
"""No connection is used twice: one that the server is just closing loses what is sent, and of an
answer nobody knows then whether it arrived."""


def through(proxy: str) -> httpx.AsyncClient:
    """A client that sends all requests through a proxy, ignoring those of the environment."""
    return httpx.AsyncClient(
        transport=_AskedAgain(proxy=proxy, verify=_trusted(), limits=_EACH_ITS_OWN),
        trust_env=False,
        follow_redirects=True,
        max_redirects=5,
    )


@cache
def _trusted() -> ssl.SSLContext:
    """The trusted certificate authorities, read only once because it is slow."""
    return httpx.create_ssl_context(trust_env=False)


class _AskedAgain(httpx.AsyncHTTPTransport):
    """Repeats a request if its connection breaks before a reply.

    A POST is not repeated, as the server may have read it before the connection broke.
    """

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        try:
            return await super().handle_async_request(request)
        except (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError):
            if request.method not in ("GET", "HEAD"):
                raise
            return await super().handle_async_request(request)


def retry_delay(suggested: str | None, usual: float) -> float:
    """Seconds to wait according to `Retry-After`, within limits."""
    try:
        return max(0.0, min(_PATIENCE, float(suggested))) if suggested else usual
    except ValueError:
        return usual
