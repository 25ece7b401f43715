"""The pages of the practice quiz, their expected answers, and the files they refer to. Pure.

`html/` has the pages: as on real ones, text is made by scripts, late, drawn or hidden. `site/` has
the files, by their paths. What depends on an e-mail address or a query is made here.
"""

from __future__ import annotations

import hashlib
import html
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ...errors import UsageError, did_you_mean
from ...files.paths import quiz_pages

ALWAYS_ON = 2
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


def submit_path(page: Page) -> str:
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
        return _json({"email": email})
    file = _files().get(path)
    return Asset(_TYPES[file.suffix], file.read_bytes()) if file else None


@cache
def _files() -> dict[str, Path]:
    """The files of `site/`, by their paths on the server; pages have no suffix there."""
    site = _HERE / "site"
    found = (file for file in site.rglob("*") if file.suffix in _TYPES)
    return {f"/{file.relative_to(site).as_posix().removesuffix('.html')}": file for file in found}


def _json(data: Any) -> Asset:
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
    return _json({"items": items[start : start + _PER_PAGE], "next": after})


def late_question() -> Asset:
    """The data for the page that loads its question."""
    text = f"<p>{all_pages()['/q06-fetch'].question}</p>"
    return _json({"html": text, "submit": "/grade/q06"})
