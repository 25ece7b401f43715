"""A server as users start it, in a process of its own, that takes tasks."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from tests.webquiz.conftest import SECRET


@asynccontextmanager
async def serving(folder: Path, models: str, **settings: str) -> AsyncIterator[tuple[Process, str]]:
    """A server as users start it, and its address."""
    voter = {"name": "ada", "primary": True, "base_url": models, "model": "ada"}
    (folder / "models.yaml").write_text(json.dumps({"models": [voter]}))
    own = {"USER_SECRET": SECRET, "QUIZ_PRIVATE_HOSTS": "127.0.0.1", "MAX_CONCURRENT_TASKS": "2"}
    own |= {"TASK_BASEDIR": str(folder / "tasks")} | settings
    (folder / "env").write_text("".join(f"{name}={value}\n" for name, value in own.items()))
    words = ["-m", "quizlog_tui", "serve", "--json", "--port", "0", "--folder", str(folder)]
    words += ["--env", str(folder / "env"), "--models", str(folder / "models.yaml")]
    environment = os.environ | {"QUIZLOG_TOKEN": "a token"}
    process = await asyncio.create_subprocess_exec(
        sys.executable, *words, stdout=PIPE, stderr=PIPE, env=environment
    )
    try:
        assert process.stdout
        yield process, json.loads(await process.stdout.readline())["url"]
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def until(state: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(120):
        while not await state():
            await asyncio.sleep(0.05)
