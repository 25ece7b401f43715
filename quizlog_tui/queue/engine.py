"""A process that works the queue: workflows that go on, and what was kept of each.

DBOS works it, of which a process has one. Knows nothing of what the work is. What goes into the
database is JSON, and passes the redaction first.
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

from dbos import DBOS, DBOSConfig, SetEnqueueOptions, SetWorkflowID, WorkflowStatus
from sqlalchemy.exc import SQLAlchemyError

from ..errors import ConfigError
from ..solver.redaction import Redaction
from .database import APPLICATION, FORMAT, OPEN, QUEUE, Clean, system_url
from .presence import Presence, present

_POLL = 0.25
"""Seconds between two looks for waiting tasks."""
_WATCH = 1.0
"""Seconds between two looks for processes that are gone."""
_GRACE = 5.0
"""Seconds for answers that are being sent when the process is to end."""
_ENDED = ["SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"]
Work = Callable[..., Awaitable[dict[str, Any]]]
"""Works a task of an id and what it was given: to its end, whichever process began it."""

Row = WorkflowStatus
"""A task as the database has it."""
Workflow = Callable[..., Coroutine[Any, Any, dict[str, Any]]]


@dataclass
class Engine:
    """A running engine; see `running`."""

    works: Mapping[str, Work]
    """How each kind of task is worked."""
    presence: Presence
    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)
    """The loop that tasks are worked in; DBOS takes another while this one does not run."""
    closing: bool = False
    busy: dict[str, asyncio.Task[Any]] = field(default_factory=dict)
    """The tasks worked in this process, by id."""
    sending: set[asyncio.Task[Any]] = field(default_factory=set)
    """Those that have announced an answer whose reply is not kept yet."""

    def register(self) -> None:
        """Make it known to DBOS which functions the tasks' workflows are."""
        self._registered = {kind: self._register(kind, work) for kind, work in self.works.items()}

    def _register(self, kind: str, work: Work) -> Workflow:
        async def workflow(task: str, *given: Any) -> dict[str, Any]:
            return await self._workflow(work, task, given)

        return DBOS.workflow(name=kind)(workflow)

    async def _workflow(self, work: Work, task: str, given: tuple[Any, ...]) -> dict[str, Any]:
        """Work a task. Ended from outside, it stays to be taken up again."""
        own = asyncio.current_task()
        if self.closing or own is None or own.get_loop() is not self.loop:
            raise asyncio.CancelledError
        self.busy[task] = own
        try:
            return await work(task, *given)
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

        stored_values = await DBOS.run_step_async({"name": name}, run)
        if name == "send":
            self.sending.discard(own)
        return stored_values

    async def enqueue(self, kind: str, task: str, *given: Any, only: str | None = None) -> str:
        """Take a task, durably; its id.

        Args:
            kind: Which work it is.
            task: Its id.
            given: What it is to work with: JSON values.
            only: What no two open tasks have in common, on whichever host: if one has it already,
                nothing is taken, and the id is that task's.
        """
        policy: Any = only and "return-existing"
        with (
            SetWorkflowID(task),
            SetEnqueueOptions(deduplication_id=only, duplication_policy=policy),
        ):
            workflow = self._registered[kind]
            handle = await DBOS.enqueue_workflow_async(QUEUE, workflow, task, *given)
        return handle.get_workflow_id()

    async def open_tasks(self, kind: str, most: int) -> list[Row]:
        """The tasks of a kind that have not ended, up to a number of them."""
        return await DBOS.list_workflows_async(
            queue_name=QUEUE,
            name=kind,
            status=OPEN,
            limit=most,
            load_input=False,
            load_output=False,
        )

    async def newest(self, kind: str, most: int) -> list[Row]:
        """The tasks of a kind, newest first."""
        return await DBOS.list_workflows_async(name=kind, sort_desc=True, limit=most)

    async def one(self, kind: str, task: str) -> Row | None:
        """A task of a kind; None if there is none of this id."""
        rows = await DBOS.list_workflows_async(name=kind, workflow_ids=[task])
        return rows[0] if rows else None

    async def forget(self, before: float) -> None:
        """Remove tasks that ended before a time."""
        limit = datetime.fromtimestamp(before, UTC).isoformat()
        which: dict[str, Any] = {"status": _ENDED, "completed_before": limit}
        with contextlib.suppress(SQLAlchemyError):  # it is away: removed another time
            rows = await DBOS.list_workflows_async(
                name=list(self.works), load_input=False, load_output=False, **which
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


async def store_value(key: str, value: Any) -> None:
    """Inside a workflow: keep a value under a name, for all to see."""
    await DBOS.set_event_async(key, value)


async def stored_values(task: str) -> dict[str, Any]:
    """What a task has put."""
    return await DBOS.get_all_events_async(task)


@asynccontextmanager
async def running(
    url: str, slots: int, works: Mapping[str, Work], clean: Redaction
) -> AsyncIterator[Engine]:
    """Work the tasks of a database; those that were left go on.

    Args:
        url: The database.
        slots: Tasks worked by each process at the same time.
        works: Works one, for each kind.
        clean: What is kept passes it.

    Raises:
        ConfigError: The database cannot be used.
        LockedError: It is a file, and another process works it.
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
