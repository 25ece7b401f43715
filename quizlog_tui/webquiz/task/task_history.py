"""Describes a task's earlier pages to models, as a later page may build on an answer. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from urllib.parse import urlsplit

from .task import PageResult

_HEAD = "Earlier pages of this quiz, the previous one last:"
_PAGES = 8
"""Maximum number of pages, the last ones."""
_QUESTION, _ANSWER = 600, 300
"""Maximum number of characters of a question and of an answer."""


def with_history(context: str, pages: Sequence[PageResult]) -> str:
    """A context followed by the last pages' questions and the results of their last answers."""
    first = max(0, len(pages) - _PAGES)
    summaries = [_summary(number, page) for number, page in enumerate(pages[first:], first + 1)]
    return "\n\n".join([context, _HEAD, *summaries]) if summaries else context


def without_history(context: str) -> str:
    """A context without its history."""
    return context.partition(f"\n\n{_HEAD}")[0]


def _summary(number: int, page: PageResult) -> str:
    question = _short(" ".join(page.question.split()), _QUESTION)
    asked = f"Page {number}, {urlsplit(page.url).path}: {question}"
    if not page.submissions:
        return f"{asked}\nNo answer was sent."
    last = page.submissions[-1]
    answer = _short(json.dumps(last.answer, ensure_ascii=False), _ANSWER)
    return f"{asked}\nAnswer: {answer} ({'right' if last.correct else 'not accepted'})"


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}[...]"
