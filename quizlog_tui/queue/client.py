"""Puts tasks into the queue and waits for their results. Works no task itself.

A queued task is worked and its result stored even if this process no longer waits for it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, NoReturn

from dbos import DBOSClient, EnqueueOptions, WorkflowStatus
from dbos import error as failures
from sqlalchemy.exc import SQLAlchemyError

from ..errors import ConfigError
from ..files.durable import own_file
from ..solver.redaction import Redaction
from .database import (
    APPLICATION,
    FORMAT,
    OPEN,
    QUEUE,
    Clean,
    file_of,
    refuse_other_forms,
    refused,
    system_url,
)

_POLL = 0.25
"""Seconds between two checks for ended tasks."""
_IDLE_SECONDS = 5.0
"""Seconds during which no process takes a task before `idle` is called."""
_PRIORITY = 1
"""Priority of these tasks: below the default, which is for tasks on web pages with deadlines."""


@dataclass(frozen=True)
class QueueOutcome:
    """How a task ended."""

    result: dict[str, Any] | None
    """What the task's work returned; None if it failed."""
    failed: str | None = None
    """Why it failed; None if it succeeded."""


class Client:
    """Queues tasks and waits for them; see `connected`. Must be made in a running event loop."""

    def __init__(self, client: DBOSClient, url: str, idle: Callable[[], None]) -> None:
        self._client = client
        self._url = url
        self._idle: Callable[[], None] | None = idle
        self._waited: dict[str, asyncio.Future[QueueOutcome]] = {}
        self._moved = time.monotonic()
        self._watching = asyncio.create_task(self._watch())

    async def ended(self, task: str) -> QueueOutcome | None:
        """How a task ended; None if it has not ended or does not exist.

        Raises:
            ConfigError: The database does not answer.
        """
        try:
            rows = await self._rows([task])
        except SQLAlchemyError as error:
            raise _unusable(error, self._url) from None
        return _outcome(rows[0]) if rows and _is_over(rows[0]) else None

    async def _rows(self, tasks: list[str]) -> list[WorkflowStatus]:
        return await self._client.list_workflows_async(workflow_ids=tasks, load_input=False)

    async def work(self, kind: str, task: str, *arguments: Any) -> QueueOutcome:
        """Queue a task, unless it was queued before, and wait until it ends.

        Raises:
            ConfigError: The database cannot store the task.
        """
        options = EnqueueOptions(
            queue_name=QUEUE,
            workflow_name=kind,
            workflow_id=task,
            app_version=FORMAT,
            priority=_PRIORITY,
        )
        try:
            await self._client.enqueue_async(options, task, *arguments)
        except SQLAlchemyError as error:
            raise _unusable(error, self._url) from None
        future: asyncio.Future[QueueOutcome] = asyncio.get_running_loop().create_future()
        self._waited[task] = future
        try:
            either: list[asyncio.Future[Any]] = [future, self._watching]
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            return future.result() if future.done() else self._watching.result()
        finally:
            del self._waited[task]

    async def close(self) -> None:
        """Stop waiting and close the connection."""
        self._watching.cancel()
        await asyncio.gather(self._watching, return_exceptions=True)
        await asyncio.to_thread(self._client.destroy)

    async def _watch(self) -> NoReturn:
        """Check for ended tasks, forever."""
        while True:
            await asyncio.sleep(_POLL)
            if self._waited:
                await self._check()
            else:
                self._moved = time.monotonic()

    async def _check(self) -> None:
        waited = list(self._waited)
        try:
            rows = await self._rows(waited)
        except SQLAlchemyError:  # the database is unreachable: the next check asks again
            return
        if any(row.status != "ENQUEUED" for row in rows):
            self._moved = time.monotonic()
        elif self._idle and time.monotonic() - self._moved > _IDLE_SECONDS:
            self._idle()
            self._idle = None
        ended = {row.workflow_id: _outcome(row) for row in rows if _is_over(row)}
        removed = set(waited) - {row.workflow_id for row in rows}
        for task, outcome in (ended | dict.fromkeys(removed, _REMOVED)).items():
            if (future := self._waited.get(task)) and not future.done():
                future.set_result(outcome)


_REMOVED = QueueOutcome(None, "it was removed from the queue")


def _is_over(row: WorkflowStatus) -> bool:
    return row.status not in OPEN


def _outcome(row: WorkflowStatus) -> QueueOutcome:
    if row.status == "SUCCESS":
        return QueueOutcome(row.output)
    return QueueOutcome(None, str(row.error or row.status.lower().replace("_", " ")))


@asynccontextmanager
async def connected(url: str, clean: Redaction, idle: Callable[[], None]) -> AsyncIterator[Client]:
    """Connect to the queue in a database until the end of the block.

    Args:
        url: The address of the database, which the working process has created.
        clean: Removes secrets from what is stored.
        idle: Called once if no process takes the queued tasks for some seconds.

    Raises:
        ConfigError: The database cannot be reached, or no process has created the queue in it yet.
    """
    file = file_of(url)
    if file is not None and not file.is_file():
        raise ConfigError("does not exist", where=str(file), hint=_HINT)
    if file is not None:
        own_file(file)
    client = Client(await asyncio.to_thread(_connect, url, clean), url, idle)
    try:
        yield client
    finally:
        await client.close()


def _connect(url: str, clean: Redaction) -> DBOSClient:
    logging.getLogger("dbos").setLevel(logging.ERROR)
    try:
        client = DBOSClient(
            system_database_url=system_url(url),
            serializer=Clean(clean),
            application_name=APPLICATION,
            lazy=True,
            retry_connection_errors=False,
        )
    except failures.DBOSException as error:
        raise _unusable(error, url) from None
    try:
        refuse_other_forms(url)
        client.list_workflows(limit=1)
    except ConfigError:
        client.destroy()
        raise
    except SQLAlchemyError as error:
        client.destroy()
        raise _unusable(error, url) from None
    return client


_HINT = "start `quizlog serve` with this database: it creates the queue and works the tasks"


def _unusable(error: Exception, url: str) -> ConfigError:
    return refused(error, url, "cannot queue tasks", _HINT)
