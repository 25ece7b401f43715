"""A process that gives work to the queue and waits for what comes of it. Works none itself.

What was given is worked, and kept, whether this process still waits or not.
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
from ..solver.redaction import Redaction
from .database import APPLICATION, FORMAT, OPEN, QUEUE, Clean, file_of, system_url

_POLL = 0.25
"""Seconds between two looks at what has ended."""
_LONG = 5.0
"""Seconds without anybody taking anything, after which that is worth saying."""
_BEHIND = 1
"""Behind what has a deadline: tasks whose pages wait."""


@dataclass(frozen=True)
class QueueOutcome:
    """What came of a task."""

    result: dict[str, Any] | None
    """What its work returned."""
    failed: str | None = None
    """Why it returned nothing."""


class Client:
    """Gives work and waits for it; see `connected`. To be made in a running loop.

    Args:
        client: The connection.
        idle: Called once if nobody takes what was given.
    """

    def __init__(self, client: DBOSClient, idle: Callable[[], None]) -> None:
        self._client = client
        self._idle: Callable[[], None] | None = idle
        self._waited: dict[str, asyncio.Future[QueueOutcome]] = {}
        self._moved = time.monotonic()
        self._watching = asyncio.create_task(self._watch())

    async def ended(self, task: str) -> QueueOutcome | None:
        """What came of a task; None if it has not ended, or there is none.

        Raises:
            ConfigError: The database does not answer.
        """
        try:
            rows = await self._rows([task])
        except SQLAlchemyError as error:
            raise _unusable(error) from None
        return _outcome(rows[0]) if rows and _is_over(rows[0]) else None

    async def _rows(self, tasks: list[str]) -> list[WorkflowStatus]:
        return await self._client.list_workflows_async(workflow_ids=tasks, load_input=False)

    async def work(self, kind: str, task: str, *given: Any) -> QueueOutcome:
        """Give a task, unless it was given before, and wait for its end.

        Args:
            kind: Which work it is.
            task: Its id.
            given: What it is to work with: JSON values.

        Raises:
            ConfigError: The database cannot take it.
        """
        options = EnqueueOptions(
            queue_name=QUEUE,
            workflow_name=kind,
            workflow_id=task,
            app_version=FORMAT,
            priority=_BEHIND,
        )
        try:
            await self._client.enqueue_async(options, task, *given)
        except SQLAlchemyError as error:
            raise _unusable(error) from None
        future: asyncio.Future[QueueOutcome] = asyncio.get_running_loop().create_future()
        self._waited[task] = future
        try:
            either: list[asyncio.Future[Any]] = [future, self._watching]
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            return future.result() if future.done() else self._watching.result()
        finally:
            del self._waited[task]

    async def close(self) -> None:
        """Wait for nothing any more, and let go of the connection."""
        self._watching.cancel()
        await asyncio.gather(self._watching, return_exceptions=True)
        await asyncio.to_thread(self._client.destroy)

    async def _watch(self) -> NoReturn:
        """Look for ends, for ever."""
        while True:
            await asyncio.sleep(_POLL)
            if self._waited:
                await self._look()
            else:
                self._moved = time.monotonic()

    async def _look(self) -> None:
        waited = list(self._waited)
        try:
            rows = await self._rows(waited)
        except SQLAlchemyError:  # it is away: asked again
            return
        if any(row.status != "ENQUEUED" for row in rows):
            self._moved = time.monotonic()
        elif self._idle and time.monotonic() - self._moved > _LONG:
            self._idle()
            self._idle = None
        found = {row.workflow_id: _outcome(row) for row in rows if _is_over(row)}
        gone = set(waited) - {row.workflow_id for row in rows}
        for task, outcome in (found | dict.fromkeys(gone, _GONE)).items():
            if (future := self._waited.get(task)) and not future.done():
                future.set_result(outcome)


_GONE = QueueOutcome(None, "it was removed from the queue")


def _is_over(row: WorkflowStatus) -> bool:
    return row.status not in OPEN


def _outcome(row: WorkflowStatus) -> QueueOutcome:
    if row.status == "SUCCESS":
        return QueueOutcome(row.output)
    return QueueOutcome(None, str(row.error or row.status.lower().replace("_", " ")))


@asynccontextmanager
async def connected(url: str, clean: Redaction, idle: Callable[[], None]) -> AsyncIterator[Client]:
    """Give work to the queue of a database, until the end of the block.

    Args:
        url: The database; a process that works it has made it.
        clean: What is kept passes it.
        idle: Called once if nobody takes what was given.

    Raises:
        ConfigError: It cannot be reached, or no process has worked it yet.
    """
    file = file_of(url)
    if file is not None and not file.is_file():
        raise ConfigError("is not there", where=str(file), hint=_HINT)
    client = Client(await asyncio.to_thread(_connect, url, clean), idle)
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
        raise _unusable(error) from None
    try:
        client.list_workflows(limit=1)
    except SQLAlchemyError as error:
        client.destroy()
        raise _unusable(error) from None
    return client


_HINT = "start `quizlog serve` with it: it makes it, and works what is given"


def _unusable(error: Exception) -> ConfigError:
    said = str(getattr(error, "orig", None) or error).strip().partition("\n")[0]
    return ConfigError(f"cannot give work: {said}", where="TASK_DATABASE_URL", hint=_HINT)
