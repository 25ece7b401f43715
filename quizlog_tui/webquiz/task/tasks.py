"""The tasks of a database: taken at once, worked a few at a time, gone on with after a crash.

A task is a workflow (`engine`) whose acts are kept (`durable`). Starting one waits for the database
only. The secret is configuration of each process, and no part of a task that is kept.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ...errors import LimitError, UsageError
from ...files.digest import hex_digest
from ..net.address import Allowed, BadAddressError, allowed_for, is_special
from .durable import durable
from .settings import TaskSettings
from .task import PageResult, TaskRequest
from .task_context import TaskContext
from .task_runner import TaskRunner
from .workspace import sweep

if TYPE_CHECKING:
    from ...queue.engine import Engine, Row, Work

KIND = "quizlog-tasks-3"
"""Names the order of a task's acts: tasks of another order are not taken up."""
_SWEEP = 600.0
"""Seconds between two sweeps."""
_MOST_LISTED = 200
_PATIENCE = 0.5
"""Seconds between two looks at a task that another machine may work."""
_LATER = "send it again when one has ended; MAX_QUEUED_TASKS raises the limit"
_STATES = {"ENQUEUED": "queued", "PENDING": "running", "CANCELLED": "cancelled"}
_OPEN = ("queued", "running")


@asynccontextmanager
async def open_tasks(
    shop: TaskRunner, others: Mapping[str, Work] = MappingProxyType({})
) -> AsyncIterator[Tasks]:
    """The tasks of the configured database; those left by a process that is gone go on.

    Args:
        shop: What tasks share.
        others: How tasks of other kinds in the same queue are worked.

    Raises:
        ConfigError: The database cannot be used.
        LockedError: It is a file, and another process works it.
    """
    from ...queue.engine import running

    settings, tasks = shop.settings, Tasks(shop)
    url, slots = settings.database, settings.max_concurrent_tasks
    works, clean = {KIND: tasks.work, **others}, shop.panel.redaction.also(settings.secrets)
    async with running(url, slots, works, clean) as tasks.engine:
        sweeping = asyncio.create_task(tasks.sweep())
        try:
            yield tasks
        finally:
            sweeping.cancel()
            await asyncio.gather(sweeping, return_exceptions=True)


class Tasks:
    """The tasks, seen from one of the processes that work them; see `open_tasks`."""

    engine: Engine

    def __init__(self, shop: TaskRunner) -> None:
        self._shop = shop
        self._news = asyncio.Event()
        self._starting = asyncio.Lock()

    @property
    def settings(self) -> TaskSettings:
        """The configuration."""
        return self._shop.settings

    async def start(self, request: TaskRequest) -> str:
        """Take a task; its id. Once it returns, the task outlives this process.

        Two that answer the same page for the same person would overwrite each other's answers: of
        one that is open the id is returned, and no other is taken.

        Raises:
            UsageError: Its URL is none to visit.
            LimitError: Too many are waiting. (Each process counts and takes one at a time; of
                several that share a database each may take one over the limit.)
        """
        fault = url_fault(request.url, self.settings)
        if fault:
            hint = "send the address of the quiz's first page"
            raise UsageError(f"the url {fault}", where="url", hint=hint)
        most = self.settings.max_concurrent_tasks + self.settings.max_queued_tasks
        only = f"{KIND} {hex_digest(json.dumps([request.email, request.url]).encode())}"
        async with self._starting:
            waiting = await self.engine.unfinished_tasks(KIND, most)
            if same := [row for row in waiting if row.deduplication_id == only]:
                return same[0].workflow_id
            if len(waiting) >= most:
                raise LimitError("too many tasks are waiting", hint=_LATER)
            given = request.email, request.url, request.triggered
            return await self.engine.enqueue(KIND, request.id, *given, only=only)

    async def list(self) -> list[dict[str, Any]]:
        """How each of the newest tasks stands, newest first."""
        found = []
        for row in await self.engine.newest(KIND, _MOST_LISTED):
            found.append(_brief(await self._state(row)) | {"created": (row.created_at or 0) / 1000})
        return found

    async def get(self, task: str) -> dict[str, Any]:
        """One task with all its pages.

        Raises:
            UsageError: There is none of this id.
        """
        row = await self.engine.one(KIND, task) if task.isalnum() else None
        if row is None:
            hint = "GET /tasks lists those there are"
            raise UsageError("there is no such task", where=task[:80], hint=hint)
        return await self._state(row)

    async def events(self, task: str) -> AsyncIterator[dict[str, Any]]:
        """How a task stands, now and after each change, until its end.

        Raises:
            UsageError: There is none of this id.
        """
        before = None
        while True:
            news, state = self._news, await self.get(task)
            if state != before:
                yield state
            if state["state"] not in _OPEN:
                return
            before = state
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(news.wait(), _PATIENCE)

    async def work(self, task: str, email: str, url: str, triggered: float) -> dict[str, Any]:
        """Work a task as far as it is not worked yet: what the engine calls."""
        from ...queue.engine import store_value

        request = TaskRequest(email, self.settings.user_secret, url, task, triggered)
        pages = 0

        async def store_page(page: PageResult) -> None:
            nonlocal pages
            pages += 1
            await store_value(f"{pages:03d}", asdict(page))
            self._tell()

        async def lasting(tools: TaskContext) -> TaskContext:
            return replace(await durable(tools, self.engine.step), kept=store_page)

        result = await self._shop.work(request, lasting=lasting)
        return result.to_dict()

    async def sweep(self) -> None:
        """Remove what is older than it is to be kept, again and again."""
        hours = self.settings.task_retention_hours
        while True:
            busy = frozenset(self.engine.busy)
            with contextlib.suppress(OSError):
                await asyncio.to_thread(sweep, self.settings.task_basedir, hours, busy)
            await self.engine.forget(time.time() - hours * 3600)
            await asyncio.sleep(_SWEEP)

    def _tell(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    async def _state(self, row: Row) -> dict[str, Any]:
        if row.output is not None:
            data: dict[str, Any] = row.output
            return data
        from ...queue.engine import stored_values

        pages = [page for _, page in sorted((await stored_values(row.workflow_id)).items())]
        _, email, url, *_ = row.input["args"] if row.input else ("", "", "")
        state = _STATES.get(row.status, "failed")
        error = str(row.error) if row.error else None
        right = sum(page["state"] == "correct" for page in pages)
        return {"schema_version": 1, "id": row.workflow_id, "email": email, "url": url,
                "state": state, "pages": pages, "refused": [], "error": error,
                "right": right}  # fmt: skip


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


def _brief(state: dict[str, Any]) -> dict[str, Any]:
    """A task without its pages."""
    named = {name: state[name] for name in ("id", "email", "url", "state")}
    return named | {"pages": len(state["pages"]), "right": state["right"]}
