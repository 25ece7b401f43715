"""The loop of a task: fetch, solve and submit, then next, retry or skip, until it ends.

The loop decides when to send what, and when to continue. At each page it tries candidates in order,
and tells the models the server's reasons. A right answer ends the attempts at once, so that nothing
overwrites it. An answer equal to a refused one is never sent, nor is a failure in place of an
answer. The loop knows no model, HTTP or browser: the task's context provides all that acts.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urljoin, urlsplit

from ...record.model import MAIN
from ...solver.decision import Decision, ModelQuestion, Refusal
from ...solver.voting.equality import NoAnswerError, normal_form, same, wanted
from ..net.address import origin_of
from ..net.fetching import Fetcher
from ..net.submit import SubmitReply, payload_of, submit
from ..page.page import WebPage, reachable
from ..page.page_fetch import FetchedPage, PageFetch
from .task import (
    PageResult,
    PageState,
    Submission,
    TaskRequest,
    TaskResult,
    TaskState,
    with_history,
)
from .task_context import Solve, TaskContext
from .workspace import RECORD

_MOST_PAGES = 100
"""Maximum number of pages in a task; more end it."""
_PERSONAL = ("email", "id")
"""URL parameters that do not change the question: the person, and the answer leading there."""
_TELLS = re.compile(
    r"\b(?:should|expected?|must|needs?|correct (?:answer|value)|~)|[:=~]\s*-?\d", re.I
)
_NOT_NAMED = "names no address of its site for answers: none was sent"
_SENT_AGAIN = "the process ended while the answer was being sent: the identical one was sent again"


@dataclass
class Journey:
    """The way of a task from page to page."""

    request: TaskRequest
    tools: TaskContext
    pages: list[PageResult] = field(default_factory=list)
    carried: dict[str, str] = field(default_factory=dict)
    """The last submit URL that a page named, by origin."""

    async def run(self) -> TaskResult:
        """Work the task to its end. No fault of a page, model or server raises."""
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
        return "too_long" if len(self.pages) >= _MOST_PAGES else None

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


# -- the attempts at one page


@dataclass
class Attempts:
    """The attempts at one page."""

    request: TaskRequest
    page: WebPage
    question: ModelQuestion
    folder: Path
    tools: TaskContext
    fetcher: Fetcher
    """Sends the HTTP requests that models ask for."""
    issued: float
    """When the page's URL was issued, on the task's clock."""
    files: tuple[str, ...] = ()
    """Names of the files in the folder."""
    on_progress: Callable[[PageResult], None] = lambda page: None
    """Called with the page's state before its first answer and after each."""
    submissions: list[Submission] = field(default_factory=list)
    refused: list[Refusal] = field(default_factory=list)
    queue: list[Any] = field(default_factory=list)
    decisions: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    next: str | None = None

    def age(self) -> float:
        """Seconds since the URL was issued."""
        return self.tools.clock() - self.issued

    async def run(self) -> PageResult:
        """Send answers until one is right or the page is given up."""
        state: PageState | None = None
        self.on_progress(self._result("open"))
        if not self.page.submit_url:
            self._note(_NOT_NAMED)
            state = "no_answer"
        while state is None and self.tools.budget.open(len(self.submissions), self.age()):
            found, answer = await self._candidate()
            if not found:
                break
            state = self._judge(answer, await self._send(answer))
        return self._result(state or self._given_up())

    def _given_up(self) -> PageState:
        if self.next:
            return "skipped"
        if self.submissions:
            return "wrong"
        return "late" if self.age() >= self.tools.budget.stop else "no_answer"

    async def _candidate(self) -> tuple[bool, Any]:
        """Whether there is an answer to send, and the answer; models are asked if none is left."""
        for _ in range(2):
            while self.queue:
                answer = _as_asked(self.queue.pop(0), self.question)
                if not is_refused(answer, self.refused, self.question):
                    return True, answer
            if not self.tools.budget.open(len(self.submissions), self.age()):
                break
            await self._think()
            if not self.queue and self.refused:
                break
        return False, None

    async def _think(self) -> None:
        async def think() -> Decision | None:
            """The models' decision; None if the time is over, for example after a restart."""
            budget, attempt, refused = self.tools.budget, len(self.submissions), tuple(self.refused)
            if not budget.open(attempt, self.age()):
                return None
            seconds, solve = budget.thought(attempt, self.age()), self.tools.solve
            tool = self.fetcher.tool()
            made = await solve(self.question, self.folder, refused, seconds, tool)
            return self.tools.store_decision(made)

        decision = await self.tools.once("think", think)
        if decision is None:
            self._note(f"no model was asked: its time was over after {self.age():.0f} s")
            return
        verdict = decision.verdict
        self.queue = list(verdict.candidates)
        self.decisions.append(decision.id)
        said = f"decided: {_short(verdict.answer)} ({verdict.why or 'no decision'})"
        votes = ", ".join(f"{one.key} {one.weight:g}" for one in verdict.classes)
        self.tools.workspace.note(f"{said}; classes: {votes or 'none'}")
        for one in verdict.abstained:
            self.tools.workspace.note(f"{one.name} abstained: {one.reason}")

    async def _send(self, answer: Any) -> SubmitReply:
        early = self.tools.budget.least_gap - self.age()
        if early > 0:
            await self.tools.once("pause", partial(asyncio.sleep, early))
        age, reply = self.age(), await self._delivered(answer)
        if reply.outcome == "unsent":
            self._note(f"its time was over after {self.age():.0f} s: not sent: {_short(answer)}")
        else:
            self._keep(answer, reply, age)
        return reply

    async def _delivered(self, answer: Any) -> SubmitReply:
        """The server's reply to an answer, which is sent again if it may not have arrived.

        If the first one has arrived, the server grades the same answer in the same way. If it does
        not grade it again, the outcome stays in doubt.
        """
        page, request, note = self.page, self.request, self.tools.workspace.note
        payload = payload_of(request.email, request.secret, page.url, answer, page.constants)

        async def send() -> SubmitReply:
            left = self.tools.budget.stop - self.age()
            return await submit(self.tools.http, page.submit_url, payload, left)

        reply = await self.tools.once("send", send)
        if reply.outcome != "in_doubt":
            return reply
        note(f"may have arrived, so the identical answer is sent once more: {_short(answer)}")
        again = await self.tools.once("send", send)
        if again.outcome != "graded":
            return reply
        self.notes.append(_SENT_AGAIN)
        return replace(again, tries=again.tries + 1)

    def _note(self, line: str) -> None:
        """Add a line to the page's notes and to the log."""
        self.notes.append(self.tools.redaction.clean(line))
        self.tools.workspace.note(line)

    def _keep(self, answer: Any, reply: SubmitReply, age: float) -> None:
        clean = self.tools.redaction.clean
        self.submissions.append(
            Submission(
                t=round(age, 3),
                answer=self.tools.redaction.clean_value(answer),
                outcome=reply.outcome,
                http=reply.http,
                correct=reply.correct,
                reason=clean(reply.reason),
                next=reply.url,
                delay=reply.delay,
                tries=reply.tries,
            )
        )
        verdict = "right" if reply.correct else reply.outcome
        self.on_progress(self._result("open"))
        self.tools.workspace.note(
            f"sent {_short(answer)} after {age:.1f} s: {verdict}, tries {reply.tries}:"
            f" {reply.reason}"
        )

    def _judge(self, answer: Any, reply: SubmitReply) -> PageState | None:
        """How the page ended; None to continue."""
        if reply.outcome == "unsent":
            return self._given_up()
        if reply.outcome in ("no_reply", "rejected", "in_doubt"):
            return reply.outcome
        self.next = following(self.page.url, reply.url) or self.next
        if reply.correct:
            return "correct"
        if reply.late:
            return "late"
        reason = self.tools.redaction.clean(reply.reason)
        self.refused.append(Refusal(answer, reason))
        if tells(reason):
            self.queue = []  # what the server says is worth more than the other candidates
        return None

    def _result(self, state: PageState) -> PageResult:
        page = self.page
        return PageResult(
            url=page.url,
            state=state,
            question=self.question.text,
            kind=page.kind,
            submit_url=page.submit_url,
            submit_rule=page.submit_rule,
            files=self.files,
            notes=tuple(self.notes),
            decisions=tuple(self.decisions),
            submissions=tuple(self.submissions),
            next=self.next,
            seconds=round(self.age(), 3),
        )


def following(page: str, given: str | None) -> str | None:
    """The URL of the next page from a reply, which may be relative to the page."""
    try:
        return urljoin(page, given) if given else None
    except ValueError:
        return given  # not a URL: refused later with that reason


def tells(reason: str) -> bool:
    """Whether a server's reason gives information about the right answer."""
    return bool(_TELLS.search(reason))


def is_refused(answer: Any, refused: list[Refusal], question: ModelQuestion) -> bool:
    """Whether a value is not an answer, or counts as equal to a refused one."""
    try:
        form = normal_form(answer, question)
    except NoAnswerError:
        return True
    how = wanted(question)
    for one in refused:
        try:
            if same(form, normal_form(one.answer, question), how):
                return True
        except NoAnswerError:
            continue
    return False


def _as_asked(answer: Any, question: ModelQuestion) -> Any:
    """The answer in the type that the question asks for, such as a JSON boolean without quotes."""
    words = {"true": True, "false": False}
    if isinstance(answer, str) and re.search(r"\bboolean\b", question.text, re.I):
        return words.get(answer.strip().lower(), answer)
    return answer


def _short(answer: Any) -> str:
    text = json.dumps(answer, ensure_ascii=False)
    return text if len(text) <= 200 else f"{text[:200]}… ({len(text)} characters)"
