"""Fetches the files and pages that a page refers to: files into the task's folder, pages as text.

It uses only GET through the task's gate, with limits on number, size and time. Code that models
write has no network, so that files it may need are fetched before it runs.
"""

from __future__ import annotations

import asyncio
import codecs
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from ..page.browser import NotRenderedError, Tab
from ..page.page import WebPage, question_of, reachable, unread_of
from .address import Allowed, free_name, name_of

MOST_FILE = 32 * 1024 * 1024
"""Maximum size of a file in bytes; nothing of a longer one is kept."""
_PAGES = 12
_AT_ONCE = 4
"""Maximum number of concurrent fetches."""
_TABS = 2
"""Maximum number of linked pages rendered concurrently."""
_SHOWN = 16 * 1024 * 1024
"""Maximum number of bytes of pictures and downloads of a linked page."""
_PREVIEW = 2_000
_HEAD = 4 * _PREVIEW
"""Number of bytes that a beginning is read from."""
_PATIENCE = 10.0
TEXTS = ("text/", "application/json", "application/x-ndjson", "application/xml")
"""Prefixes of the media types of texts."""
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"),
)  # fmt: skip
"""The marks of encodings at the start of a file; that of UTF-32 begins with that of UTF-16."""
_DECLARED = re.compile(rb"""(?:charset\s*=|encoding\s*=|@charset)\s*["']?([\w.:-]+)""", re.I)
_SUPERSETS = {
    "iso-8859-1": "windows-1252", "latin1": "windows-1252", "us-ascii": "windows-1252",
    "ascii": "windows-1252", "shift_jis": "cp932", "gb2312": "gb18030", "gbk": "gb18030",
    "euc-kr": "cp949", "windows-874": "cp874", "iso-8859-8-i": "iso-8859-8",
}  # fmt: skip
"""The encodings that browsers take for those that are named."""
_BINARY = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f]")


@dataclass
class PageResources:
    """What was fetched of the files and pages that a page refers to."""

    files: list[str] = field(default_factory=list)
    """Names of the files in the folder."""
    texts: list[str] = field(default_factory=list)
    """The texts of linked pages and the beginnings of text files, for the models."""
    notes: list[str] = field(default_factory=list)
    """What could not be fetched, and why."""

    def note(self, url: str, what: str) -> None:
        """Note that something could not be fetched."""
        self.notes.append(f"{url}: {what}")

    def take(self, other: PageResources) -> None:
        """Add the results of another fetch."""
        self.files += other.files
        self.texts += other.texts
        self.notes += other.notes


async def gather(
    page: WebPage, tab: Tab, http: httpx.AsyncClient, allowed: Allowed, room: int, seconds: float
) -> PageResources:
    """Fetch what a page refers to, as far as time allows.

    Args:
        page: The page.
        tab: Renders linked pages; files are saved in its folder.
        http: The client that goes through the task's gate.
        allowed: The sites that may be reached.
        room: Maximum number of bytes of all files together.
        seconds: Maximum seconds for everything.
    """
    seen = set(page.resources)
    work = _ResourceFetch(tab, http, allowed, room, seen, page.names, page.encoding)
    try:
        async with asyncio.timeout(seconds):
            await work.fetch_all(page.resources)
    except TimeoutError:
        work.found.notes.append(f"not all could be fetched within {seconds:g} s")
    return work.found


@dataclass
class _ResourceFetch:
    tab: Tab
    http: httpx.AsyncClient
    allowed: Allowed
    room: int
    seen: set[str]
    """URLs that have been or will be requested."""
    suggested: Mapping[str, str]
    """The suggested names of files, by URL."""
    encoding: str
    """The encoding of the page."""
    found: PageResources = field(default_factory=PageResources)
    names: set[str] = field(default_factory=set)
    """Names reserved for files that are being fetched."""
    pages: int = 0

    def __post_init__(self) -> None:
        self._at_once = asyncio.Semaphore(_AT_ONCE)
        self._tabs = asyncio.Semaphore(_TABS)

    async def fetch_all(self, urls: Sequence[str]) -> None:
        """Fetch files and pages concurrently; results keep their order, even if cancelled."""
        parts = [PageResources() for _ in urls]
        names = [
            self._name(self.suggested.get(url) or name_of(url)) for url in urls
        ]  # the same whichever is there first
        try:
            async with asyncio.TaskGroup() as group:
                for url, name, part in zip(urls, names, parts, strict=True):
                    group.create_task(self._fetch(url, name, part))
        finally:
            for part in parts:
                self.found.take(part)

    def _name(self, suggested: str) -> str:
        name = free_name(self.tab.folder, suggested, self.names)
        self.names.add(name)
        return name

    async def _fetch(self, url: str, name: str, part: PageResources) -> None:
        """A file, or a page and those after it."""
        async with self._at_once:
            after = await self._one(url, name, part)
            while after and after not in self.seen and reachable(after, self.allowed):
                self.seen.add(after)
                after = await self._one(after, None, part)

    async def _one(self, url: str, name: str | None, part: PageResources) -> str:
        """Fetch one URL; return the URL of its next page, or ""."""
        try:
            async with self.http.stream("GET", url, timeout=10) as reply:
                if reply.status_code != 200:
                    raise ValueError(f"HTTP {reply.status_code}")
                kind = reply.headers.get("content-type", "").strip().lower()
                if not kind.startswith("text/html") or url in self.suggested:
                    data = await self._bytes(reply)
                    self._keep(name or self._name(name_of(url)), kind, data, part)
                    return ""
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            part.note(url, str(error) or type(error).__name__)
            return ""
        return await self._page(url, part)

    async def _bytes(self, reply: httpx.Response) -> bytes:
        data = bytearray()
        async for chunk in reply.aiter_bytes():
            data += chunk
            if len(data) > min(MOST_FILE, self.room):
                raise ValueError("is too big")
        return bytes(data)

    def _keep(self, name: str, kind: str, data: bytes, part: PageResources) -> None:
        if len(data) > self.room:  # others came first
            part.notes.append(f"{name}: is too big")
            return
        (self.tab.folder / name).write_bytes(data)
        self.room -= len(data)
        part.files.append(name)
        said = text_of(data, kind, self.encoding)
        if said:
            told = "" if said[1] == "utf-8" else f", {said[1]}"
            text = said[0][:_PREVIEW]
            part.texts.append(f"File {name} ({len(data)} bytes{told}) begins:\n{text}")
        else:
            kind = kind.partition(";")[0].strip()
            part.texts.append(f"File {name}: {len(data)} bytes, {kind}")

    async def _page(self, url: str, part: PageResources) -> str:
        if self.pages >= _PAGES:
            part.note(url, "too many pages")
            return ""
        self.pages += 1
        lent = min(self.room, _SHOWN)
        self.room -= lent
        try:
            async with self._tabs:
                snapshot = await replace(self.tab, room=lent).visit(url)
            lent -= sum((self.tab.folder / name).stat().st_size for name in snapshot.files)
        except NotRenderedError as error:
            part.note(url, str(error))
            return ""
        finally:
            self.room += lent
        part.files += snapshot.files
        for unread in unread_of(snapshot):
            part.note(url, unread)
        text = question_of(snapshot.frames, [frame.text for frame in snapshot.frames])
        part.texts.append(f"Linked page {urlsplit(url).path} says:\n{text[:8_000]}")
        links = [link for frame in snapshot.frames for link in frame.links]
        return next((link.url for link in links if "next" in link.rel.split()), "")


def text_of(data: bytes, kind: str, page: str = "") -> tuple[str, str] | None:
    """The beginning of a file as text, and its encoding; None if it is no text.

    Args:
        data: The file.
        kind: Its media type, perhaps with its encoding.
        page: The encoding of the page that refers to it.
    """
    head, sure = data[:_HEAD], kind.startswith(TEXTS)
    for encoding in _encodings(head, kind, page):
        try:
            io.TextIOWrapper(io.BytesIO(), encoding)  # raises for what makes no text, such as zlib
            text = codecs.getincrementaldecoder(encoding)().decode(head, len(head) == len(data))
        except (LookupError, ValueError):
            continue
        if sure or not _BINARY.search(text):
            return text.removeprefix("\ufeff"), encoding
    return (head.decode("utf-8", "replace"), "utf-8") if sure else None


def _encodings(head: bytes, kind: str, page: str) -> Iterator[str]:
    """The encodings that a file may have, the surest first."""
    yield from (name for mark, name in _MARKS if head.startswith(mark))
    markup = head[:1024] if head.lstrip()[:1] in (b"<", b"@") else b""
    for found in map(_DECLARED.search, (kind.encode("ascii", "ignore"), markup)):
        if found:
            yield _superset(found[1].decode("ascii", "ignore"))
    for part, name in ((head[1::2], "utf-16-le"), (head[::2], "utf-16-be")):
        if head.count(0) == part.count(0) > len(part) / 3:
            yield name
    yield from ("utf-8", _superset(page), "windows-1252")


def _superset(name: str) -> str:
    return _SUPERSETS.get(name.lower(), name.lower())


def retry_delay(suggested: str | None, usual: float) -> float:
    """Seconds to wait according to `Retry-After`, within limits."""
    try:
        return max(0.0, min(_PATIENCE, float(suggested))) if suggested else usual
    except ValueError:
        return usual


def context_of(resources: PageResources) -> str:
    """The text for models about what the page refers to."""
    parts = [*resources.texts, *(f"Not available: {note}" for note in resources.notes)]
    return "\n\n".join(parts)


def folder_size(folder: Path) -> int:
    """The total size of the files in a folder, in bytes."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
