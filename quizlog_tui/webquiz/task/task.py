"""A task's request, the results of its pages, and what models are told of earlier pages.

Plain data, without the secret.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal
from urllib.parse import urlsplit

from ...errors import UsageError
from ...text import is_whole

_LONGEST = 4096
"""Maximum number of characters of a field of a trigger."""

PageState = Literal[
    "open", "correct", "skipped", "wrong", "late", "no_answer", "unreachable", "rejected",
    "no_reply", "in_doubt",
]  # fmt: skip
"""State of a page: `open` (it has not ended), `skipped` (not solved, but the next page was named),
`wrong` (not solved, no next page), `late` (its time was over: the server said so, or no answer
could be sent before), `no_answer` (no model gave one), `unreachable` (it could not be rendered),
`rejected` (the server wants no answer), `no_reply` (the grader could not be reached), `in_doubt`
(the process ended while an answer was being sent; sent again, it was not graded, or the time was
over)."""
TaskState = Literal[
    "queued", "running", "finished", "wrong", "late", "no_answer", "unreachable", "rejected",
    "no_reply", "in_doubt", "refused", "loop", "too_long", "cancelled", "failed",
]  # fmt: skip
"""State of a task: `finished` (its last page was answered right), or the state of its last page;
`refused` (the next page is on a site that is not allowed), `loop` (it was led back to a page that
was answered right before), `too_long`, `cancelled`, `failed` (a defect of ours)."""


@dataclass(frozen=True)
class TaskRequest:
    """What triggers a task."""

    email: str
    secret: str = field(repr=False)
    url: str = ""
    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    triggered: float = field(default_factory=time.time)
    """Time of the trigger in seconds since 1970. The first page's time runs from here."""


@dataclass(frozen=True)
class Submission:
    """An answer that was sent."""

    t: float
    """Seconds after the page's URL was issued."""
    answer: Any
    outcome: str
    http: int | None
    correct: bool
    reason: str
    next: str | None
    delay: float | None
    tries: int


@dataclass(frozen=True)
class PageResult:
    """The result of a page."""

    url: str
    state: PageState
    question: str = ""
    kind: str = ""
    submit_url: str = ""
    submit_rule: str = ""
    files: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    """Ids of the decisions made about it."""
    submissions: tuple[Submission, ...] = ()
    next: str | None = None
    seconds: float = 0.0
    settled: str = ""
    """Why the wait for its content ended."""


@dataclass(frozen=True)
class TaskResult:
    """The result of a task."""

    id: str
    email: str
    url: str
    state: TaskState
    pages: tuple[PageResult, ...] = ()
    refused: tuple[str, ...] = ()
    """Requests that the gate refused."""
    error: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The result as written to `result.json`."""
        right = sum(page.state == "correct" for page in self.pages)
        return {"schema_version": 1, **asdict(self), "right": right}


def request_fault(data: Any) -> UsageError | None:
    """What is wrong with a trigger's JSON; None if nothing is. Pure."""
    hint = "send a JSON object with the texts email, secret and url"
    if not isinstance(data, Mapping):
        return UsageError("the body must be a JSON object", where="body", hint=hint)
    for name in ("email", "secret", "url"):
        value = data.get(name)
        if not isinstance(value, str) or not value.strip():
            return UsageError(f"the field {name} is missing or no text", where=name, hint=hint)
        if len(value) > _LONGEST:
            hint = f"send at most {_LONGEST} characters"
            return UsageError(f"the field {name} is too long", where=name, hint=hint)
        if name != "secret" and not is_whole(value):  # no secret is: refused as a wrong one
            said = f"the field {name} holds half a surrogate pair"
            return UsageError(said, where=name, hint="send whole characters")
    return None


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
