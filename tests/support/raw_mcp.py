"""Clients of MCP that send whatever they are told to, over stdio or HTTP, as the SDK's would not."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import httpx

from tests.support.doors import Era, mcp_url

OLD, NEW = "2025-06-18", "2026-07-28"
"""A protocol with a handshake, and the one without."""
Caller = Callable[[Any, Any], Awaitable[dict[str, Any]]]
"""Calls a tool with arguments; the JSON-RPC message that answers it."""


def hello(name: str = "raw", version: str = "1") -> dict[str, Any]:
    """The parameters of the first request."""
    client = {"name": name, "version": version}
    return {"protocolVersion": OLD, "capabilities": {}, "clientInfo": client}


def call(number: Any, tool: Any, arguments: Any) -> dict[str, Any]:
    """The request that calls a tool."""
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


class RawStdio:
    """`quizlog mcp` in a process, and its two streams."""

    def __init__(self, process: Process) -> None:
        self.process = process

    async def send(self, message: Any) -> None:
        """Send a message, or a line as it is."""
        line = message if isinstance(message, bytes) else json.dumps(message).encode()
        assert self.process.stdin
        self.process.stdin.write(line + b"\n")
        await self.process.stdin.drain()

    async def next(self) -> dict[str, Any]:
        """The next answer."""
        assert self.process.stdout
        async with asyncio.timeout(60):
            while True:
                found: dict[str, Any] = json.loads(await self.process.stdout.readline())
                if "method" not in found:
                    return found

    async def begin(self, name: str = "raw", version: str = "1") -> None:
        """Shake hands."""
        params = hello(name, version)
        await self.send({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
        assert (await self.next())["id"] == 0
        await self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    async def call(self, tool: Any, arguments: Any, number: Any = 1) -> dict[str, Any]:
        """The answer to a call."""
        await self.send(call(number, tool, arguments))
        return await self.next()

    async def leave(self) -> str:
        """Close stdin; what the server said on stderr until it ended by itself."""
        assert self.process.stdin and self.process.stderr
        self.process.stdin.close()
        async with asyncio.timeout(60):
            said = await self.process.stderr.read()
            await self.process.wait()
        return said.decode()


@asynccontextmanager
async def raw_stdio(folder: Path, *options: str) -> AsyncIterator[RawStdio]:
    """A server that has been greeted; at the end it must have ended without a word on stderr."""
    words = [sys.executable, "-m", "quizlog_tui", "mcp", *options, str(folder)]
    process = await asyncio.create_subprocess_exec(
        *words, stdin=PIPE, stdout=PIPE, stderr=PIPE, limit=2**26, env=os.environ
    )
    raw = RawStdio(process)
    try:
        await raw.begin()
        yield raw
        assert await raw.leave() == ""
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


class RawHttp:
    """A client of one endpoint, in one era."""

    def __init__(
        self, url: str, http: httpx.AsyncClient, era: Era, token: str | None = None
    ) -> None:
        self.url = httpx.URL(url)
        self._http = http
        self._era = era
        self._own = {} if token is None else {"authorization": f"Bearer {token}"}
        self._numbers = count(1)

    async def begin(self, name: str = "raw", version: str = "1") -> None:
        """Shake hands, in the older protocols."""
        if self._era == "legacy":
            first = {"jsonrpc": "2.0", "id": 0, "method": "initialize"}
            found = await self.post(first | {"params": hello(name, version)})
            self._own |= {"mcp-session-id": found.headers["mcp-session-id"]}
            await self.post({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def headers(self, tool: str = "show") -> dict[str, str]:
        """The headers of a call."""
        kinds = "application/json, text/event-stream"
        headers = {"accept": kinds, "content-type": "application/json", **self._own}
        if self._era == "auto":
            headers |= {"mcp-protocol-version": NEW, "mcp-method": "tools/call", "mcp-name": tool}
        return headers

    async def post(self, message: Any, tool: str = "show", **headers: str | None) -> httpx.Response:
        """The response to a message, or to a body as it is; headers that are None are left out."""
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        given = self.headers(tool) | {k.replace("_", "-"): v for k, v in headers.items()}
        sent = {name: value for name, value in given.items() if value is not None}
        return await self._http.post(self.url, content=body, headers=sent)

    def message(self, tool: str, arguments: Any) -> dict[str, Any]:
        """The request that calls a tool."""
        made = call(next(self._numbers), tool, arguments)
        if self._era == "auto":
            prefix = "io.modelcontextprotocol/"
            info = {"name": "raw", "version": "1"}
            made["params"]["_meta"] = {
                f"{prefix}protocolVersion": NEW,
                f"{prefix}clientInfo": info,
                f"{prefix}clientCapabilities": {},
            }
        return made

    async def call(self, tool: str, arguments: Any) -> dict[str, Any]:
        """The answer to a call."""
        return answer_in(await self.post(self.message(tool, arguments), tool))


def answer_in(response: httpx.Response) -> dict[str, Any]:
    """The last message of a response, which may be a stream of them."""
    lines = response.text.splitlines()
    data = [line.removeprefix("data: ") for line in lines if line.startswith("data: ")]
    found: dict[str, Any] = json.loads(data[-1] if data else response.text)
    return found


@asynccontextmanager
async def raw_http(folder: Path, era: Era, **options: Any) -> AsyncIterator[RawHttp]:
    """A greeted client of `quizlog mcp --http`; the options are those of `mcp_url`."""
    async with mcp_url(folder, **options) as url, httpx.AsyncClient(timeout=60) as http:
        raw = RawHttp(url, http, era)
        await raw.begin()
        yield raw


RAW: dict[str, Callable[[Path], AbstractAsyncContextManager[RawStdio | RawHttp]]] = {
    "stdio": raw_stdio,
    "http": partial(raw_http, era="auto"),
    "http, legacy": partial(raw_http, era="legacy"),
}
"""The ways by which another machine's client comes in."""
