"""Works the tasks of the queue as durable workflows, and stores what each of them yields.

The workflows run in DBOS, of which a process has one instance. Nothing here knows what the tasks
do. Values are stored as JSON, with secrets removed.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from dbos import DBOS, DBOSClient, DBOSConfig, SetEnqueueOptions, SetWorkflowID, WorkflowStatus
from sqlalchemy.exc import SQLAlchemyError

from ..errors import ConfigError, QuizlogError
from ..solver.redaction import Redaction
from .database import (
    APPLICATION,
    FORMAT,
    OPEN,
    QUEUE,
    Clean,
    refuse_other_forms,
    refused,
    system_url,
)
from .presence import Presence, present

_POLL = 0.25
"""Seconds between two checks for waiting tasks."""
_WATCH = 1.0
"""Seconds between two checks for processes that have ended."""
_NOTICE = 0.1
"""Seconds between two checks for messages to tasks. None are sent, but DBOS's end waits for one."""
_GRACE = 5.0
"""Seconds that the end of the process waits for answers being sent."""
_ENDED = ["SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"]
Work = Callable[..., Awaitable[dict[str, Any]]]
"""Works a task, given its id and arguments, to its end, even if another process began it."""

Row = WorkflowStatus
"""A task's row in the database."""
_Workflow = Callable[..., Coroutine[Any, Any, dict[str, Any]]]


@dataclass
class Engine:
    """The part of this process that works tasks; see `running`."""

    works: Mapping[str, Work]
    """The function that works each kind of task."""
    presence: Presence
    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)
    """The event loop for tasks; DBOS uses another one while this one does not run."""
    closing: bool = False
    busy: dict[str, asyncio.Task[Any]] = field(default_factory=dict)
    """The tasks worked in this process, by id."""
    sending: set[asyncio.Task[Any]] = field(default_factory=set)
    """The tasks that have announced an answer whose reply is not stored yet."""

    def register(self) -> None:
        """Register the workflow of each kind of task with DBOS."""
        self._registered = {kind: self._register(kind, work) for kind, work in self.works.items()}

    def _register(self, kind: str, work: Work) -> _Workflow:
        async def workflow(task: str, *arguments: Any) -> dict[str, Any]:
            return await self._workflow(work, task, arguments)

        return DBOS.workflow(name=kind)(workflow)

    async def _workflow(self, work: Work, task: str, arguments: tuple[Any, ...]) -> dict[str, Any]:
        """Work a task. If it is cancelled, it stays in the queue to be continued."""
        own = asyncio.current_task()
        if self.closing or own is None or own.get_loop() is not self.loop:
            raise asyncio.CancelledError
        self.busy[task] = own
        try:
            return await work(task, *arguments)
        finally:
            self.busy.pop(task, None)
            self.sending.discard(own)

    async def step(self, name: str, act: Callable[[], Awaitable[Any]]) -> Any:
        """Inside a workflow: run a step once; return its result, stored if it ran before.

        Between the start of step `announce` and the end of step `send`, `stop` waits for the task.
        """
        own = asyncio.current_task()
        assert own is not None
        if self.closing and own not in self.sending:
            raise asyncio.CancelledError
        if name == "announce":
            self.sending.add(own)

        async def run() -> Any:
            return await act()

        result = await DBOS.run_step_async({"name": name}, run)
        if name == "send":
            self.sending.discard(own)
        return result

    async def enqueue(self, kind: str, task: str, *arguments: Any, only: str | None = None) -> str:
        """Queue a task durably; return its id.

        `only` is a key that is unique among open tasks on all machines: if one has it already,
        nothing is queued and that task's id is returned.
        """
        policy: Any = only and "return-existing"
        with (
            SetWorkflowID(task),
            SetEnqueueOptions(deduplication_id=only, duplication_policy=policy),
        ):
            workflow = self._registered[kind]
            handle = await DBOS.enqueue_workflow_async(QUEUE, workflow, task, *arguments)
        return handle.get_workflow_id()

    async def unfinished_tasks(self, kind: str, most: int) -> list[Row]:
        """The tasks of a kind that have not ended, at most `most`."""
        return await DBOS.list_workflows_async(
            queue_name=QUEUE,
            name=kind,
            status=OPEN,
            limit=most,
            load_input=False,
            load_output=False,
        )

    async def newest(self, kind: str, most: int) -> list[Row]:
        """The tasks of a kind, newest first, at most `most`."""
        return await DBOS.list_workflows_async(name=kind, sort_desc=True, limit=most)

    async def one(self, kind: str, task: str) -> Row | None:
        """The task of a kind with this id; None if there is none."""
        rows = await DBOS.list_workflows_async(name=kind, workflow_ids=[task])
        return rows[0] if rows else None

    async def forget(self, before: float) -> None:
        """Remove the tasks that ended before a time, in seconds since 1970."""
        limit = datetime.fromtimestamp(before, UTC).isoformat()
        ended: dict[str, Any] = {"status": _ENDED, "completed_before": limit}
        with contextlib.suppress(SQLAlchemyError):  # unreachable: removed another time
            rows = await DBOS.list_workflows_async(
                name=list(self.works), load_input=False, load_output=False, **ended
            )
            await DBOS.delete_workflows_async([row.workflow_id for row in rows])

    async def watch(self) -> None:
        """Put the tasks of processes that have ended back into the queue, forever."""
        while True:
            with contextlib.suppress(ConfigError, SQLAlchemyError):  # unreachable: asked again
                await self._take_over()
            await asyncio.sleep(_WATCH)

    async def _take_over(self) -> None:
        rows = await DBOS.list_workflows_async(
            queue_name=QUEUE, status="PENDING", load_input=False, load_output=False
        )
        names = {row.executor_id for row in rows if row.executor_id} - {self.presence.name}
        for name in sorted(names):
            if await asyncio.to_thread(self.presence.is_gone, name):
                # A private function, as DBOS sells a service that calls it.
                await asyncio.to_thread(DBOS._recover_pending_workflows, [name])

    async def stop(self) -> None:
        """Cancel this process's tasks, to be continued later; answers being sent get some time."""
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


async def store_value(key: str, value: Any) -> None:
    """Inside a workflow: store a value of the task under a name, readable by all processes."""
    await DBOS.set_event_async(key, value)


async def stored_values(task: str) -> dict[str, Any]:
    """The values that a task has stored, by name."""
    return await DBOS.get_all_events_async(task)


@asynccontextmanager
async def running(
    url: str, slots: int, works: Mapping[str, Work], clean: Redaction
) -> AsyncIterator[Engine]:
    """Work the tasks in a database until the end of the block; unfinished ones are continued.

    Args:
        url: The address of the database.
        slots: Maximum number of concurrent tasks in each process.
        works: The function that works each kind of task.
        clean: Removes secrets from what is stored.

    Raises:
        ConfigError: The database cannot be used.
        LockedError: The database is a file, and another process works its tasks.
    """
    with present(url) as presence:
        engine = Engine(works, presence)
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
        name=APPLICATION,
        system_database_url=system_url(url),
        application_version=FORMAT,
        executor_id=engine.presence.name,
        serializer=Clean(clean),
        enable_otlp=False,
        notification_listener_polling_interval_sec=_NOTICE,
        log_level="CRITICAL",
    )
    logging.getLogger("dbos").setLevel(logging.CRITICAL)  # faults at the start are reported below
    try:
        await asyncio.to_thread(_prepare, engine.presence, url, slots)
        DBOS(config=config)
        engine.register()
        DBOS.launch()
    except QuizlogError:
        await _destroy()
        raise
    except Exception as error:
        await _destroy()
        raise await asyncio.to_thread(refused, error, url, "cannot store tasks") from None
    logging.getLogger("dbos").setLevel(logging.ERROR)


def _prepare(presence: Presence, url: str, slots: int) -> None:
    """Check what the database holds, and make what it lacks, alone among the servers."""
    with presence.alone():
        refuse_other_forms(url)
        _declare_queue(url, slots)


def _declare_queue(url: str, slots: int) -> None:
    """Make the tables and the queue. DBOS looks for queues as it starts, then once a second."""
    DBOS.migrate(system_url(url))
    client = DBOSClient(system_database_url=system_url(url), application_name=APPLICATION)
    try:
        client.register_queue(QUEUE, worker_concurrency=slots, polling_interval_sec=_POLL)
    finally:
        client.destroy()


async def _destroy() -> None:
    """End DBOS and replace the loop's executor, which DBOS had set to its own."""
    loop = asyncio.get_running_loop()
    loop.set_default_executor(ThreadPoolExecutor(thread_name_prefix="quizlog"))
    await asyncio.to_thread(DBOS.destroy, destroy_registry=True)
