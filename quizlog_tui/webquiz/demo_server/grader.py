"""The practice quiz: its pages and files, the expected answers, and the grading of submissions.

`html/` has the pages: as on real ones, text is made by scripts, late, drawn or hidden. `site/` has
the files, by their paths. What depends on an e-mail address or a query is made here. The checks
that pages name are as lenient as real ones; tests may advance the clock. Knows no HTTP apart from
status numbers. Thread-safe.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import math
import random
import re
import struct
import time
import unicodedata
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, Literal
from urllib.parse import parse_qs, quote, urlsplit

from ...errors import UsageError, did_you_mean
from ...files.paths import quiz_pages

_ALWAYS_ON = 2
"""Up to this difficulty, the reply to a wrong answer names the next page too."""
EMAIL = "jon@quiz.test"
"""The default e-mail address, one of the two that the pages have answers for."""
_HERE = Path(__file__).parent
_PERSONAL = frozenset({"q03-audio", "q07-api", "q15-canvas"})
"""The pages that want an address."""
_ORDERS = 47
_PER_PAGE = 20
_TYPES = {
    ".csv": "text/csv; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".json": "application/json; charset=utf-8",
    ".opus": "audio/ogg",
    ".pdf": "application/pdf",
    ".png": "image/png",
    ".vtt": "text/vtt; charset=utf-8",
    ".wav": "audio/wav",
    ".zip": "application/zip",
}


@dataclass(frozen=True)
class Page:
    """A page of the quiz."""

    id: str
    path: str
    difficulty: int
    question: str
    assets: Mapping[str, Any]
    answer: Any
    """The expected answer, or one for each e-mail address."""
    check: Mapping[str, Any]
    """How an answer is checked."""

    def expected(self, email: str) -> Any:
        """The answer expected of an address."""
        personal = isinstance(self.answer, dict) and any("@" in key for key in self.answer)
        return self.answer.get(email) if personal else self.answer


@cache
def all_pages() -> dict[str, Page]:
    """Every page by its path, in order."""
    data = json.loads(quiz_pages().read_text(encoding="utf-8"))
    names = Page.__dataclass_fields__
    pages = [Page(**{key: value for key, value in one.items() if key in names})
             for one in data["pages"]]  # fmt: skip
    return {page.path: page for page in pages}


def chain_of(ids: Sequence[str]) -> list[Page]:
    """The pages of a chain; all of them if none are named.

    Raises:
        UsageError: There is no such page.
    """
    known = {page.id: page for page in all_pages().values()}
    for name in ids:
        if name not in known:
            hint = did_you_mean(name, known) or f"one of {', '.join(known)}"
            raise UsageError(f"there is no page {name!r}", hint=hint)
    return [known[name] for name in ids] or list(known.values())


def email_number(email: str) -> int:
    """The first four hexadecimal digits of the address's SHA-1."""
    return int(hashlib.sha1(email.encode(), usedforsecurity=False).hexdigest()[:4], 16)


def _submit_path(page: Page) -> str:
    """The path that a page names for its answer."""
    return "/grade/q06" if page is all_pages()["/q06-fetch"] else "/submit"


def page_html(page: Page, email: str) -> str:
    """The HTML of a page for an e-mail address, which is "" if none was given."""
    if page.id in _PERSONAL and not email:
        return f"<!doctype html><title>{page.id}</title><p>Please provide ?email=</p>"
    text = (_HERE / "html" / f"{page.id}.html").read_text(encoding="utf-8")
    address = html.escape(email.replace("+", "%2B"))
    return text.replace("{email}", address).replace("{emailNumber}", str(email_number(email)))


# -- files


@dataclass(frozen=True)
class Asset:
    """A file to serve."""

    type: str
    data: bytes


def asset(path: str, email: str) -> Asset | None:
    """The file at a path, made for an address; None if there is none."""
    if path == "/q03.csv":
        table = "".join(f"{one},{other}\n" for one, other in numbers(email))
        return Asset(_TYPES[".csv"], table.encode())
    if path == "/files/q32.json":
        return _json_page({"email": email})
    file = _files().get(path)
    return Asset(_TYPES[file.suffix], file.read_bytes()) if file else None


@cache
def _files() -> dict[str, Path]:
    """The files of `site/`, by their paths on the server; pages have no suffix there."""
    site = _HERE / "site"
    found = (file for file in site.rglob("*") if file.suffix in _TYPES)
    return {f"/{file.relative_to(site).as_posix().removesuffix('.html')}": file for file in found}


def _json_page(data: Any) -> Asset:
    return Asset(_TYPES[".json"], json.dumps(data).encode())


def numbers(email: str) -> Iterator[tuple[int, int]]:
    """The thousand rows of the audio page's table."""
    one, other = 3, 4
    for row in range(1, 1001):
        one = (1103515245 * one + 12345) % 2**31
        other = (1103515245 * other + 12345) % 2**31
        yield email_number(email) if row == 500 else one % 100000, other % 100000


def orders(number: int) -> Asset:
    """One page of the orders of the API page."""
    status = ("open", "paid", "void")
    items = [
        {"id": i, "amount": 37 * i % 101 + (7 * i % 10) / 10, "status": status[i % 3]}
        for i in range(1, _ORDERS + 1)
    ]
    start = (number - 1) * _PER_PAGE
    more = start + _PER_PAGE < len(items)
    after = f"/api/q07/orders?page={number + 1}" if more else None
    return _json_page({"items": items[start : start + _PER_PAGE], "next": after})


def late_question() -> Asset:
    """The data for the page that loads its question."""
    text = f"<p>{all_pages()['/q06-fetch'].question}</p>"
    return _json_page({"html": text, "submit": "/grade/q06"})


_FIELDS = ("email", "secret", "url", "answer")
"""The required fields of a submission."""
MAX_BODY = 1_000_000
"""Maximum size of a submission in bytes."""


@dataclass(frozen=True)
class Options:
    """Options of the server's behaviour."""

    clock: Literal["real", "virtual"] = "real"
    deadline_seconds: float = 180.0
    grading: Literal["last", "max"] = "last"
    min_counted_delay: int = 0
    """Submissions with a shorter delay do not count for the score."""
    chain: tuple[str, ...] = ()
    """Ids of the pages in order; all if empty."""
    latency: float = 0.0
    """Seconds added to every reply to a submission."""
    fail_rate: float = 0.0
    """Share of submissions that are answered with HTTP 500."""


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
        self.rows: list[_GradedRow] = []
        self._advanced = 0.0
        self._flaky: Counter[tuple[str, str]] = Counter()
        self._chance = random.Random(0)
        self._lock = Lock()

    def now(self) -> float:
        """The time, in seconds."""
        return self._advanced + (time.time() if self.options.clock == "real" else 0.0)

    def advance(self, seconds: float) -> None:
        """Advance the clock."""
        with self._lock:
            self._advanced += seconds

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
        if path != _submit_path(page):
            raise _Refused(404, f"{page.id} has another submit path")
        issued = self._issue(parts.query)
        email = str(body["email"])
        self._maybe_fail(page, email, parts.query)
        now = self.now()
        delay = None if issued is None else int(now - issued)
        right = accepted(page, body["answer"], email, origin)
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

    def _after(self, page: Page, row: _GradedRow, origin: str) -> str | None:
        place = self.pages.index(page) + 1
        if place == len(self.pages) or not (row.correct or page.difficulty <= _ALWAYS_ON):
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
    for name in _FIELDS:
        value = body.get(name)
        if value is None or value == [] or not str(value).strip():
            raise _Refused(400, f"Missing field {name}")
    return body


# -- the checks of answers that pages name


Check = Mapping[str, Any]
_MAX_PICTURE = 16_000_000
"""Number of bytes of an unpacked picture that are looked at."""
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?")


def accepted(page: Page, answer: Any, email: str, origin: str) -> bool:
    """Whether a page accepts an answer of an address."""
    if page.check["type"] == "regex_all":
        return _patterns(page.check, answer, email, origin)
    return CHECKS[page.check["type"]](answer, page.expected(email), page.check)


def _reason_of(page: Page, answer: Any) -> str:
    """The reason given for a wrong answer."""
    if page.check["type"] == "bool_strict" and not isinstance(answer, bool):
        return "Answer must be a JSON boolean"
    return str(page.check.get("reason_on_wrong") or f"{page.id}: not accepted")


def _nonblank(answer: Any, _: Any, __: Check) -> bool:
    return bool(str(answer).strip())


def _near(value: float, expected: Any, check: Check) -> bool:
    return abs(value - float(expected)) <= float(check.get("tol", 0)) + 1e-9


def _number(answer: Any, expected: Any, check: Check) -> bool:
    is_number = isinstance(answer, (int, float)) and not isinstance(answer, bool)
    return is_number and _near(answer, expected, check)


def _first_number(answer: Any, expected: Any, check: Check) -> bool:
    found = _NUMBER.search(str(answer))
    return bool(found and expected is not None and _near(float(found[0]), expected, check))


def _exact(answer: Any, expected: Any, _: Check) -> bool:
    return bool(answer == expected)


def _exact_nfc(answer: Any, expected: Any, _: Check) -> bool:
    return isinstance(answer, str) and unicodedata.normalize("NFC", answer) == expected


def _any_case(answer: Any, expected: Any, _: Check) -> bool:
    return bool(" ".join(str(answer).split()).casefold() == expected.casefold())


def _boolean(answer: Any, expected: Any, _: Check) -> bool:
    return isinstance(answer, bool) and answer == expected


def _colour(answer: Any, expected: Any, _: Check) -> bool:
    return bool(str(answer).strip().lstrip("#").lower() == expected.lstrip("#").lower())


def _native(answer: Any) -> Any:
    if not isinstance(answer, str):
        return answer
    try:
        return json.loads(answer)
    except ValueError:
        return answer


def _json(answer: Any, expected: Any, check: Check) -> bool:
    return _alike(_native(answer), expected, check)


def _alike(one: Any, other: Any, check: Check) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_alike(one[k], other[k], check) for k in one)
    if isinstance(one, list) and isinstance(other, list):
        pairs = zip(one, other, strict=False)
        return len(one) == len(other) and all(_alike(a, b, check) for a, b in pairs)
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        absolute, relative = check.get("number_tol", 0), check.get("number_rel_tol", 0)
        return bool(abs(one - other) <= max(absolute, relative * abs(other)) + 1e-12)
    if isinstance(one, str) and isinstance(other, str) and check.get("strings_ci"):
        return one.casefold() == other.casefold()
    return bool(one == other)


def _plan(answer: Any, _: Any, __: Check) -> bool:
    """Any pair of shards and replicas that meets the limits of the plan page."""
    plan, said = all_pages()["/q23-plan"].assets["/files/q23.json"], _native(answer)
    if not isinstance(said, dict):
        return False
    shards, replicas = said.get("shards"), said.get("replicas")
    if type(shards) is not int or type(replicas) is not int or shards < 1:
        return False
    return bool(
        math.ceil(plan["dataset"] / shards) <= plan["max_docs_per_shard"]
        and shards <= plan["max_shards"]
        and plan["min_replicas"] <= replicas <= plan["max_replicas"]
        and shards * replicas * plan["memory_per_shard"] <= plan["memory_budget"]
    )


def _patterns(check: Check, answer: Any, email: str, origin: str) -> bool:
    values = {
        "{origin_re}": re.escape(origin),
        "{email_re}": re.escape(email),
        "{email_urlenc_re}": re.escape(quote(email, safe="")),
    }
    patterns = list(check["patterns"])
    for name, value in values.items():
        patterns = [pattern.replace(name, value) for pattern in patterns]
    return all(re.search(pattern, str(answer)) for pattern in patterns)


def _contains(answer: Any, _: Any, check: Check) -> bool:
    return all(part.casefold() in str(answer).casefold() for part in check["parts"])


def _picture(answer: Any, _: Any, check: Check) -> bool:
    """A PNG data URI, big enough, not blank."""
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


_CHANNELS = {0: 1, 2: 3, 4: 2, 6: 4}
"""Number of samples of a pixel by colour type."""
CHECKS: dict[str, Callable[[Any, Any, Check], bool]] = {
    "nonblank": _nonblank,
    "number": _number,
    "number_or_numeric_string": _first_number,
    "string_exact": _exact,
    "string_exact_nfc": _exact_nfc,
    "string_ci": _any_case,
    "bool_strict": _boolean,
    "hex_color": _colour,
    "json": _json,
    "predicate": _plan,
    "contains_all_ci": _contains,
    "png_data_uri": _picture,
}
"""All checks by name, except those that need more than the answer."""
