"""Visits a page: loads it, waits until it has settled, reveals hidden parts, and reads it."""

from __future__ import annotations

import asyncio
import contextlib
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.async_api import Download, Page, Request, Response
from playwright.async_api import Error as PlaywrightError

from . import in_page
from .saving import MOST_OFFERED, Saving
from .settling import FrameState, settled
from .snapshot import Link, LoadedJson, PageFrame, Snapshot, frame_of

_MOST_JSON = 200_000
_LOOK = 0.05
"""Seconds between two checks of a page that settles."""


@dataclass
class Visit:
    """A visit of one page.

    Args:
        page: The browser's page.
        url: The URL to visit.
        folder: The folder for downloads and pictures.
        room: Maximum number of bytes of these.
        deadline: Time on the monotonic clock at which the page is read in any state.
    """

    page: Page
    url: str
    folder: Path
    room: int
    deadline: float
    pending: set[Request] = field(default_factory=set)
    answers: list[Response] = field(default_factory=list)
    offered: dict[str, Link] = field(default_factory=dict)
    started: float = field(default_factory=time.monotonic)
    arrived: float = math.inf
    """When its HTML arrived."""
    listeners: dict[str, Callable[[Any], Any]] = field(default_factory=dict)

    def _left(self) -> float:
        return max(0.05, self.deadline - time.monotonic())

    async def snapshot(self) -> Snapshot:
        """Load the page, wait until it has settled, reveal hidden parts, and read it.

        Raises:
            PlaywrightError: The page could not be loaded.
            TimeoutError: The page did not load in time.
        """
        self._listen()
        async with asyncio.timeout(self._left() + 2):
            response = await self.page.goto(
                self.url, wait_until="domcontentloaded", timeout=self._left() * 1000
            )
            self.arrived = time.monotonic()
            why = await self._settle()
            if await self._reveal():
                why = await self._settle()
            frames = await self._frames()
            saving = Saving(self.page, self.folder, self.room, self.deadline)
            await saving.save(frames, tuple(self.offered.values()))
            return Snapshot(
                url=self.url,
                frames=frames,
                status=response.status if response else 200,
                loaded=tuple(await self._loaded()),
                files=tuple(saving.names),
                offered=tuple(one for one in self.offered.values() if _is_fetched(one)),
                settled=why,
                seconds=round(time.monotonic() - self.started, 3),
            )

    def _listen(self) -> None:
        def begun(request: Request) -> None:
            if request.resource_type not in ("media", "websocket", "eventsource", "ping"):
                self.pending.add(request)

        def answered(response: Response) -> None:
            kind = response.headers.get("content-type", "")
            if response.request.resource_type in ("fetch", "xhr") and "json" in kind:
                self.answers.append(response)

        def offered(download: Download) -> None:
            if len(self.offered) < MOST_OFFERED:
                self.offered[download.url] = Link(download.url, download.suggested_filename)

        self.listeners = {
            "request": begun,
            "requestfinished": lambda request: self.pending.discard(request),
            "requestfailed": lambda request: self.pending.discard(request),
            "response": answered,
            "download": offered,
            "dialog": lambda dialog: asyncio.ensure_future(dialog.dismiss()),
        }
        for event, handler in self.listeners.items():
            self.page.on(event, handler)  # type: ignore[call-overload]

    def unlisten(self) -> None:
        """Remove the listeners from the page."""
        for event, handler in self.listeners.items():
            self.page.remove_listener(event, handler)
        self.listeners = {}

    async def _settle(self) -> str:
        while time.monotonic() < self.deadline:
            moments = [await self._look(frame) for frame in self.page.frames]
            why = settled([one for one in moments if one], len(self.pending), self._age())
            if why:
                return why
            await asyncio.sleep(_LOOK)
        return "time was up"

    def _age(self) -> float:
        return time.monotonic() - self.arrived

    async def _look(self, frame: Any) -> FrameState | None:
        with contextlib.suppress(PlaywrightError):
            return FrameState(**await frame.evaluate(in_page.STATE))
        return None

    async def _reveal(self) -> list[str]:
        clicked: list[str] = []
        for frame in self.page.frames:
            with contextlib.suppress(PlaywrightError):
                clicked += await frame.evaluate(in_page.REVEAL)
        return clicked

    async def _frames(self) -> tuple[PageFrame, ...]:
        found = []
        for frame in self.page.frames:
            with contextlib.suppress(PlaywrightError):
                found.append(frame_of(frame.url, await frame.evaluate(in_page.READ)))
        return tuple(found)

    async def _loaded(self) -> list[LoadedJson]:
        found = []
        for response in self.answers[:20]:
            with contextlib.suppress(PlaywrightError):
                text = await response.text()
                if len(text) <= _MOST_JSON:
                    found.append(LoadedJson(response.url, text))
        return found


def _is_fetched(link: Link) -> bool:
    return link.url.startswith(("http://", "https://"))
