"""Fetches the files and pages that a page refers to: files into the task's folder, pages as text.

It uses only GET through the task's gate, with limits on number, size and time. Code that models
write has no network, so that files it may need are fetched before it runs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from ..page.browser import NotRenderedError, Tab
from ..page.page import WebPage, question_of, reachable
from .address import Allowed
from .file_names import free_name, name_of

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
_PATIENCE = 10.0
TEXTS = ("text/", "application/json", "application/x-ndjson", "application/xml")
"""Prefixes of the media types of texts."""


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
    work = _ResourceFetch(tab, http, allowed, room, set(page.resources), page.names)
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
                kind = reply.headers.get("content-type", "").split(";")[0].strip()
                if kind != "text/html" or url in self.suggested:
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
        if kind.startswith(TEXTS):
            text = data[: 4 * _PREVIEW].decode("utf-8", "replace")[:_PREVIEW]
            part.texts.append(f"File {name} ({len(data)} bytes) begins:\n{text}")
        else:
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
        text = question_of(snapshot.frames, [frame.text for frame in snapshot.frames])
        part.texts.append(f"Linked page {urlsplit(url).path} says:\n{text[:8_000]}")
        links = [link for frame in snapshot.frames for link in frame.links]
        return next((link.url for link in links if "next" in link.rel.split()), "")


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
