"""How the MCP server is reached: by the two streams of a process, or over HTTP."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any

import anyio
from mcp.server.mcpserver import MCPServer
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.message import SessionMessage
from mcp.types import PARSE_ERROR, ErrorData, JSONRPCError
from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.routing import BaseRoute

from ..errors import UsageError
from ..text import is_whole

PATH = "/mcp"
"""The path of the endpoint."""
_CHUNK = 2**16
"""Maximum number of bytes that are read at once."""


def serve_stdio(server: MCPServer[None]) -> int:
    """Answer the client that started this process, until it closes stdin or sends SIGTERM.

    Returns:
        The exit code.

    Raises:
        UsageError: Stdin cannot be read.
        OSError: Stdout cannot be written.
    """
    try:
        with _taken_stdin() as stdin:
            return anyio.run(_serve_stdio, server, stdin)
    except BaseExceptionGroup as group:
        raise _first(group) from None


def _first(error: BaseException) -> BaseException:
    """The first error of a group, which the tasks of the SDK make of any."""
    return _first(error.exceptions[0]) if isinstance(error, BaseExceptionGroup) else error


@contextmanager
def _taken_stdin() -> Iterator[int]:
    """A descriptor of the client's messages; whatever else reads stdin meanwhile finds its end."""
    taken = os.dup(0)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    try:
        yield taken
    finally:
        os.dup2(taken, 0)
        os.close(taken)


async def _lines(stdin: int) -> AsyncIterator[str]:
    """The lines of a descriptor.

    The SDK reads in a thread, which a signal cannot end: it would wait for the client's next line.
    """
    rest = bytearray()
    while data := await _read(stdin):
        *ended, more = data.split(b"\n")
        for line in ended:
            yield (rest + line).decode("utf-8", "replace")
            rest.clear()
        rest += more
    if rest:
        yield rest.decode("utf-8", "replace")


async def _read(stdin: int) -> bytes:
    with suppress(PermissionError):  # a regular file, which is always readable
        await anyio.wait_readable(stdin)
    try:
        return os.read(stdin, _CHUNK)
    except OSError as error:
        hint = "a client starts this command; --install sets one up"
        raise UsageError(f"cannot read: {error.strerror}", where="stdin", hint=hint) from None


async def _serve_stdio(server: MCPServer[None], stdin: int) -> int:
    """Serve until the end of stdin or SIGTERM; the exit code.

    A handler that raises would do so inside any of the SDK's tasks.
    """
    code = 0
    async with anyio.create_task_group() as tasks:

        async def end() -> None:
            nonlocal code
            with anyio.open_signal_receiver(signal.SIGTERM) as signals:
                code = 128 + await anext(signals)
            tasks.cancel_scope.cancel()

        tasks.start_soon(end)
        await _serve_streams(server, stdin)
        tasks.cancel_scope.cancel()
    return code


async def _serve_streams(server: MCPServer[None], stdin: int) -> None:
    """Serve, and answer a message that the SDK cannot read, whose sender would wait for ever."""
    core = server._lowlevel_server  # `run_stdio_async` has no place for this between its streams
    sender, receiver = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    lines: Any = _lines(stdin)
    async with stdio_server(lines) as (read, write), receiver, anyio.create_task_group() as tasks:

        async def sift() -> None:
            async with sender, read:
                async for item in read:
                    if not isinstance(item, Exception):
                        await sender.send(item)
                        continue
                    error, is_answer = _unreadable(item)
                    await (sender if is_answer else write).send(SessionMessage(error))

        tasks.start_soon(sift)
        await core.run(receiver, write, core.create_initialization_options())
        tasks.cancel_scope.cancel()


def _unreadable(error: Exception) -> tuple[JSONRPCError, bool]:
    """What to say of a message that is no JSON-RPC in UTF-8, and whether it was itself an answer.

    It goes to the sender of the message, if that has an id; of an answer, to who has asked.
    """
    message = _message_of(error)
    number = message.get("id")
    is_text = isinstance(number, str) and is_whole(number)
    known = number if is_text or type(number) is int else None
    said = "the message is not JSON-RPC, or a text in it holds half of a surrogate pair"
    answer = JSONRPCError(jsonrpc="2.0", id=known, error=ErrorData(code=PARSE_ERROR, message=said))
    return answer, "result" in message


def _message_of(error: Exception) -> Mapping[str, Any]:
    """The message that could not be read, as far as it is a JSON object."""
    faults = error.errors() if isinstance(error, ValidationError) else []
    for fault in faults:
        if fault["type"] in ("json_invalid", "missing"):
            whole = fault["input"]
            with suppress(ValueError, RecursionError):
                whole = json.loads(whole) if isinstance(whole, str) else whole
            return whole if isinstance(whole, Mapping) else {}
    return {}


def http_routes(server: MCPServer[None], largest: int) -> list[BaseRoute]:
    """The routes of the endpoint; the application enters `http_running` for its lifetime.

    Args:
        server: The server.
        largest: Maximum number of bytes of a request's body.
    """
    checked = TransportSecuritySettings(enable_dns_rebinding_protection=False)  # by our own rules
    app = server.streamable_http_app(
        streamable_http_path=PATH, max_request_body_size=largest, transport_security=checked
    )
    return list(app.routes)


def http_app(server: MCPServer[None], largest: int) -> Starlette:
    """An application that has only the endpoint; it lets every request in."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with http_running(server):
            yield

    return Starlette(routes=http_routes(server, largest), lifespan=lifespan)


@asynccontextmanager
async def http_running(server: MCPServer[None]) -> AsyncIterator[None]:
    """Keep the sessions of clients with older protocols while the application runs."""
    async with server.session_manager.run():
        yield
