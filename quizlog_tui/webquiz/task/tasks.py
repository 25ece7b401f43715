"""The tasks in a database: accepted at once, worked a few at a time, continued after a crash.

A task is a workflow (`engine`). Starting one waits only for the database. The secret is part of
each process's configuration and is not stored with a task.

The result of each act is stored, and a continued task runs its loop from the start: the results of
finished acts and the clock come from the store, so that the loop decides as before, up to the first
act without a result. An answer is announced before it is sent: if it was announced in an earlier
run and has no stored reply, it may have arrived. Its reply is then `in_doubt`, and it is not sent
automatically.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field, is_dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ...errors import LimitError, UsageError
from ...files.durable import own_folder
from ...files.regular_file import hex_digest
from ...solver.decision_text import from_data
from ..net.address import Allowed, BadAddressError, allowed_for, is_special
from ..net.gate import Gate
from ..net.submit import SubmitReply
from ..page.page_fetch import FetchedPage
from .settings import TaskSettings
from .task import PageResult, TaskRequest, TaskResult
from .task_context import TaskContext
from .task_runner import TaskRunner
from .workspace import Workspace, sweep

if TYPE_CHECKING:
    from ...queue.engine import Engine, Row, Work


KIND = "quizlog-tasks-3"
"""The kind and version of a task's acts: tasks of another version are not continued."""
_SWEEP = 600.0
"""Seconds between two sweeps."""
_MOST_LISTED = 200
_PATIENCE = 0.5
"""Seconds between two checks of a task that another machine may work."""
_LATER = "send it again when one has ended; MAX_QUEUED_TASKS raises the limit"
_STATES = {"ENQUEUED": "queued", "PENDING": "running", "CANCELLED": "cancelled"}
_OPEN = ("queued", "running")
Step = Callable[[str, Callable[[], Awaitable[Any]]], Awaitable[Any]]
"""Runs an act and stores the JSON value it returns, or returns the value stored before."""


@asynccontextmanager
async def open_tasks(
    runner: TaskRunner, others: Mapping[str, Work] = MappingProxyType({})
) -> AsyncIterator[Tasks]:
    """The tasks in the configured database; those of a process that has ended are continued.

    Args:
        runner: Runs the tasks.
        others: The functions that work other kinds of tasks in the same queue.

    Raises:
        ConfigError: The database cannot be used, or the folder of tasks is open to others.
        LockedError: The database is a file, and another process works its tasks.
    """
    from ...queue.engine import running

    settings, tasks = runner.settings, Tasks(runner)
    await asyncio.to_thread(own_folder, settings.task_basedir)
    url, slots = settings.database, settings.max_concurrent_tasks
    works, clean = {KIND: tasks.work, **others}, runner.panel.redaction.also(settings.secrets)
    async with running(url, slots, works, clean) as tasks.engine:
        sweeping = asyncio.create_task(tasks.sweep())
        try:
            yield tasks
        finally:
            sweeping.cancel()
            await asyncio.gather(sweeping, return_exceptions=True)


class Tasks:
    """The tasks, for one of the processes that work them; see `open_tasks`."""

    engine: Engine

    def __init__(self, runner: TaskRunner) -> None:
        self._runner = runner
        self._news = asyncio.Event()
        self._starting = asyncio.Lock()

    @property
    def settings(self) -> TaskSettings:
        """The configuration."""
        return self._runner.settings

    async def start(self, request: TaskRequest) -> str:
        """Accept a task; return its id. From then on, the task outlives this process.

        Two tasks for the same page and person would overwrite each other's answers. So if one is
        open already, its id is returned and no other is started.

        Raises:
            UsageError: Its URL cannot be visited.
            LimitError: Too many tasks are waiting. (Several processes that share a database may
                each exceed the limit by one.)
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
        """The states of the newest tasks, newest first."""
        found = []
        for row in await self.engine.newest(KIND, _MOST_LISTED):
            found.append(_brief(await self._state(row)) | {"created": (row.created_at or 0) / 1000})
        return found

    async def get(self, task: str) -> dict[str, Any]:
        """One task with all its pages.

        Raises:
            UsageError: There is no task with this id.
        """
        row = await self.engine.one(KIND, task) if task.isalnum() else None
        if row is None:
            hint = "GET /tasks lists those there are"
            raise UsageError("there is no such task", where=task[:80], hint=hint)
        return await self._state(row)

    async def events(self, task: str) -> AsyncIterator[dict[str, Any]]:
        """The state of a task, now and after each change, until its end.

        Raises:
            UsageError: There is no task with this id.
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
        """Work the rest of a task; called by the engine."""
        from ...queue.engine import store_value

        request = TaskRequest(email, self.settings.user_secret, url, task, triggered)
        pages = 0

        async def store_page(page: PageResult) -> None:
            nonlocal pages
            pages += 1
            await store_value(f"{pages:03d}", asdict(page))
            self._tell()

        async def make_durable(tools: TaskContext) -> TaskContext:
            return replace(await durable(tools, self.engine.step), store_page=store_page)

        result = await self._runner.work(request, make_durable=make_durable)
        return result.to_dict()

    async def sweep(self) -> None:
        """Remove expired tasks, again and again."""
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
    """Why a URL cannot start a task; None if it can. Names are resolved later, at the gate."""
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


# -- a task whose acts are stored


async def durable(
    tools: TaskContext, step: Step, wall: Callable[[], float] = time.time
) -> TaskContext:
    """The task's context, with the results of all acts stored.

    Args:
        tools: The task's context.
        step: Stores results of acts; the nth call of a task always means the same act.
        wall: Gives the time in seconds, the same on all machines.
    """
    course = _TaskProgress(step, tools.gate, wall)
    await course.once("begin", _nothing)

    def live(report: Callable[[TaskResult], None]) -> Callable[[TaskResult], None]:
        """Call `report` only with news: a record must not go back to an earlier state."""
        return lambda result: report(result) if course.live else None

    return replace(
        tools,
        once=course.once,
        clock=lambda: course.now,
        on_page_done=live(tools.on_page_done),
        on_progress=live(tools.on_progress),
        workspace=_MutedWorkspace(tools.workspace.folder, tools.workspace.redaction, course),
    )


async def _nothing() -> None:
    """An act that only marks a time."""


async def _in_doubt() -> SubmitReply:
    reason = "the process ended while it was being sent: it may have arrived"
    return SubmitReply("in_doubt", reason=reason, tries=0)


@dataclass
class _TaskProgress:
    """The progress of a task."""

    step: Step
    gate: Gate
    wall: Callable[[], float]
    now: float = 0.0
    """When the last act ended; while an act is done, when it began."""
    live: bool = field(default=True)
    """Whether the last act is, or was, done in this run."""

    async def once(self, name: str, act: Callable[[], Awaitable[Any]]) -> Any:
        """The result of an act; a submission is announced first."""
        if name != "send":
            return await self._do_once(name, act)
        await self._do_once("announce", _nothing)
        return await self._do_once(name, act if self.live else _in_doubt)

    async def _do_once(self, name: str, act: Callable[[], Awaitable[Any]]) -> Any:
        self.live = False

        async def do() -> dict[str, Any]:
            self.live, self.now, before = True, self.wall(), len(self.gate.refused)
            value = await act()
            data = asdict(value) if is_dataclass(value) else value  # type: ignore[arg-type]
            return {"value": data, "at": self.wall(), "refused": self.gate.refused[before:]}

        stored = await self.step(name, do)
        for refused in stored["refused"]:
            self.gate.refuse(refused)
        self.now = stored["at"]
        value = stored["value"]
        return _READ[name](value) if name in _READ else value


_READ: dict[str, Callable[[Any], Any]] = {
    "look": FetchedPage.from_data,
    "think": lambda data: data and from_data(data, "a decision that was stored"),
    "send": lambda data: SubmitReply(**data),
}


@dataclass(frozen=True)
class _MutedWorkspace(Workspace):
    """A workspace whose log is not written a second time."""

    course: _TaskProgress

    def note(self, line: str) -> None:
        """Add a line to the log, unless it is about an act of an earlier run."""
        if self.course.live:
            super().note(line)
