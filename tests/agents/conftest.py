"""An MCP server of a test's folder, and the SDK's client of it in both eras of the protocol."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from quizlog_tui.agents.mcp_server import Role, make_server
from quizlog_tui.session.open_sessions import OpenSessions
from quizlog_tui.session.replayer_pool import ReplayerPool
from quizlog_tui.session.served_folders import Folders, served

QUIZ = """
    name = input("name? ")
    print("hi", name)
    if input("sure? (yes/no) ") != "yes":
        raise Exception("be sure")  #score=0.4
    print("done")
"""
Connect = Callable[..., AbstractAsyncContextManager[Client]]


@pytest.fixture
def sessions(tmp_path: Path) -> Iterator[OpenSessions]:
    found = OpenSessions(served([tmp_path]), ReplayerPool())
    yield found
    found.close()


@pytest.fixture(params=["auto", "legacy"])
def era(request: pytest.FixtureRequest) -> str:
    """The default way to connect, and that of clients before 2026."""
    return str(request.param)


@pytest.fixture
def connect(sessions: OpenSessions, era: str) -> Connect:
    """Connects a client of a role."""

    @asynccontextmanager
    async def connected(
        role: Role = "auditor", folders: Folders | None = None, **more: Any
    ) -> AsyncIterator[Client]:
        if folders is not None:
            sessions.folders = folders
        async with Client(make_server(sessions, role), mode=era, **more) as client:
            yield client

    return connected


def texts(result: Any) -> list[str]:
    """The texts of a result, for a model to read."""
    return [content.text for content in result.content]
