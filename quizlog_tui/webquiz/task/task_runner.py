"""Runs tasks: provides each with a gate, tab, connections, workspace and models."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from ...errors import QuizlogError
from ...sandbox import warm
from ...solver.decision import Decision, ModelQuestion, Refusal
from ...solver.decision_text import append_decision
from ...solver.models.choice import Choice, chosen_panel
from ...solver.redaction import Redaction
from ...solver.solve import FetchTool, Panel, RunCode, solve
from ..net.address import BadAddressError, allowed_for
from ..net.gate import gate, through
from ..page.browser import Browser, executable
from .orchestrate import Journey
from .settings import TaskSettings
from .task import TaskRequest, TaskResult
from .task_context import Budget, Solve, TaskContext
from .task_record import TaskRecord
from .workspace import Workspace, cleanup_task_workspace, create_workspace


@dataclass
class TaskRunner:
    """Runs tasks with shared settings, models and browser. Must be closed.

    Args:
        settings: The configuration.
        panel: The models.
        keys: Values to remove from all that is written, besides a task's secret.
    """

    settings: TaskSettings
    panel: Panel
    keys: tuple[str, ...] = field(default=(), repr=False)
    budget: Budget = field(default_factory=Budget)

    def __post_init__(self) -> None:
        browsers = self.settings.max_concurrent_browsers
        self.browser = Browser(self.settings.browser_executable or None, browsers)
        turns = asyncio.Semaphore(self.settings.max_concurrent_models)
        self.panel = replace(self.panel, turns=turns)

    async def close(self) -> None:
        """End the browser."""
        await self.browser.close()

    async def work(
        self,
        request: TaskRequest,
        on_page_done: Callable[[TaskResult], None] = lambda result: None,
        make_durable: Callable[[TaskContext], Awaitable[TaskContext]] | None = None,
    ) -> TaskResult:
        """Work a task to its end; keep its results and remove its workspace.

        Args:
            request: The task.
            on_page_done: Called with the task's state after each page.
            make_durable: Makes the context durable, so that an interrupted task can be continued.

        Raises:
            BadAddressError: The task's URL cannot be visited.
            UsageError: Its folder cannot be made.
        """
        warm()  # code is run soon: while the first page is rendered nothing else needs the machine
        redaction = self.panel.redaction.also((request.secret, *self.keys))
        base = self.settings.task_basedir
        workspace = create_workspace(base, request.id, redaction)
        record = TaskRecord(workspace.record, redaction, workspace.note)
        workspace.note(f"task {request.id} for {request.email}: {request.url}")
        try:
            async with self._tools(request, workspace, redaction, on_page_done) as tools:
                tools = replace(tools, on_progress=record.write)
                tools = await make_durable(tools) if make_durable else tools
                result = await Journey(request, tools).run()
        except asyncio.CancelledError:
            if not make_durable:
                gone = TaskResult(request.id, request.email, request.url, "cancelled")
                self._end(workspace, record, gone)
            raise
        except BadAddressError as error:
            result = TaskResult(
                request.id, request.email, request.url, "refused", error=f"the url {error}"
            )
        except Exception as error:
            known = isinstance(error, QuizlogError)
            said = str(error) if known else f"{type(error).__name__}: {error}"
            result = TaskResult(
                request.id, request.email, request.url, "failed", error=redaction.clean(said)
            )
        self._end(workspace, record, result)
        return result

    def _end(self, workspace: Workspace, record: TaskRecord, result: TaskResult) -> None:
        record.write(result)
        workspace.note(f"ended: {result.state} {result.error or ''}")
        workspace.write_result(result.to_dict())
        cleanup_task_workspace(workspace, keep=self.settings.debug_keep_workspaces)

    @asynccontextmanager
    async def _tools(
        self,
        request: TaskRequest,
        workspace: Workspace,
        redaction: Redaction,
        on_page_done: Callable[[TaskResult], None],
    ) -> AsyncIterator[TaskContext]:
        settings, disk = self.settings, self.settings.task_disk_mb * 1024 * 1024
        allowed = allowed_for(
            request.url, settings.quiz_allowed_origins, settings.quiz_private_hosts
        )

        def refused(what: str) -> None:
            workspace.note(f"refused: {what}")

        def keep(result: TaskResult) -> None:
            workspace.write_result(result.to_dict())
            on_page_done(result)

        def store_decision(decision: Decision) -> Decision:
            append_decision(workspace.decisions, decision)
            return decision

        async with (
            gate(allowed, refused) as way_out,
            through(way_out.url) as http,
            self.browser.tab(way_out, workspace.folder / "files", disk, self.budget.render) as tab,
        ):
            yield TaskContext(
                tab=tab,
                gate=way_out,
                http=http,
                solve=self._solver(redaction),
                recorded=self.panel.fetched,
                workspace=workspace,
                redaction=redaction,
                budget=self.budget,
                disk=disk,
                on_page_done=keep,
                store_decision=store_decision,
            )

    def _solver(self, redaction: Redaction) -> Solve:
        panel = replace(self.panel, redaction=redaction)

        async def ask(
            question: ModelQuestion,
            folder: Path,
            refused: tuple[Refusal, ...],
            seconds: float,
            tool: FetchTool,
        ) -> Decision:
            return await solve(
                question,
                panel,
                folder=folder,
                refused=refused,
                budget=seconds,
                shares=self.budget.thinking,
                tool=tool,
            )

        return ask


@asynccontextmanager
async def open_task_runner(
    settings: TaskSettings, choice: Choice, run: RunCode
) -> AsyncIterator[TaskRunner]:
    """A task runner, closed at the end of the block; `run` runs models' code.

    Raises:
        ConfigError: The models or the configured browser cannot be used.
    """
    executable(settings.browser_executable)  # raises now instead of in each task
    async with chosen_panel(choice, run) as panel:
        runner = TaskRunner(settings, panel, (settings.aiproxy_token,))
        try:
            yield runner
        finally:
            await runner.close()
