"""Fetches a page: renders it, reads it, and fetches what it refers to.

The result is plain data, so that it can be stored. Nothing is decided about answers.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..net.downloads import PageResources, context_of, folder_size, gather
from ..task.task_context import TaskContext
from .browser import NotRenderedError, Tab
from .page import WebPage, read_page, unread_of
from .snapshot import Snapshot


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


def fetched_page_from(data: Mapping[str, Any]) -> FetchedPage:
    """The result from its plain data, as made by `dataclasses.asdict`."""
    page = data["page"] and WebPage(**data["page"])
    lists = {name: tuple(data[name]) for name in ("files", "notes")}
    return FetchedPage(page, data["context"], settled=data["settled"], late=data["late"], **lists)


@dataclass(frozen=True)
class PageFetch:
    """Fetches one page. Every fetch starts with an empty folder."""

    tools: TaskContext
    url: str
    folder: Path
    """The folder for the page's files."""
    carried: str | None = field(default=None)
    """The last submit URL that a page of this origin named."""
    issued: float = 0.0
    """When the URL was issued, on the task's clock."""

    async def fetch(self) -> FetchedPage:
        """Fetch the page, unless its time is over.

        No fault of a page or server raises.
        """
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
        resources = await self._gather(page, tab)
        resources.files += snapshot.files
        resources.notes += unread_of(snapshot)
        for url in page.foreign:
            self.tools.gate.refuse(f"{url[:200]}: no answer is sent to another site")
        self._note(page, snapshot, resources)
        return FetchedPage(
            replace(page, resources=(), names={}, foreign=()),
            context_of(resources),
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

    async def _gather(self, page: WebPage, tab: Tab) -> PageResources:
        tools, room = self.tools, self._room()
        return await gather(page, tab, tools.http, tools.allowed, room, tools.budget.download)

    def _room(self) -> int:
        """Number of bytes that are left for the task's files."""
        return self.tools.disk - folder_size(self.tools.workspace.folder)

    def _note(self, page: WebPage, snapshot: Snapshot, resources: PageResources) -> None:
        note = self.tools.workspace.note
        note(f"rendered in {snapshot.seconds:.2f} s ({snapshot.settled}), HTTP {snapshot.status}")
        note(f"submit to {page.submit_url or 'nowhere'} ({page.submit_rule}), kind {page.kind}")
        note(f"files: {', '.join(resources.files) or 'none'}")
        for line in resources.notes:
            note(f"not available: {line}")
