"""One look at a page: render it, read what it asks, fetch what it refers to.

What comes of it is plain data, so that it can be kept. Decides nothing about answers.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..net.downloads import Gathered, context_of, folder_size, gather
from ..task.task_context import TaskContext
from .browser import NotRenderedError, Tab
from .page import WebPage, read_page
from .snapshot import Snapshot


@dataclass(frozen=True)
class Looked:
    """What a look at a page found."""

    page: WebPage | None = None
    """What it asks, without what it refers to; None if it could not be had."""
    context: str = ""
    """What models are told of that the page refers to."""
    files: tuple[str, ...] = ()
    """Names in the page's folder."""
    notes: tuple[str, ...] = ()
    """What could not be had, and why."""
    settled: str = ""
    """Why the wait for its content ended."""
    late: bool = False
    """Whether its time was over before it was looked at."""


def looked_from(data: Mapping[str, Any]) -> Looked:
    """What was found, of the plain data that `dataclasses.asdict` makes of it."""
    page = data["page"] and WebPage(**data["page"])
    lists = {name: tuple(data[name]) for name in ("files", "notes")}
    return Looked(page, data["context"], settled=data["settled"], late=data["late"], **lists)


@dataclass(frozen=True)
class PageFetch:
    """How one page is looked at. Every look starts with an empty folder."""

    tools: TaskContext
    url: str
    folder: Path
    """Takes the page's files."""
    carried: str | None = field(default=None)
    """The last submit URL that a page of this origin named."""
    issued: float = 0.0
    """When the URL was issued, by the tools' clock."""

    async def look(self) -> Looked:
        """Render, read, fetch, unless its time is over.

        Raises nothing that a page or server does.
        """
        if (age := self.tools.clock() - self.issued) >= self.tools.budget.stop:
            note = f"its time was over before it was looked at: {age:.0f} s"
            self.tools.workspace.note(note)
            return Looked(notes=(note,), late=True)
        return await self._look()

    async def _look(self) -> Looked:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        tab = replace(self.tools.tab, folder=self.folder, room=self._room())
        snapshot, faults = await self._render(tab)
        if snapshot is None:
            return Looked(notes=tuple(faults))
        page = read_page(snapshot, self.tools.allowed, self.carried)
        gathered = await self._gather(page, tab)
        gathered.files += snapshot.files
        for url in page.foreign:
            self.tools.gate.refuse(f"{url[:200]}: no answer is sent to another site")
        self._note(page, snapshot, gathered)
        return Looked(
            replace(page, resources=(), names={}, foreign=()),
            context_of(gathered),
            tuple(gathered.files),
            tuple(gathered.notes),
            snapshot.settled,
        )

    async def mend(self, looked: Looked) -> None:
        """Fetch the page's files again where they are gone: another machine goes on."""
        if not all((self.folder / name).exists() for name in looked.files):
            await self._look()

    async def _render(self, tab: Tab) -> tuple[Snapshot | None, list[str]]:
        """The page, tried again where its server fails; else why it cannot be had."""
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

    async def _gather(self, page: WebPage, tab: Tab) -> Gathered:
        tools, room = self.tools, self._room()
        return await gather(page, tab, tools.http, tools.allowed, room, tools.budget.download)

    def _room(self) -> int:
        """Bytes that the task's files may still hold."""
        return self.tools.disk - folder_size(self.tools.workspace.folder)

    def _note(self, page: WebPage, snapshot: Snapshot, gathered: Gathered) -> None:
        note = self.tools.workspace.note
        note(f"rendered in {snapshot.seconds:.2f} s ({snapshot.settled}), HTTP {snapshot.status}")
        note(f"submit to {page.submit_url} ({page.submit_rule}), kind {page.kind}")
        note(f"files: {', '.join(gathered.files) or 'none'}")
        for line in gathered.notes:
            note(f"not available: {line}")
