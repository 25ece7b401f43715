"""The shared browser: one context per task, with all requests through the task's gate.

Only this module and `visit` use Playwright. They type and submit nothing and know no secret.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from playwright.async_api import Browser as Chromium
from playwright.async_api import BrowserContext, Page, Playwright, async_playwright
from playwright.async_api import Error as PlaywrightError

from ...errors import ConfigError
from ...files.process import find_program
from ..net.gate import Gate
from . import in_page
from .snapshot import Snapshot
from .visit import Visit

_NAMES = (
    "chromium-headless-shell", "chromium", "chromium-browser", "google-chrome",
    "google-chrome-stable", "chrome",
)  # fmt: skip
_FEATURES_OFF = (
    "AutofillServerCommunication", "MediaRouter", "DialMediaRouteProvider", "OptimizationHints",
    "NetworkTimeServiceQuerying", "AimEnabled", "PreconnectToSearch", "LensOverlay",
    "HttpsUpgrades", "HttpsFirstBalancedModeAutoEnable",
    "AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "PaintHolding",
    "ThirdPartyStoragePartitioning", "AvoidCorsURLLoaderRestartOnRedirect",
)  # fmt: skip
"""Disabled features of Chromium: Google services, and those that Playwright disables. Chromium uses
only the last `--disable-features`, so that Playwright's must be repeated."""
_FLAGS = (
    "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-default-apps", "--mute-audio",
    f"--disable-features={','.join(_FEATURES_OFF)}",
    # WebRTC opens sockets of its own unless told to go through the proxy. The switch has had two
    # names; Chromium ignores the one it does not know.
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    # A page's requests go through its task's gate. The browser's own, such as those for updates,
    # have no gate: they are sent to a proxy that does not exist. No name is looked up here, as the
    # gate does that; a lookup would tell the world's name servers what a page says.
    "--proxy-server=http://no-proxy.invalid:9",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)  # fmt: skip
_LEAVING = 2.0
"""Seconds that leaving a page may take."""


class NotRenderedError(Exception):
    """A page could not be rendered; the text says why, in one line."""


def executable(configured: str | None = None) -> str | None:
    """The Chromium to start: the configured one, the system's, or None for Playwright's own.

    Raises:
        ConfigError: The configured one does not exist.
    """
    if configured:
        found = find_program(configured)
        if found is None:
            raise ConfigError(f"there is no browser {configured!r}", where="BROWSER_EXECUTABLE")
        return found
    return next((path for name in _NAMES if (path := find_program(name))), None)


async def own_executable() -> Path | None:
    """Playwright's own Chromium, if it is installed."""
    async with async_playwright() as playwright:
        path = Path(playwright.chromium.executable_path)
    return path if path.is_file() else None


@dataclass
class Browser:
    """The shared browser. Started by `start` or the first visit, and again if it dies."""

    executable: str | None = None
    at_once: int = 4
    """Maximum number of open contexts; more wait."""
    _playwright: Playwright | None = None
    _chromium: Chromium | None = None
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    def __post_init__(self) -> None:
        self._slots = asyncio.Semaphore(self.at_once)

    async def start(self) -> None:
        """Start the browser before the first visit. A failure is reported by the visit."""
        with contextlib.suppress(ConfigError):
            await self._running()

    async def close(self) -> None:
        """End the browser."""
        if self._chromium:
            with contextlib.suppress(PlaywrightError):
                await self._chromium.close()
        if self._playwright:
            await self._playwright.stop()
        self._chromium = self._playwright = None

    async def _running(self) -> Chromium:
        async with self._lock:
            if self._chromium is None or not self._chromium.is_connected():
                self._playwright = self._playwright or await async_playwright().start()
                try:
                    self._chromium = await self._playwright.chromium.launch(
                        executable_path=executable(self.executable),
                        args=list(_FLAGS),
                        chromium_sandbox=os.geteuid() != 0,  # root cannot have Chromium's own
                    )
                except PlaywrightError as error:
                    said = str(error).strip().splitlines()[0]
                    hint = "install Debian's chromium, or name one in BROWSER_EXECUTABLE"
                    raise ConfigError(f"cannot start a browser: {said}", hint=hint) from None
            return self._chromium

    @asynccontextmanager
    async def tab(
        self, gate: Gate, folder: Path, room: int, seconds: float = 8.0
    ) -> AsyncIterator[Tab]:
        """A separate context for a task, whose requests all go through its gate; see `Tab`."""
        async with self._slots:
            chromium = await self._running()
            context = await chromium.new_context(
                proxy={"server": gate.url, "bypass": "<-loopback>"},
                service_workers="block",
                accept_downloads=False,  # they are reported, and saved by `saving` and `downloads`
                viewport={"width": 1280, "height": 900},
            )
            try:
                await context.add_init_script(in_page.BEFORE)
                yield Tab(context, folder, room, seconds)
            finally:
                with contextlib.suppress(PlaywrightError):
                    await context.close()


@dataclass
class Tab:
    """Visits pages in one context."""

    context: BrowserContext
    folder: Path
    room: int
    """Maximum number of bytes of a page's pictures and downloads."""
    seconds: float
    """Maximum seconds for a visit."""
    _blank: list[Page] = field(default_factory=list)
    """Pages for reuse, as opening one takes as long as a visit."""

    async def visit(self, url: str) -> Snapshot:
        """Render a page until it has settled.

        Raises:
            NotRenderedError: It could not be loaded.
        """
        end = time.monotonic() + self.seconds
        page = self._blank.pop() if self._blank else await self.context.new_page()
        visit = Visit(page, url, self.folder, self.room, end)
        try:
            return await visit.snapshot()
        except PlaywrightError as error:
            raise NotRenderedError(_said(error)) from None
        except TimeoutError:
            raise NotRenderedError(f"not rendered within {self.seconds:g} s") from None
        finally:
            visit.unlisten()
            await self._leave(page)

    async def _leave(self, page: Page) -> None:
        """Stop everything on a page, and keep it for the next visit."""
        try:
            await page.goto("about:blank", timeout=_LEAVING * 1000)
            self._blank.append(page)
        except PlaywrightError:
            with contextlib.suppress(PlaywrightError):
                await page.close()


def _said(error: PlaywrightError) -> str:
    return str(error).strip().splitlines()[0][:300]
