"""How the MCP server is reached: by the two streams of a process, or over HTTP."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
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

PATH = "/mcp"
"""The path of the endpoint."""


def serve_stdio(server: MCPServer[None]) -> None:
    """Answer the client that started this process, until it closes stdin.

    Raises:
        OSError: Stdin or stdout cannot be used.
    """
    try:
        anyio.run(_serve_stdio, server)
    except BaseExceptionGroup as group:
        raise _first(group) from None


def _first(error: BaseException) -> BaseException:
    """The first error of a group, which the tasks of the SDK make of any."""
    return _first(error.exceptions[0]) if isinstance(error, BaseExceptionGroup) else error


async def _serve_stdio(server: MCPServer[None]) -> None:
    """Serve, and answer a message that the SDK cannot read, whose sender would wait for ever."""
    core = server._lowlevel_server  # `run_stdio_async` has no place for this between its streams
    sender, receiver = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    async with stdio_server() as (read, write), receiver, anyio.create_task_group() as tasks:

        async def sift() -> None:
            async with sender, read:
                async for item in read:
                    if isinstance(item, Exception):
                        await write.send(SessionMessage(_unreadable(item)))
                    else:
                        await sender.send(item)

        tasks.start_soon(sift)
        await core.run(receiver, write, core.create_initialization_options())
        tasks.cancel_scope.cancel()


def _unreadable(error: Exception) -> JSONRPCError:
    """The answer to a message that is no JSON-RPC in UTF-8, to its sender if it has an id."""
    faults = error.errors() if isinstance(error, ValidationError) else []
    wholes = [fault["input"] for fault in faults if fault["type"] in ("json_invalid", "missing")]
    known = _number(wholes[0]) if wholes else None
    said = "the message is not JSON-RPC, or a text in it holds half of a surrogate pair"
    return JSONRPCError(jsonrpc="2.0", id=known, error=ErrorData(code=PARSE_ERROR, message=said))


def _number(whole: Any) -> int | str | None:
    """The id of a message, given as its line or as what that holds; None if there is none."""
    try:
        number = (json.loads(whole) if isinstance(whole, str) else whole)["id"]
    except (ValueError, TypeError, LookupError, RecursionError):
        return None
    return number if isinstance(number, int | str) and not isinstance(number, bool) else None


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
