"""Writes a quiz script from a task: each page's question, the answers, the server's replies. Pure.

The script contains all texts and needs no network. An answer that was sent gets the server's reply;
for any other answer the script says that the reply is not known. Each page asks once, so that the
number of a page is the number of a step. Neither files nor records are read here.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from ...replay.script.input_kinds import JSON, NUMBER, TEXTAREA, YESNO
from ..net.file_names import safe_name
from .task import PageResult, Submission, TaskResult

_HEAD = '''\
"""A quiz on web pages as it was taken: what the pages asked, and what their server said.

Written by quizlog while task {id} ran. It visits nothing and sends nothing.
"""

NEVER = "this answer was never sent: what the server would say is not known"
'''
_KINDS = {NUMBER: " (a number)", JSON: " (JSON)", YESNO: " (true/false)"}
_OUTCOMES = {
    "graded": "refused",
    "unfit": "not accepted in this form",
    "rejected": "the server wants no answer",
    "no_reply": "no reply",
}
_NAMED, _LONGEST = 5, 40
"""Maximum number of wrong pages that are named, and of characters in a name."""
_ENDS = {
    "late": "no answer could be sent in time",
    "no_answer": "no answer was found that could be sent",
    "unreachable": "the page could not be had",
    "cancelled": "the task was cancelled",
    "loop": "led back to a page that was right already",
    "too_long": "too many pages",
}
_NOTED = ("unreachable", "late")
"""Ends that a page's notes explain."""


@dataclass(frozen=True)
class PageTry:
    """An answer that was refused, and after which another was sent."""

    at: int
    """The step."""
    answer: str
    score: float


@dataclass(frozen=True)
class TaskScript:
    """A script, and the result of running it with the answers that were given."""

    text: str
    """The script."""
    answers: tuple[str, ...] = ()
    """The last answer to each page."""
    tries: tuple[PageTry, ...] = ()
    """The refused answers before them."""
    print: tuple[str, ...] = ()
    ended: bool = False
    """Whether nothing is asked any more."""
    message: str | None = None
    """What the script raises; None if it does not."""
    line: int | None = None
    """The line that raises."""
    score: float | None = None


def describe_task(task: TaskResult) -> TaskScript:
    """The script of a task that has ended, or whose last page is open."""
    script = _Script(_HEAD.format(id=task.id).splitlines(), ended=task.state != "running")
    for page in task.pages:
        script.page(page)
    return script.end(task)


def typed(answer: Any) -> str:
    """An answer as text, so that no two are the same: a text that reads as JSON is quoted."""
    if isinstance(answer, str):
        try:
            json.loads(answer)
        except (ValueError, RecursionError):
            return answer
    return json.dumps(answer, ensure_ascii=False)


@dataclass
class _Script:
    lines: list[str]
    ended: bool
    printed: list[str] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)
    tries: list[PageTry] = field(default_factory=list)
    pages: int = 0
    right: int = 0

    def page(self, page: PageResult) -> None:
        """Add a page and the answers sent to it."""
        self.pages += 1
        self.lines += ["", f"# page {self.pages}"]
        self._say(f"Page {self.pages}: {page.url}")
        for text in (page.question, ", ".join(page.files) and f"Files: {', '.join(page.files)}"):
            if text:
                self._say(text)
        if page.submissions or not self._is_over(page):
            self._ask(page)
        self.right += page.state == "correct"

    def _is_over(self, page: PageResult) -> bool:
        return self.ended or page.state != "open"

    def _ask(self, page: PageResult) -> None:
        tag = f"  #{TEXTAREA}" if page.kind == TEXTAREA else ""
        prompt = f"{_name(page)}{_KINDS.get(page.kind, '')}: "
        self.lines.append(f"answer = input({prompt!r}){tag}")
        for one in page.submissions[:-1]:
            self._refuse(one)
        if self._is_over(page):
            self._last(page, page.submissions[-1])
        else:
            self._raise("NEVER", self._score())

    def _refuse(self, one: Submission) -> None:
        answer, score = typed(one.answer), self._score()
        self.tries.append(PageTry(len(self.answers), answer, score))
        self.lines.append(f"if answer == {answer!r}:")
        self._raise(repr(_said(one)), score, "    ")

    def _last(self, page: PageResult, one: Submission) -> None:
        answer = typed(one.answer)
        self.answers.append(answer)
        self.lines.append(f"if answer != {answer!r}:")
        self._raise("NEVER", self._score(), "    ")
        if one.correct:
            self._say(f"Right, sent after {one.t:.1f} s.")
        elif page.state == "skipped":
            said = _said(one)
            self._say(f"{said[0].upper()}{said[1:]}\nGiven up; the server named the next page.")

    def end(self, task: TaskResult) -> TaskScript:
        """Complete the script with the end of the task."""
        message = score = None
        if self.ended and task.state == "finished" and self.right == self.pages:
            self._say(f"The quiz is over: all {self.pages} pages right.")
        elif self.ended:
            self.pages += _ended_between(task)  # the page that was to come is not right either
            message, score = _end(task, self.right), self._score()
            self._raise(repr(message), score)
        return TaskScript(
            "\n".join([*self.lines, ""]),
            tuple(self.answers),
            tuple(self.tries),
            tuple(self.printed),
            self.ended,
            message,
            len(self.lines) if message else None,
            score,
        )

    def _score(self) -> float:
        """The share of the pages so far that are right."""
        return float(f"{self.right / max(self.pages, 1):.4f}")

    def _say(self, text: str) -> None:
        text = text.encode("utf-8", "replace").decode()
        self.printed.append(text)
        parts = [repr(part) for part in text.splitlines(keepends=True)]
        inner = [f"    {part}" for part in parts]
        self.lines += [f"print({parts[0]})"] if len(parts) == 1 else ["print(", *inner, ")"]

    def _raise(self, message: str, score: float, indent: str = "") -> None:
        self.lines.append(f"{indent}raise Exception({message})  #score = {score:g}")


def _name(page: PageResult) -> str:
    """What a page is called in a question: the last part of its path."""
    return safe_name(urlsplit(page.url).path.rstrip("/") or "page")[-_LONGEST:]


def _said(one: Submission) -> str:
    how = _OUTCOMES.get(one.outcome, one.outcome)
    return f"{how}: {one.reason.strip()}" if one.reason.strip() else how


def _ended_between(task: TaskResult) -> bool:
    """Whether a task ended after one page and before the next."""
    states = [page.state for page in task.pages]
    return bool(states) and task.state != "finished" and states[-1] not in ("open", task.state)


def _end(task: TaskResult, right: int) -> str:
    """Why a task ended that has not all pages right."""
    pages: Sequence[PageResult] = task.pages
    last = pages[-1] if pages else None
    if task.state == "finished":
        missed = [_name(page) for page in pages if page.state != "correct"]
        more = ", …" if len(missed) > _NAMED else ""
        return f"{right} of {len(pages)} pages right; not {', '.join(missed[:_NAMED])}{more}"
    if last and last.submissions and last.state == task.state:
        return _said(last.submissions[-1])
    why = _ENDS.get(task.state, task.state)
    more = task.error or "; ".join(last.notes if last and last.state in _NOTED else ())
    return f"{why}: {more}" if more else why
