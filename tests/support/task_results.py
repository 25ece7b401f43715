"""Tasks and their pages, as they end."""

from __future__ import annotations

from typing import Any

from quizlog_tui.webquiz.task.task import PageResult, Submission, TaskResult


def sent(answer: Any, reason: str = "", *, correct: bool = False) -> Submission:
    return Submission(1.2, answer, "graded", 200, correct, reason, None, None, 1)


def page(state: str, *submissions: Submission, **more: Any) -> PageResult:
    usual = {"question": "How many?", "kind": "number"}
    return PageResult("http://quiz.test/q", state, submissions=submissions, **(usual | more))  # type: ignore[arg-type]


def task(state: str, *pages: PageResult, error: str | None = None) -> TaskResult:
    return TaskResult("cafe0123", "jon@quiz.test", "http://quiz.test/q", state, pages, error=error)  # type: ignore[arg-type]


RIGHT = page("correct", sent(4, correct=True))


SKIPPED = page("skipped", sent(1, "no"), sent(2, "not that either"))
