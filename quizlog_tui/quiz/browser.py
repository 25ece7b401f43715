"""Renders pages: one shared browser, one context for each task, everything through the task's gate.

The only module that knows Playwright. It types nothing, submits nothing, and holds no secret.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.async_api import (
    Browser as Chromium,
)
from playwright.async_api import (
    BrowserContext,
    Download,
    Page,
    Playwright,
    Request,
    Response,
    async_playwright,
)
from playwright.async_api import (
    Error as PlaywrightError,
)

from ..errors import ConfigError
from . import in_page
from .gate import Gate
from .names import free_name
from .settling import Moment, settled
from .snapshot import Frame, Loaded, Snapshot, frame_of

_NAMES = (
    "chromium-headless-shell", "chromium", "chromium-browser", "google-chrome",
    "google-chrome-stable", "chrome",
)  # fmt: skip
_QUIET = (
    "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-default-apps", "--mute-audio",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
)  # fmt: skip
_MOST_JSON = 200_000
_MOST_FILE = 64 * 1024 * 1024
_MOST_PICTURES = 4
_LOOK = 0.05
"""Seconds between two looks at a page that settles."""
_LEAVING = 2.0
"""Seconds that a page may take to be left."""


class NotRenderedError(Exception):
    """A page could not be rendered; the text says why, in a line."""


def executable(wish: str | None = None) -> str | None:
    """The Chromium to start: the one wished for, the system's, or None for Playwright's own.

    Raises:
        ConfigError: The one wished for is not there.
    """
    if wish:
        found = shutil.which(wish)
        if found is None:
            raise ConfigError(f"there is no browser {wish!r}", where="BROWSER_EXECUTABLE")
        return found
    return next((path for name in _NAMES if (path := shutil.which(name))), None)


@dataclass
class Browser:
    """The shared browser. Started at the first visit, started again should it die."""

    executable: str | None = None
    at_once: int = 4
    """Contexts open at the same time; more wait."""
    _playwright: Playwright | None = None
    _chromium: Chromium | None = None
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    def __post_init__(self) -> None:
        self._slots = asyncio.Semaphore(self.at_once)

    async def close(self) -> None:
        """End the browser."""
        if self._chromium:
            with contextlib.suppress(PlaywrightError):
                await self._chromium.close()
        if self._playwright:
            await self._playwright.stop()
        self._chromium = self._playwright = None

    @property
    def open_contexts(self) -> int:
        """How many contexts are open."""
        return len(self._chromium.contexts) if self._chromium else 0

    async def _running(self) -> Chromium:
        async with self._lock:
            if self._chromium is None or not self._chromium.is_connected():
                self._playwright = self._playwright or await async_playwright().start()
                flags = list(_QUIET)
                try:
                    self._chromium = await self._playwright.chromium.launch(
                        executable_path=executable(self.executable),
                        args=flags,
                        chromium_sandbox=os.geteuid() != 0,  # root cannot have Chromium's own
                    )
                except PlaywrightError as error:
                    said = str(error).strip().splitlines()[0]
                    hint = "install Debian's chromium, or name one in BROWSER_EXECUTABLE"
                    raise ConfigError(f"cannot start a browser: {said}", hint=hint) from None
            return self._chromium

    @asynccontextmanager
    async def tab(self, gate: Gate, folder: Path) -> AsyncIterator[Tab]:
        """A context of a task's own.

        Args:
            gate: All its requests go through it.
            folder: Where downloads and screenshots go.
        """
        async with self._slots:
            chromium = await self._running()
            context = await chromium.new_context(
                proxy={"server": gate.url, "bypass": "<-loopback>"},
                service_workers="block",
                viewport={"width": 1280, "height": 900},
            )
            try:
                await context.add_init_script(in_page.BEFORE)
                yield Tab(context, folder)
            finally:
                with contextlib.suppress(PlaywrightError):
                    await context.close()


@dataclass
class Tab:
    """Visits pages in one context."""

    context: BrowserContext
    folder: Path
    _blank: list[Page] = field(default_factory=list)
    """Pages that were left: to open one takes as long as a visit."""

    async def visit(self, url: str, seconds: float = 8.0) -> Snapshot:
        """Render a page until it has settled.

        Args:
            url: The page.
            seconds: The most it may take.

        Raises:
            NotRenderedError: It could not be loaded.
        """
        end = time.monotonic() + seconds
        page = self._blank.pop() if self._blank else await self.context.new_page()
        visit = _Visit(page, url, self.folder, end)
        try:
            return await visit.snapshot()
        except PlaywrightError as error:
            raise NotRenderedError(_said(error)) from None
        except TimeoutError:
            raise NotRenderedError(f"not rendered within {seconds:g} s") from None
        finally:
            visit.unlisten()
            await self._leave(page)

    async def _leave(self, page: Page) -> None:
        """Let nothing of a page run on, and keep it for the next visit."""
        try:
            await page.goto("about:blank", timeout=_LEAVING * 1000)
            self._blank.append(page)
        except PlaywrightError:
            with contextlib.suppress(PlaywrightError):
                await page.close()


@dataclass
class _Visit:
    page: Page
    url: str
    folder: Path
    deadline: float
    pending: set[Request] = field(default_factory=set)
    answers: list[Response] = field(default_factory=list)
    downloads: list[Download] = field(default_factory=list)
    started: float = field(default_factory=time.monotonic)
    listeners: dict[str, Callable[[Any], Any]] = field(default_factory=dict)

    def left(self) -> float:
        return max(0.05, self.deadline - time.monotonic())

    async def snapshot(self) -> Snapshot:
        self._listen()
        async with asyncio.timeout(self.left() + 2):
            response = await self.page.goto(
                self.url, wait_until="domcontentloaded", timeout=self.left() * 1000
            )
            why = await self._settle()
            if await self._reveal():
                why = await self._settle()
            frames = await self._frames()
            files = [*await self._pictures(), *await self._saved()]
            return Snapshot(
                url=self.url,
                frames=frames,
                status=response.status if response else 200,
                loaded=tuple(await self._loaded()),
                files=tuple(files),
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

        self.listeners = {
            "request": begun,
            "requestfinished": lambda request: self.pending.discard(request),
            "requestfailed": lambda request: self.pending.discard(request),
            "response": answered,
            "download": lambda download: self.downloads.append(download),
            "dialog": lambda dialog: asyncio.ensure_future(dialog.dismiss()),
        }
        for event, heard in self.listeners.items():
            self.page.on(event, heard)  # type: ignore[call-overload]

    def unlisten(self) -> None:
        """Hear no more of the page."""
        for event, heard in self.listeners.items():
            self.page.remove_listener(event, heard)
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
        return time.monotonic() - self.started

    async def _look(self, frame: Any) -> Moment | None:
        with contextlib.suppress(PlaywrightError):
            return Moment(**await frame.evaluate(in_page.STATE))
        return None

    async def _reveal(self) -> list[str]:
        clicked: list[str] = []
        for frame in self.page.frames:
            with contextlib.suppress(PlaywrightError):
                clicked += await frame.evaluate(in_page.REVEAL)
        return clicked

    async def _frames(self) -> tuple[Frame, ...]:
        found = []
        for frame in self.page.frames:
            with contextlib.suppress(PlaywrightError):
                found.append(frame_of(frame.url, await frame.evaluate(in_page.READ)))
        return tuple(found)

    async def _pictures(self) -> list[str]:
        """Canvases as pictures: what is drawn is nowhere else."""
        names: list[str] = []
        for frame in self.page.frames:
            with contextlib.suppress(PlaywrightError):
                for canvas in (await frame.query_selector_all("canvas"))[:_MOST_PICTURES]:
                    name = free_name(self.folder, "canvas.png")
                    await canvas.screenshot(path=self.folder / name, timeout=2000)
                    names.append(name)
        return names

    async def _saved(self) -> list[str]:
        names = []
        for download in self.downloads:
            name = free_name(self.folder, download.suggested_filename)
            with contextlib.suppress(PlaywrightError, OSError):
                path = await download.path()
                if path.stat().st_size <= _MOST_FILE:
                    shutil.copyfile(path, self.folder / name)
                    names.append(name)
        return names

    async def _loaded(self) -> list[Loaded]:
        found = []
        for response in self.answers[:20]:
            with contextlib.suppress(PlaywrightError):
                text = await response.text()
                if len(text) <= _MOST_JSON:
                    found.append(Loaded(response.url, text))
        return found


def _said(error: PlaywrightError) -> str:
    return str(error).strip().splitlines()[0][:300]
