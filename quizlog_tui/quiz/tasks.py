"""All tasks of a process: taken at once, worked a few at a time, told of while they run.

Starting a task never waits. Closing ends all of them; what is finished can still be looked up.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

from ..errors import LimitError, UsageError
from .address import Allowed, BadAddressError, allowed_for, is_special
from .settings import TaskSettings
from .task import TaskRequest, TaskResult
from .tools import Workshop
from .workspace import RESULT, results_folder, sweep

_SWEEP = 600.0
"""Seconds between two sweeps."""
_REMEMBERED = 500
"""Ended tasks that are held in memory; older ones are read from their folders."""


@dataclass
class _Entry:
    request: TaskRequest
    result: TaskResult
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)
    version: int = 0
    ended: bool = False
    created: float = field(default_factory=time.time)


class Tasks:
    """The tasks of a process. Close it.

    Args:
        shop: What tasks share; closed with it.
    """

    def __init__(self, shop: Workshop) -> None:
        self._shop = shop
        self._entries: dict[str, _Entry] = {}
        self._running: dict[str, asyncio.Task[None]] = {}
        self._slots = asyncio.Semaphore(shop.settings.max_concurrent_tasks)
        self._sweeper: asyncio.Task[None] | None = None

    @property
    def settings(self) -> TaskSettings:
        """The configuration."""
        return self._shop.settings

    def start(self, request: TaskRequest) -> str:
        """Take a task; its id.

        Raises:
            UsageError: Its URL is none to visit.
            LimitError: Too many are waiting.
        """
        fault = url_fault(request.url, self.settings)
        if fault:
            raise UsageError(f"the url {fault}")
        settings = self.settings
        if len(self._running) >= settings.max_concurrent_tasks + settings.max_queued_tasks:
            raise LimitError("too many tasks are waiting", hint="try again later")
        result = TaskResult(request.id, request.email, request.url, "queued")
        entry = self._entries[request.id] = _Entry(request, result)
        task = asyncio.create_task(self._work(entry), name=f"quizlog-task-{request.id}")
        self._running[request.id] = task
        task.add_done_callback(lambda _: self._running.pop(request.id, None))
        self._forget()
        if self._sweeper is None:
            self._sweeper = asyncio.create_task(self._sweep())
        return request.id

    def list(self) -> list[dict[str, Any]]:
        """How each task stands, newest first."""
        entries = sorted(self._entries.values(), key=lambda one: -one.created)
        return [_brief(entry.result) | {"created": entry.created} for entry in entries]

    def get(self, task: str) -> dict[str, Any]:
        """One task with all its pages.

        Raises:
            UsageError: There is none of this id.
        """
        if task in self._entries:
            return self._entries[task].result.to_dict()
        kept = results_folder(self.settings.task_basedir, task) / RESULT
        if task.isalnum() and kept.is_file():
            data: dict[str, Any] = json.loads(kept.read_text(encoding="utf-8"))
            return data
        raise UsageError("there is no such task", where=task[:80])

    async def events(self, task: str) -> AsyncIterator[dict[str, Any]]:
        """How a task stands, now and after each change, until its end.

        Raises:
            UsageError: There is none of this id.
        """
        entry = self._entries.get(task)
        if entry is None:
            yield self.get(task)
            return
        seen, ended = -1, False
        while not ended:
            async with entry.changed:
                while entry.version <= seen and not entry.ended:
                    await entry.changed.wait()
                seen, ended = entry.version, entry.ended
            yield entry.result.to_dict()

    async def close(self) -> None:
        """End all tasks, and what they share."""
        waiting = [*self._running.values(), *([self._sweeper] if self._sweeper else [])]
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        await self._shop.close()

    async def _work(self, entry: _Entry) -> None:
        telling: set[asyncio.Task[None]] = set()

        def told(result: TaskResult) -> None:
            note = asyncio.create_task(self._put(entry, result, ended=False))
            telling.add(note)
            note.add_done_callback(telling.discard)

        try:
            async with self._slots:
                running = TaskResult(
                    entry.request.id, entry.request.email, entry.request.url, "running"
                )
                await self._put(entry, running, ended=False)
                result = await self._shop.work(entry.request, told)
                await asyncio.gather(*telling)
            await self._put(entry, result, ended=True)
        except asyncio.CancelledError:
            gone = TaskResult(entry.request.id, entry.request.email, entry.request.url, "cancelled")
            await self._put(entry, gone, ended=True)
            raise

    async def _put(self, entry: _Entry, result: TaskResult, *, ended: bool) -> None:
        async with entry.changed:
            entry.result, entry.ended = result, ended
            entry.version += 1
            entry.changed.notify_all()

    def _forget(self) -> None:
        ended = [name for name, entry in self._entries.items() if entry.ended]
        for name in ended[: max(0, len(ended) - _REMEMBERED)]:
            del self._entries[name]

    async def _sweep(self) -> None:
        settings = self.settings
        while True:
            busy = frozenset(self._running)
            with contextlib.suppress(OSError):
                await asyncio.to_thread(
                    sweep, settings.task_basedir, settings.task_retention_hours, busy
                )
            await asyncio.sleep(_SWEEP)


def url_fault(url: str, settings: TaskSettings) -> str | None:
    """Why a URL cannot be a task's; None if it can. Names are looked up later, at the gate."""
    try:
        allowed = allowed_for(url, settings.quiz_allowed_origins, settings.quiz_private_hosts)
    except BadAddressError as error:
        return str(error)
    host = next(iter(allowed_for(url).sites)).host
    return _literal_fault(host, allowed)


def _literal_fault(host: str, allowed: Allowed) -> str | None:
    try:
        special = is_special(host)
    except ValueError:
        special = host == "localhost" or host.endswith(".localhost")
    if special and host not in allowed.private_hosts:
        return "has a private address: name its host in QUIZ_PRIVATE_HOSTS to allow it"
    return None


def _brief(result: TaskResult) -> dict[str, Any]:
    right = sum(page.state == "correct" for page in result.pages)
    return {"id": result.id, "email": result.email, "url": result.url, "state": result.state,
            "pages": len(result.pages), "right": right}  # fmt: skip
