"""A server in process, and the records it serves."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from fastapi import FastAPI

from quizlog_tui.server.admission import AccessRules
from quizlog_tui.server.app import ServerSettings, create_app
from quizlog_tui.session.served_folders import served
from quizlog_tui.solver.models.choice import Choice
from tests.webquiz.conftest import shared_browser  # noqa: F401


@pytest.fixture
def serving(tmp_path: Path) -> Iterator[Callable[..., FastAPI]]:
    """Makes an application that serves the test's folder."""
    made: list[FastAPI] = []

    def make(models: Path | None = None, rules: AccessRules | None = None, **more: Any) -> FastAPI:
        folders = served([more.pop("folder", tmp_path)])
        settings = ServerSettings(folders, rules or AccessRules(), Choice(models), **more)
        made.append(create_app(settings))
        return made[-1]

    yield make
    for app in made:
        app.state.sessions.close()


@asynccontextmanager
async def listening(app: Any, **options: Any) -> AsyncIterator[int]:
    """The port at which uvicorn serves an application."""
    given = {"port": 0, "log_level": "error", "lifespan": "off"} | options
    server = uvicorn.Server(uvicorn.Config(app, **given))
    running = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    try:
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = server.force_exit = True
        await running


class Server:
    """A client of an application in process."""

    def __init__(self, app: FastAPI, http: httpx.AsyncClient) -> None:
        self.app = app
        self.http = http

    async def next(self, expect: int = 200, **body: Any) -> dict[str, Any]:
        kind = {"content-type": "application/json"}
        data = json.dumps(body)
        reply = await self.http.post("/quizlog/next", content=data, headers=kind)
        assert reply.status_code == expect, reply.text
        said: dict[str, Any] = reply.json()
        assert said["schema_version"] == 1
        return said


@pytest.fixture
async def server(serving: Callable[..., FastAPI]) -> AsyncIterator[Server]:
    app = serving()
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:1") as http:
        yield Server(app, http)
