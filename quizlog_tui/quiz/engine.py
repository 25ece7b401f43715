"""DBOS as tasks use it: a queue in a database, workflows that go on, and what was kept of each.

The only module that knows DBOS, of which a process has one. Knows nothing of pages. What goes into
the database is JSON, and passes the redaction first.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from dbos import DBOS, DBOSConfig, Serializer, SetWorkflowID, WorkflowStatus
from sqlalchemy.exc import SQLAlchemyError

from ..errors import ConfigError
from ..solver.redaction import Redaction
from .presence import Presence, present

QUEUE = "quizlog-tasks"
FORMAT = "quizlog-tasks-1"
"""Names the order of a task's acts: tasks of another order are not taken up."""
_POLL = 0.25
"""Seconds between two looks for waiting tasks."""
_WATCH = 1.0
"""Seconds between two looks for processes that are gone."""
_GRACE = 5.0
"""Seconds for answers that are being sent when the process is to end."""
_OPEN = ["ENQUEUED", "PENDING"]
_ENDED = ["SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"]
Work = Callable[[str, str, str], Awaitable[dict[str, Any]]]
"""Works a task of an id, an address and a URL: to its end, whichever process began it."""


@dataclass
class Engine:
    """A running engine; see `running`."""

    work: Work
    presence: Presence
    closing: bool = False
    busy: dict[str, asyncio.Task[Any]] = field(default_factory=dict)
    """The tasks worked in this process, by id."""
    sending: set[asyncio.Task[Any]] = field(default_factory=set)
    """Those that have announced an answer whose reply is not kept yet."""

    def register(self) -> None:
        """Make it known to DBOS which function a task's workflow is."""

        async def workflow(task: str, email: str, url: str) -> dict[str, Any]:
            return await self._workflow(task, email, url)

        self._registered = DBOS.workflow(name=FORMAT)(workflow)

    async def _workflow(self, task: str, email: str, url: str) -> dict[str, Any]:
        """Work a task. Ended from outside, it stays to be taken up again."""
        own = asyncio.current_task()
        if self.closing or own is None:
            raise asyncio.CancelledError
        self.busy[task] = own
        try:
            return await self.work(task, email, url)
        finally:
            self.busy.pop(task, None)
            self.sending.discard(own)

    async def step(self, name: str, act: Callable[[], Awaitable[Any]]) -> Any:
        """Inside a workflow: what an act returned, in this run or an earlier one.

        From `announce` to the end of `send` an end of the process waits for a little while.
        """
        own = asyncio.current_task()
        assert own is not None
        if self.closing and own not in self.sending:
            raise asyncio.CancelledError
        if name == "announce":
            self.sending.add(own)

        async def run() -> Any:
            return await act()

        kept = await DBOS.run_step_async({"name": name}, run)
        if name == "send":
            self.sending.discard(own)
        return kept

    async def enqueue(self, task: str, email: str, url: str) -> None:
        """Take a task, durably."""
        with SetWorkflowID(task):
            await DBOS.enqueue_workflow_async(QUEUE, self._registered, task, email, url)

    async def open_tasks(self, most: int) -> int:
        """How many tasks have not ended, counted up to a number."""
        rows = await DBOS.list_workflows_async(
            queue_name=QUEUE, status=_OPEN, limit=most, load_input=False, load_output=False
        )
        return len(rows)

    async def newest(self, most: int) -> list[WorkflowStatus]:
        """The tasks, newest first."""
        return await DBOS.list_workflows_async(name=FORMAT, sort_desc=True, limit=most)

    async def one(self, task: str) -> WorkflowStatus | None:
        """A task; None if there is none of this id."""
        rows = await DBOS.list_workflows_async(name=FORMAT, workflow_ids=[task])
        return rows[0] if rows else None

    async def forget(self, before: float) -> None:
        """Remove tasks that ended before a time."""
        limit = datetime.fromtimestamp(before, UTC).isoformat()
        which: dict[str, Any] = {"status": _ENDED, "completed_before": limit}
        with contextlib.suppress(SQLAlchemyError):  # it is away: removed another time
            rows = await DBOS.list_workflows_async(
                name=FORMAT, load_input=False, load_output=False, **which
            )
            await DBOS.delete_workflows_async([row.workflow_id for row in rows])

    async def watch(self) -> None:
        """Put the tasks of processes that are gone back into the queue, for ever."""
        while True:
            with contextlib.suppress(ConfigError, SQLAlchemyError):  # it is away: asked again
                await self._take_over()
            await asyncio.sleep(_WATCH)

    async def _take_over(self) -> None:
        rows = await DBOS.list_workflows_async(
            queue_name=QUEUE, status="PENDING", load_input=False, load_output=False
        )
        names = {row.executor_id for row in rows if row.executor_id} - {self.presence.name}
        for name in sorted(names):
            if await asyncio.to_thread(self.presence.is_gone, name):
                # Without a name in public: DBOS sells a service that calls it.
                await asyncio.to_thread(DBOS._recover_pending_workflows, [name])

    async def stop(self) -> None:
        """End what runs here, to be taken up again; what is being sent gets a little time."""
        self.closing = True
        tasks = list(self.busy.values())
        for task in tasks:
            if task not in self.sending:
                task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=_GRACE)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def put(key: str, value: Any) -> None:
    """Inside a workflow: keep a value under a name, for all to see."""
    await DBOS.set_event_async(key, value)


async def kept(task: str) -> dict[str, Any]:
    """What a task has put."""
    return await DBOS.get_all_events_async(task)


@asynccontextmanager
async def running(url: str, slots: int, work: Work, clean: Redaction) -> AsyncIterator[Engine]:
    """Work the tasks of a database; those that were left go on.

    Args:
        url: The database.
        slots: Tasks worked by each process at the same time.
        work: Works one.
        clean: What is kept passes it.

    Raises:
        ConfigError: The database cannot be used.
        LockedError: It is a file, and another process works it.
    """
    with present(url) as presence:
        engine = Engine(work, presence)
        await _launch(engine, url, slots, clean)
        watching = asyncio.create_task(engine.watch())
        try:
            yield engine
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
            await engine.stop()
            await _destroy()


async def _launch(engine: Engine, url: str, slots: int, clean: Redaction) -> None:
    config = DBOSConfig(
        name="quizlog",
        system_database_url=url.replace("postgres:", "postgresql:", 1),
        application_version=FORMAT,
        executor_id=engine.presence.name,
        serializer=_Clean(clean),
        enable_otlp=False,
        log_level="CRITICAL",  # what goes wrong at the start is said below
    )
    try:
        DBOS(config=config)
        engine.register()
        DBOS.launch()
        await DBOS.register_queue_async(
            QUEUE, worker_concurrency=slots, polling_interval_sec=_POLL, on_conflict="always_update"
        )
    except Exception as error:
        await _destroy()
        said = str(error).strip().partition("\n")[0]
        message = f"cannot keep tasks: {said}"
        raise ConfigError(message, where="TASK_DATABASE_URL") from None
    logging.getLogger("dbos").setLevel(logging.ERROR)


async def _destroy() -> None:
    """End DBOS, and give the loop back its own threads: DBOS had put its in their place."""
    loop = asyncio.get_running_loop()
    loop.set_default_executor(ThreadPoolExecutor(thread_name_prefix="quizlog"))
    await asyncio.to_thread(DBOS.destroy, destroy_registry=True)


class _Clean(Serializer):
    """JSON without keys or secrets; what failed is kept as its text."""

    def __init__(self, redaction: Redaction) -> None:
        self._redaction = redaction

    def name(self) -> str:
        return FORMAT

    def serialize(self, data: Any) -> str:
        plain = json.loads(json.dumps(data, default=_failed))
        return json.dumps(self._redaction.clean_value(plain))

    def deserialize(self, text: str) -> Any:
        return json.loads(text, object_hook=_raised)


def _failed(value: Any) -> dict[str, str]:
    return {"quizlog failed": f"{type(value).__name__}: {value}"}


def _raised(data: dict[str, Any]) -> Any:
    return RuntimeError(data["quizlog failed"]) if data.keys() == {"quizlog failed"} else data
