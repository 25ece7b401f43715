"""Fetches a page: renders it, reads it, and fetches the files and pages that it refers to.

Files come into the task's folder, linked pages as text. Only GET is used, through the task's gate,
with limits on number, size and time. Code that models write has no network, so that files it may
need are fetched before it runs. The result is plain data, so that it can be stored. Nothing is
decided about answers.
"""

from __future__ import annotations

import asyncio
import codecs
import io
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx

from ..net.address import Allowed, free_name, name_of
from ..task.task_context import TaskContext
from .browser import NotRenderedError, Tab
from .page import WebPage, question_of, reachable, read_page, unread_of
from .snapshot import Snapshot

_MOST_FILE = 32 * 1024 * 1024
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


@dataclass(frozen=True)
class FetchedPage:
    """The result of fetching a page."""

    page: WebPage | None = None
    """The page without its references; None if it could not be rendered."""
    context: str = ""
    """The text for models about what the page refers to."""
    files: tuple[str, ...] = ()
    """Names of the files in the page's folder."""
    notes: tuple[str, ...] = ()
    """What could not be fetched, and why."""
    settled: str = ""
    """Why the wait for its content ended."""
    late: bool = False
    """Whether its time was over before it was fetched."""

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> FetchedPage:
        """The result from its plain data, as made by `dataclasses.asdict`."""
        page = data["page"] and WebPage(**data["page"])
        lists = {name: tuple(data[name]) for name in ("files", "notes")}
        return cls(**{**data, "page": page, **lists})


@dataclass(frozen=True)
class PageFetch:
    """Fetches one page. Every fetch starts with an empty folder."""

    tools: TaskContext
    url: str
    folder: Path
    """The folder for the page's files."""
    carried: str | None = None
    """The last submit URL that a page of this origin named."""
    issued: float = 0.0
    """When the URL was issued, on the task's clock."""

    async def fetch(self) -> FetchedPage:
        """Fetch the page, unless its time is over. No fault of a page or server raises."""
        if (age := self.tools.clock() - self.issued) >= self.tools.budget.stop:
            note = f"its time was over before it was looked at: {age:.0f} s"
            self.tools.workspace.note(note)
            return FetchedPage(notes=(note,), late=True)
        return await self._fetch()

    async def _fetch(self) -> FetchedPage:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        tab = replace(self.tools.tab, folder=self.folder, room=self._room())
        snapshot, faults = await self._render(tab)
        if snapshot is None:
            return FetchedPage(notes=tuple(faults))
        page = read_page(snapshot, self.tools.allowed, self.carried)
        tools, room = self.tools, self._room()
        resources = await gather(page, tab, tools.http, tools.allowed, room, tools.budget.download)
        resources.files += snapshot.files
        resources.notes += unread_of(snapshot)
        for url in page.foreign:
            self.tools.gate.refuse(f"{url[:200]}: no answer is sent to another site")
        self._note(page, snapshot, resources)
        return FetchedPage(
            replace(page, resources=(), names={}, foreign=()),
            _context_of(resources),
            tuple(resources.files),
            tuple(resources.notes),
            snapshot.settled,
        )

    async def restore_files(self, fetched: FetchedPage) -> None:
        """Fetch the page's files again if they are missing, as on another machine."""
        if not all((self.folder / name).exists() for name in fetched.files):
            await self._fetch()

    async def _render(self, tab: Tab) -> tuple[Snapshot | None, list[str]]:
        """The rendered page, after another attempt if the server fails, and the faults."""
        faults: list[str] = []
        for pause in (0.5, 1.5, 0.0):
            try:
                snapshot = await tab.visit(self.url)
                if snapshot.status < 400:
                    return snapshot, faults
                faults.append(f"HTTP {snapshot.status}")
            except NotRenderedError as error:
                faults.append(str(error))
            self.tools.workspace.note(f"not rendered: {faults[-1]}")
            if faults[-1].startswith("HTTP 4"):
                break
            await asyncio.sleep(pause)
        return None, faults

    def _room(self) -> int:
        """Number of bytes that are left for the task's files."""
        return self.tools.disk - folder_size(self.tools.workspace.folder)

    def _note(self, page: WebPage, snapshot: Snapshot, resources: _PageResources) -> None:
        note = self.tools.workspace.note
        note(f"rendered in {snapshot.seconds:.2f} s ({snapshot.settled}), HTTP {snapshot.status}")
        note(f"submit to {page.submit_url or 'nowhere'} ({page.submit_rule}), kind {page.kind}")
        note(f"files: {', '.join(resources.files) or 'none'}")
        for line in resources.notes:
            note(f"not available: {line}")


# -- the files and pages that it refers to


@dataclass
class _PageResources:
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

    def take(self, other: _PageResources) -> None:
        """Add the results of another fetch."""
        self.files += other.files
        self.texts += other.texts
        self.notes += other.notes


async def gather(
    page: WebPage, tab: Tab, http: httpx.AsyncClient, allowed: Allowed, room: int, seconds: float
) -> _PageResources:
    """Fetch what a page refers to into the tab's folder, in so many bytes and seconds."""
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
    found: _PageResources = field(default_factory=_PageResources)
    names: set[str] = field(default_factory=set)
    """Names reserved for files that are being fetched."""
    pages: int = 0

    def __post_init__(self) -> None:
        self._at_once = asyncio.Semaphore(_AT_ONCE)
        self._tabs = asyncio.Semaphore(_TABS)

    async def fetch_all(self, urls: Sequence[str]) -> None:
        """Fetch files and pages concurrently; results keep their order, even if cancelled."""
        parts = [_PageResources() for _ in urls]
        # the same whichever is there first
        names = [self._name(self.suggested.get(url) or name_of(url)) for url in urls]
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

    async def _fetch(self, url: str, name: str, part: _PageResources) -> None:
        """A file, or a page and those after it."""
        async with self._at_once:
            after = await self._one(url, name, part)
            while after and after not in self.seen and reachable(after, self.allowed):
                self.seen.add(after)
                after = await self._one(after, None, part)

    async def _one(self, url: str, name: str | None, part: _PageResources) -> str:
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
            if len(data) > min(_MOST_FILE, self.room):
                raise ValueError("is too big")
        return bytes(data)

    def _keep(self, name: str, kind: str, data: bytes, part: _PageResources) -> None:
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

    async def _page(self, url: str, part: _PageResources) -> str:
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


def _context_of(resources: _PageResources) -> str:
    """The text for models about what the page refers to."""
    parts = [*resources.texts, *(f"Not available: {note}" for note in resources.notes)]
    return "\n\n".join(parts)


def folder_size(folder: Path) -> int:
    """The total size of the files in a folder, in bytes."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


# -- files as text


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
