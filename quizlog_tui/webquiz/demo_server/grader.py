"""The grader: stores every submission, then checks it, with a clock that tests may advance.

It knows no HTTP apart from status numbers. Thread-safe.
"""

from __future__ import annotations

import hashlib
import random
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from threading import Lock
from typing import Any, Literal
from urllib.parse import parse_qs, quote, urlsplit

from .book import ALWAYS_ON, Page, chain_of
from .checks import accepted, reason_of
from .pages import submit_path

FIELDS = ("email", "secret", "url", "answer")
"""The required fields of a submission."""
MAX_BODY = 1_000_000
"""Maximum size of a submission in bytes."""


@dataclass(frozen=True)
class Options:
    """Options of the server's behaviour."""

    clock: Literal["real", "virtual"] = "real"
    deadline_seconds: float = 180.0
    deadline_from: Literal["issue", "trigger"] = "issue"
    """The start of the deadline: the issue of the page's URL, or the trigger."""
    grading: Literal["last", "max"] = "last"
    min_counted_delay: int = 0
    """Submissions with a shorter delay do not count for the score."""
    transcripts: bool = True
    omit_url_key: bool = False
    """Omit `url` if there is no next page, instead of sending null."""
    chain: tuple[str, ...] = ()
    """Ids of the pages in order; all if empty."""
    latency: float = 0.0
    """Seconds added to every reply to a submission."""
    fail_rate: float = 0.0
    """Share of submissions that are answered with HTTP 500."""
    seed: int = 0


@dataclass(frozen=True)
class GradedRow:
    """A submission as stored."""

    id: int
    time: float
    email: str
    secret_hash: str
    url: str
    answer: Any
    page: str
    delay: int | None
    correct: bool


@dataclass(frozen=True)
class Answer:
    """A reply of the server."""

    status: int
    body: dict[str, Any]
    retry_after: str | None = None


class _Refused(Exception):
    def __init__(self, status: int, error: str, retry_after: str | None = None) -> None:
        super().__init__(error)
        self.answer = Answer(status, {"error": error}, retry_after)


@dataclass
class Grader:
    """The state of one server."""

    options: Options = field(default_factory=Options)

    def __post_init__(self) -> None:
        self.pages = chain_of(self.options.chain)
        self.rows: list[GradedRow] = []
        self.triggered: dict[str, float] = {}
        self._advanced = 0.0
        self._flaky: Counter[tuple[str, str]] = Counter()
        self._chance = random.Random(self.options.seed)
        self._lock = Lock()

    def now(self) -> float:
        """The time, in seconds."""
        return self._advanced + (time.time() if self.options.clock == "real" else 0.0)

    def advance(self, seconds: float) -> None:
        """Advance the clock."""
        with self._lock:
            self._advanced += seconds

    def trigger(self, email: str) -> None:
        """Note that a task begins."""
        with self._lock:
            self.triggered[email] = self.now()

    def submit(self, path: str, body: Any, origin: str) -> Answer:
        """Store and grade a submission."""
        try:
            with self._lock:
                return self._graded(path, _checked(body), origin)
        except _Refused as refused:
            return refused.answer

    def _graded(self, path: str, body: Mapping[str, Any], origin: str) -> Answer:
        parts = urlsplit(str(body["url"]))
        page = next((page for page in self.pages if page.path == parts.path), None)
        if page is None:
            raise _Refused(400, f"Unknown url: {body['url']}")
        if path != submit_path(page):
            raise _Refused(404, f"{page.id} has another submit path")
        issued = self._issue(parts.query)
        email = str(body["email"])
        self._maybe_fail(page, email, parts.query)
        now = self.now()
        start = self.triggered.get(email) if self.options.deadline_from == "trigger" else issued
        delay = None if start is None else int(now - start)
        right = accepted(page, body["answer"], email, origin)
        late = delay is not None and delay > self.options.deadline_seconds
        hashed = hashlib.sha256(str(body["secret"]).encode()).hexdigest()
        row = GradedRow(
            len(self.rows) + 1, now, email, hashed, str(body["url"]), body["answer"], page.id,
            delay, right and not late,
        )  # fmt: skip
        self.rows.append(row)
        reason = "" if right else reason_of(page, body["answer"])
        if late:
            reason += f" [DELAY: {delay}s > {self.options.deadline_seconds:g}s]"
        after = self._after(page, row, origin)
        said = {"correct": row.correct, "reason": reason, "url": after, "delay": delay}
        if after is None and self.options.omit_url_key:
            del said["url"]
        return Answer(200, said)

    def _issue(self, query: str) -> float | None:
        """When the submitted URL was issued: None for a first page."""
        given = parse_qs(query).get("id")
        if not given:
            return None
        row = next((row for row in self.rows if str(row.id) == given[0]), None)
        if row is None:
            raise _Refused(400, f"Invalid id={given[0]}")
        return row.time

    def _maybe_fail(self, page: Page, email: str, query: str) -> None:
        if self._chance.random() < self.options.fail_rate:
            raise _Refused(500, "Internal error: by chance")
        if page.id == "q21-flaky":
            place = (email, query)
            self._flaky[place] += 1
            if self._flaky[place] == 1:
                raise _Refused(500, "Internal error: D1_ERROR")
            if self._flaky[place] == 2:
                raise _Refused(503, "busy", "1")

    def _after(self, page: Page, row: GradedRow, origin: str) -> str | None:
        place = self.pages.index(page) + 1
        if place == len(self.pages) or not (row.correct or page.difficulty <= ALWAYS_ON):
            return None
        return f"{origin}{self.pages[place].path}?email={quote(row.email, safe='')}&id={row.id}"

    def score(self) -> dict[str, Any]:
        """The pages that count as right, by address and under both rules."""
        least = self.options.min_counted_delay
        with self._lock:
            counted = [r for r in self.rows if r.delay is None or r.delay >= least]
            found: dict[str, Any] = {"rule": self.options.grading}
            for rule in ("last", "max"):
                found[rule] = {}
                for row in counted:
                    mine = found[rule].setdefault(row.email, {})
                    before = mine.get(row.page, False) and rule == "max"
                    mine[row.page] = row.correct or before
        return found

    def log(self) -> list[dict[str, Any]]:
        """All submissions."""
        with self._lock:
            return [asdict(row) for row in self.rows]


def _checked(body: Any) -> Mapping[str, Any]:
    if not isinstance(body, dict):
        raise _Refused(400, "Body must be valid JSON: an object")
    for name in FIELDS:
        value = body.get(name)
        if value is None or value == [] or not str(value).strip():
            raise _Refused(400, f"Missing field {name}")
    return body
