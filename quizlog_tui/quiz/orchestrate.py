"""The loop of a task: fetch, solve, submit; then next, retry or skip, until an explicit end.

Knows no model, no HTTP and no browser itself: all that acts is given. What it decides is here and
in `attempts`: when to send what, and when to go on.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx

from ..record.model import MAIN
from ..solver.decision import Decision, Question, Refusal
from ..solver.redaction import Redaction
from .address import Allowed, origin_of
from .attempts import Attempts
from .browser import NotRenderedError, Tab
from .budget import Budget
from .downloads import Gathered, context_of, folder_size, gather
from .gate import Gate
from .page import WebPage, reachable, read_page
from .snapshot import Snapshot
from .task import PageResult, TaskRequest, TaskResult, TaskState
from .workspace import RECORD, Workspace

Solve = Callable[[Question, Path, tuple[Refusal, ...], float], Awaitable[Decision]]
"""Asks the models: question, folder of files, refused answers, seconds."""
MOST_PAGES = 100
"""Pages of one task; more end it."""


@dataclass(frozen=True)
class Tools:
    """What a task works with."""

    tab: Tab
    gate: Gate
    http: httpx.AsyncClient
    """Goes through the gate."""
    solve: Solve
    workspace: Workspace
    redaction: Redaction
    budget: Budget = field(default_factory=Budget)
    disk: int = 256 * 1024 * 1024
    """Bytes that the task's files may hold."""
    clock: Callable[[], float] = time.monotonic
    told: Callable[[TaskResult], None] = lambda result: None
    """Hears after each page how the task stands."""
    shown: Callable[[TaskResult], None] = lambda result: None
    """Hears how it stands while its last page is open: as that asks, and after each answer."""
    decided: Callable[[Decision], Decision] = lambda decision: decision
    """Keeps a decision."""

    @property
    def allowed(self) -> Allowed:
        """The sites the task may reach."""
        return self.gate.allowed


async def run_task(request: TaskRequest, tools: Tools) -> TaskResult:
    """Work a task to its end. Raises nothing that a page, model or server does."""
    return await _Journey(request, tools).run()


@dataclass
class _Journey:
    request: TaskRequest
    tools: Tools
    pages: list[PageResult] = field(default_factory=list)
    carried: dict[str, str] = field(default_factory=dict)
    """The last submit URL that a page named, by origin."""

    async def run(self) -> TaskResult:
        url: str | None = self.request.url
        issued = self.tools.clock()
        while url:
            fault = self._fault(url)
            if fault:
                return self._result(fault, f"not visited: {url}")
            result = await self._page(url, issued)
            issued = self.tools.clock()
            self.pages.append(result)
            self.tools.told(self._result("running"))
            url = result.next
        return self._result(_end(self.pages[-1]))

    def _fault(self, url: str) -> TaskState | None:
        """Why a page is not visited; None if it is."""
        if not reachable(url, self.tools.allowed):
            return "refused"
        right = {_bare(page.url) for page in self.pages if page.state == "correct"}
        if _bare(url) in right:
            return "loop"
        return "too_long" if len(self.pages) >= MOST_PAGES else None

    def _result(self, state: TaskState, error: str | None = None) -> TaskResult:
        refused = tuple(self.tools.gate.refused)
        request = self.request
        return TaskResult(
            request.id, request.email, request.url, state, tuple(self.pages), refused, error
        )

    async def _page(self, url: str, issued: float) -> PageResult:
        tools = self.tools
        path = urlsplit(url).path
        folder = tools.workspace.page_folder(len(self.pages) + 1, path.strip("/") or "page")
        tab = replace(tools.tab, folder=folder)
        tools.workspace.note(f"page {len(self.pages) + 1}: {path}")
        snapshot, faults = await self._render(tab, url)
        if snapshot is None:
            return PageResult(url, "unreachable", notes=tuple(faults))
        page = read_page(snapshot, tools.allowed, self.carried.get(origin_of(url)))
        if page.submit_rule not in ("carried", "derived"):
            self.carried[origin_of(url)] = page.submit_url
        gathered = await self._gather(page, tab)
        gathered.files += snapshot.files
        self._note_page(page, snapshot, gathered)
        question = self._question(page, gathered)
        files = tuple(gathered.files)
        attempts = Attempts(
            self.request, page, question, folder, tools, issued, files, told=self._show
        )
        result = await attempts.run()
        notes = (*gathered.notes, *result.notes)
        return replace(result, notes=notes, settled=snapshot.settled)

    def _show(self, page: PageResult) -> None:
        now = self._result("running")
        self.tools.shown(replace(now, pages=(*now.pages, page)))

    async def _render(self, tab: Tab, url: str) -> tuple[Snapshot | None, list[str]]:
        """The page, tried again where its server fails; else why it cannot be had."""
        faults: list[str] = []
        for pause in (0.5, 1.5, 0.0):
            try:
                snapshot = await tab.visit(url, self.tools.budget.render)
                if snapshot.status < 400:
                    return snapshot, faults
                faults.append(f"HTTP {snapshot.status}")
            except NotRenderedError as error:
                faults.append(str(error))
            self.tools.workspace.note(f"not rendered: {faults[-1]}")
            if faults[-1].startswith("HTTP 4"):
                break
            await asyncio.sleep(pause)
        return None, faults

    async def _gather(self, page: WebPage, tab: Tab) -> Gathered:
        tools = self.tools
        room = tools.disk - folder_size(tools.workspace.folder)
        return await gather(page, tab, tools.http, tools.allowed, room, tools.budget.download)

    def _question(self, page: WebPage, gathered: Gathered) -> Question:
        """The question as models see it: without the secret, should a page show it."""
        clean = self.tools.redaction.clean
        context = context_of(gathered, self.request.email)
        return Question(
            clean(page.question),
            clean(context),
            page.kind,
            record=RECORD,
            branch=MAIN,
            pointer=len(self.pages),
        )

    def _note_page(self, page: WebPage, snapshot: Snapshot, gathered: Gathered) -> None:
        note = self.tools.workspace.note
        note(f"rendered in {snapshot.seconds:.2f} s ({snapshot.settled}), HTTP {snapshot.status}")
        note(f"submit to {page.submit_url} ({page.submit_rule}), kind {page.kind}")
        note(f"files: {', '.join(gathered.files) or 'none'}")
        for line in gathered.notes:
            note(f"not available: {line}")


def _bare(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.netloc}{parts.path}"


def _end(last: PageResult) -> TaskState:
    """How a task ended whose last page names no other."""
    ends: dict[str, Any] = {"correct": "finished", "skipped": "finished"}
    state: TaskState = ends.get(last.state, last.state)
    return state
