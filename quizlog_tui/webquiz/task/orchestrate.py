"""The loop of a task: fetch, solve and submit, then next, retry or skip, until it ends.

The loop and `attempts` decide when to send what, and when to continue. They know no model, HTTP or
browser: the task's context provides all that acts.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from ...record.model import MAIN
from ...solver.decisions.decision import Decision, ModelQuestion
from ..net.address import origin_of
from ..net.fetching import Fetcher
from ..page.page import WebPage, reachable
from ..page.page_fetch import FetchedPage, PageFetch
from .attempts import Attempts
from .task import PageResult, PageState, TaskRequest, TaskResult, TaskState
from .task_context import Solve, TaskContext
from .task_history import with_history
from .workspace import RECORD

MOST_PAGES = 100
"""Maximum number of pages in a task; more end it."""
_PERSONAL = ("email", "id")
"""URL parameters that do not change the question: the person, and the answer leading there."""


async def run_task(request: TaskRequest, tools: TaskContext) -> TaskResult:
    """Work a task to its end. No fault of a page, model or server raises."""
    return await _Journey(request, tools).run()


@dataclass
class _Journey:
    request: TaskRequest
    tools: TaskContext
    pages: list[PageResult] = field(default_factory=list)
    carried: dict[str, str] = field(default_factory=dict)
    """The last submit URL that a page named, by origin."""

    async def run(self) -> TaskResult:
        url: str | None = self.request.url
        issued = min(self.request.triggered, self.tools.clock())
        while url:
            fault = self._fault(url)
            if fault:
                return self._result(fault, f"not visited: {url}")
            result = await self._page(url, issued)
            issued = self.tools.clock()
            self.pages.append(result)
            await self.tools.store_page(result)
            self.tools.on_page_done(self._result("running"))
            url = result.next
        return self._result(_end(self.pages[-1]))

    def _fault(self, url: str) -> TaskState | None:
        """Why a page must not be visited; None if it may be."""
        if not reachable(url, self.tools.allowed):
            return "refused"
        right = {_asked(page.url) for page in self.pages if page.state == "correct"}
        if _asked(url) in right:
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
        tools.workspace.note(f"page {len(self.pages) + 1}: {path}")
        carried = self.carried.get(origin_of(url))
        page_fetch = PageFetch(tools, url, folder, carried, issued)
        fetched = await tools.once("look", page_fetch.fetch)
        if fetched.page is None:
            state: PageState = "late" if fetched.late else "unreachable"
            age = round(tools.clock() - issued, 3)
            return PageResult(url, state, notes=fetched.notes, seconds=age)
        page = fetched.page
        if page.submit_rule not in ("carried", "none"):
            self.carried[origin_of(url)] = page.submit_url
        restoring = replace(tools, solve=_with_restored_files(tools.solve, page_fetch, fetched))
        named = (page.submit_url, *self.carried.values())
        closed = (f"{origin_of(self.request.url)}/submit", *filter(None, named))
        fetcher = Fetcher(tools, page.url, folder, closed, page.encoding)
        question = self._question(page, fetched.context)
        attempts = Attempts(
            self.request,
            page,
            question,
            folder,
            restoring,
            fetcher,
            issued,
            fetched.files,
            self._show,
        )
        result = await attempts.run()
        notes = (*fetched.notes, *result.notes)
        return replace(result, notes=notes, settled=fetched.settled)

    def _show(self, page: PageResult) -> None:
        now = self._result("running")
        self.tools.on_progress(replace(now, pages=(*now.pages, page)))

    def _question(self, page: WebPage, context: str) -> ModelQuestion:
        """The question for models, without the secret, which a page might show.

        What no page repeats comes last, as only the end of a long context is shown.
        """
        clean = self.tools.redaction.clean
        person = f"The e-mail address of the person who takes the quiz: {self.request.email}"
        return ModelQuestion(
            clean(page.question),
            clean(with_history(f"{context}\n\n{person}".strip(), self.pages)),
            page.kind,
            record=RECORD,
            branch=MAIN,
            pointer=len(self.pages),
        )


def _with_restored_files(solve: Solve, page_fetch: PageFetch, fetched: FetchedPage) -> Solve:
    """Ask the models after the page's files are available."""

    async def ask(question: ModelQuestion, folder: Path, *rest: Any) -> Decision:
        await page_fetch.restore_files(fetched)
        return await solve(question, folder, *rest)

    return ask


def _asked(url: str) -> tuple[str, str, tuple[tuple[str, str], ...]]:
    """The question that a URL leads to, without the person and the answer that led there."""
    parts = urlsplit(url)
    query = parse_qsl(parts.query, keep_blank_values=True)
    return parts.netloc, parts.path, tuple(one for one in query if one[0] not in _PERSONAL)


def _end(last: PageResult) -> TaskState:
    """How a task ended whose last page named no next one."""
    ends: dict[str, Any] = {"correct": "finished", "skipped": "finished"}
    state: TaskState = ends.get(last.state, last.state)
    return state
