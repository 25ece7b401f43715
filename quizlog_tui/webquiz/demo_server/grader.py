"""The practice quiz: its pages, the expected answers, and the grading of submissions.

The checks that pages name are as lenient as real ones; tests may move the clock. Knows no HTTP
apart from status numbers. Thread-safe.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import struct
import time
import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from threading import Lock
from typing import Any, Literal
from urllib.parse import parse_qs, quote, urlsplit

from ...errors import UsageError, did_you_mean
from ...files.paths import quiz_pages

EMAIL = "jon@quiz.test"
"""The default e-mail address, one of the two that the pages have answers for."""
_ALWAYS_ON = 2
"""Up to this difficulty, the reply to a wrong answer names the next page too."""
_FIELDS = ("email", "secret", "url", "answer")
"""The required fields of a submission."""


@dataclass(frozen=True)
class Page:
    """A page of the quiz."""

    id: str
    path: str
    difficulty: int
    question: str
    answer: Any
    """The expected answer, or one for each e-mail address."""
    check: Mapping[str, Any]
    """How an answer is checked."""

    @property
    def submit_path(self) -> str:
        """The path that the page names for its answer."""
        return "/grade/q06" if self.id == "q06-fetch" else "/submit"

    def expected(self, email: str) -> Any:
        """The answer expected of an address."""
        personal = isinstance(self.answer, dict) and any("@" in key for key in self.answer)
        return self.answer.get(email) if personal else self.answer


@cache
def all_pages() -> dict[str, Page]:
    """Every page by its path, in order."""
    data = json.loads(quiz_pages().read_text(encoding="utf-8"))
    names = Page.__dataclass_fields__
    return {one["path"]: Page(**{name: one[name] for name in names}) for one in data["pages"]}


def _chain_of(ids: Sequence[str]) -> list[Page]:
    """The pages of a chain; all of them if none are named."""
    known = {page.id: page for page in all_pages().values()}
    for name in ids:
        if name not in known:
            hint = did_you_mean(name, known) or f"one of {', '.join(known)}"
            raise UsageError(f"there is no page {name!r}", hint=hint)
    return [known[name] for name in ids] or list(known.values())


@dataclass(frozen=True)
class Options:
    """Options of the server's behaviour."""

    deadline_seconds: float = 180.0
    grading: Literal["last", "max"] = "last"
    chain: tuple[str, ...] = ()
    """Ids of the pages in order; all if empty."""
    latency: float = 0.0
    """Seconds added to every reply to a submission."""


@dataclass(frozen=True)
class _GradedRow:
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
    """A reply of the server in JSON."""

    status: int
    body: Any
    retry_after: str | None = None


class _Refused(Exception):
    def __init__(self, status: int, error: str, retry_after: str | None = None) -> None:
        super().__init__(error)
        self.answer = Answer(status, {"error": error}, retry_after)


@dataclass
class Grader:
    """The state of one server.

    Raises:
        UsageError: There is no such page as the options name.
    """

    options: Options = field(default_factory=Options)
    clock: Callable[[], float] = time.time

    def __post_init__(self) -> None:
        self.pages = _chain_of(self.options.chain)
        self.rows: list[_GradedRow] = []
        self._flaky: Counter[tuple[str, ...]] = Counter()
        self._lock = Lock()

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
        if path != page.submit_path:
            raise _Refused(404, f"{page.id} has another submit path")
        issued = self._issue(parts.query)
        email = str(body["email"])
        if page.id == "q21-flaky":
            self._fail_at_first(email, parts.query)
        now = self.clock()
        delay = None if issued is None else int(now - issued)
        right = _is_accepted(page, body["answer"], email, origin)
        late = delay is not None and delay > self.options.deadline_seconds
        hashed = hashlib.sha256(str(body["secret"]).encode()).hexdigest()
        row = _GradedRow(
            len(self.rows) + 1, now, email, hashed, str(body["url"]), body["answer"], page.id,
            delay, right and not late,
        )  # fmt: skip
        self.rows.append(row)
        reason = "" if right else _reason_of(page, body["answer"])
        if late:
            reason += f" [DELAY: {delay}s > {self.options.deadline_seconds:g}s]"
        after = self._after(page, row, origin)
        said = {"correct": row.correct, "reason": reason, "url": after, "delay": delay}
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

    def _fail_at_first(self, *place: str) -> None:
        self._flaky[place] += 1
        if self._flaky[place] == 1:
            raise _Refused(500, "Internal error: D1_ERROR")
        if self._flaky[place] == 2:
            raise _Refused(503, "busy", "1")

    def _after(self, page: Page, row: _GradedRow, origin: str) -> str | None:
        place = self.pages.index(page) + 1
        if place == len(self.pages) or not (row.correct or page.difficulty <= _ALWAYS_ON):
            return None
        return f"{origin}{self.pages[place].path}?email={quote(row.email, safe='')}&id={row.id}"

    def score(self) -> dict[str, Any]:
        """The pages that count as right, by address and under both rules."""
        found: dict[str, Any] = {"rule": self.options.grading, "last": {}, "max": {}}
        with self._lock:
            for row in self.rows:
                for rule in ("last", "max"):
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
    for name in _FIELDS:
        value = body.get(name)
        if value is None or value == [] or not str(value).strip():
            raise _Refused(400, f"Missing field {name}")
    return body


# -- the checks of answers that pages name


_MAX_PICTURE = 16_000_000
"""Number of bytes of an unpacked picture that are looked at."""
_CHANNELS = {0: 1, 2: 3, 4: 2, 6: 4}
"""Number of samples of a pixel by colour type."""
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?")


def _is_accepted(page: Page, answer: Any, email: str, origin: str) -> bool:
    check, expected, text = page.check, page.expected(email), str(answer).strip()
    match check["type"]:
        case "nonblank":
            return bool(text)
        case "number":
            is_number = isinstance(answer, (int, float)) and not isinstance(answer, bool)
            return is_number and _is_near(answer, expected, check)
        case "number_or_numeric_string":
            found = _NUMBER.search(text)
            return bool(found and expected is not None and _is_near(found[0], expected, check))
        case "string_exact":
            return bool(answer == expected)
        case "string_ci":
            return bool(" ".join(text.split()).casefold() == expected.casefold())
        case "bool_strict":
            return answer is expected
        case "hex_color":
            return bool(text.lstrip("#").lower() == expected.lstrip("#").lower())
        case "json":
            return _is_alike(_native(answer), expected, check)
        case "predicate":
            said = _native(answer)
            plan = [said.get("shards"), said.get("replicas")] if isinstance(said, dict) else []
            return {type(one) for one in plan} == {int} and plan in expected["any_of"]
        case "regex_all":
            return _has_patterns(check["patterns"], text, email, origin)
        case _:
            return _is_picture(answer, check)


def _reason_of(page: Page, answer: Any) -> str:
    """The reason given for a wrong answer."""
    if page.check["type"] == "bool_strict" and not isinstance(answer, bool):
        return "Answer must be a JSON boolean"
    return str(page.check.get("reason_on_wrong") or f"{page.id}: not accepted")


def _is_near(value: Any, expected: Any, check: Mapping[str, Any]) -> bool:
    return bool(abs(float(value) - expected) <= check["tol"] + 1e-9)


def _native(answer: Any) -> Any:
    try:
        return json.loads(answer) if isinstance(answer, str) else answer
    except ValueError:
        return answer


def _is_alike(one: Any, other: Any, check: Mapping[str, Any]) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_is_alike(one[k], other[k], check) for k in one)
    if isinstance(one, list) and isinstance(other, list):
        pairs = zip(one, other, strict=False)
        return len(one) == len(other) and all(_is_alike(a, b, check) for a, b in pairs)
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        absolute, relative = check.get("number_tol", 0), check.get("number_rel_tol", 0)
        return bool(abs(one - other) <= max(absolute, relative * abs(other)) + 1e-12)
    if isinstance(one, str) and isinstance(other, str) and check.get("strings_ci"):
        return one.casefold() == other.casefold()
    return bool(one == other)


def _has_patterns(patterns: Sequence[str], text: str, email: str, origin: str) -> bool:
    values = {
        "{origin_re}": re.escape(origin),
        "{email_re}": re.escape(email),
        "{email_urlenc_re}": re.escape(quote(email, safe="")),
    }
    for name, value in values.items():
        patterns = [pattern.replace(name, value) for pattern in patterns]
    return all(re.search(pattern, text) for pattern in patterns)


def _is_picture(answer: Any, check: Mapping[str, Any]) -> bool:
    """Whether an answer is a PNG data URI, big enough, not blank."""
    prefix = "data:image/png;base64,"
    if not isinstance(answer, str) or not answer.startswith(prefix):
        return False
    try:
        data = base64.b64decode(answer.removeprefix(prefix), validate=True)
        width, height = struct.unpack(">II", data[16:24])
        samples = zlib.decompressobj().decompress(data[data.index(b"IDAT") + 4 :], _MAX_PICTURE)
    except (ValueError, struct.error, zlib.error):
        return False
    if width < check["min_w"] or height < check["min_h"]:
        return False
    stride = 1 + width * _CHANNELS.get(data[25], 1)
    rows = {samples[start : start + stride] for start in range(0, len(samples), stride)}
    return len(rows) > 2  # the first row of a blank picture may be packed unlike the others
