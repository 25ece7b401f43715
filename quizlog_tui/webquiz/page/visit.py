"""Visits a page: loads it, waits until it settles, reveals hidden parts, reads it, saves its files.

The browser itself writes no downloads, as a page could fill the disk. Downloads with a URL are
fetched like other files (`page_fetch`); what a page draws, embeds or makes itself is read from the
page, with limits on number, size and time.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import contextlib
import math
import mimetypes
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes

from playwright.async_api import (
    Dialog,
    Download,
    ElementHandle,
    Frame,
    Page,
    Request,
    Response,
    Route,
)
from playwright.async_api import Error as PlaywrightError

from ..net.address import free_name
from . import in_page
from .rendered import STYLES, Rendered, not_loaded, rendered
from .snapshot import Link, PageFrame, Snapshot, frame_of, news

_CAP = 6.0
"""Maximum seconds to wait for a page after the arrival of its HTML."""
_ASKS, _SAYS, _BUSY, _MUTE = 0.4, 0.6, 1.5, 4.0
_MOST_JSON = 200_000
_LOOK = 0.05
"""Seconds between two checks of a page that settles."""
_PRESSING = 1.0
"""Seconds that must be left for another control."""
_MOST_ELEMENTS = 30_000
"""A page with more would take more time to be read than it has."""
_TOO_LARGE = "what CSS, labels and form controls say, as the page is too large"
_ALL_URLS = "**/*"
_SENT_ON = re.compile(r"\s*[0-5](?:\.\d*)?\s*[;,]\s*\S")
_MOST_SAID = 20
_MOST_OFFERED = 8
"""Maximum number of downloads of one page; the rest is ignored."""
_MOST_FILE = 32 * 1024 * 1024
_MOST_PICTURES = 6
_LEAST_PICTURE = 200
"""Minimum length of a `data:` URL of a picture; shorter ones are dots and lines."""


@dataclass(frozen=True)
class _Control:
    """A control that may reveal something."""

    element: ElementHandle
    label: str
    promises: bool
    """Whether its text says that it shows something."""

    def __str__(self) -> str:
        return f"“{self.label}”"


@dataclass
class Visit:
    """A visit of one page."""

    page: Page
    url: str
    folder: Path
    """The folder for downloads and pictures."""
    room: int
    """Maximum number of bytes of these."""
    deadline: float
    """Time on the monotonic clock at which the page is read in any state."""
    pending: set[Request] = field(default_factory=set)
    answers: list[Response] = field(default_factory=list)
    offered: dict[str, Link] = field(default_factory=dict)
    started: float = field(default_factory=time.monotonic)
    arrived: float = math.inf
    """When its HTML arrived."""
    said: list[str] = field(default_factory=list)
    """What dialogs of scripts said that no frame holds yet."""
    sends_on: bool = False
    """Whether the header of its document says that its reader is sent on."""
    held: bool = False
    """Whether the control that was pressed last tried to send something or to lead away."""
    reading: float = 0.0
    """Seconds that reading took."""
    failed: set[str] = field(default_factory=set)
    """URLs of frames that could not be loaded."""
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
            if await self._open():
                why = await self._settle()
            frames = await self._frames()
            frames += self._spoken()
            frames += await self._revealed(frames)
            saving = _Saving(self.page, self.folder, self.room, self.deadline)
            await saving.save(frames, tuple(self.offered.values()))
            fetched = ("http://", "https://")
            return Snapshot(
                url=self.url,
                frames=frames,
                status=response.status if response else 200,
                loaded=tuple(await self._loaded()),
                files=tuple(saving.names),
                offered=tuple(x for x in self.offered.values() if x.url.startswith(fetched)),
                settled=why,
                seconds=round(time.monotonic() - self.started, 3),
            )

    def _listen(self) -> None:
        def begun(request: Request) -> None:
            if request.resource_type not in ("media", "websocket", "eventsource", "ping"):
                self.pending.add(request)

        def answered(response: Response) -> None:
            if response.request.is_navigation_request():
                if response.frame == self.page.main_frame:
                    self.sends_on = bool(_SENT_ON.match(response.headers.get("refresh", "")))
                elif not response.ok:
                    self.failed.add(response.url)
            kind = response.headers.get("content-type", "")
            if response.request.resource_type in ("fetch", "xhr") and "json" in kind:
                self.answers.append(response)

        def offered(download: Download) -> None:
            if len(self.offered) < _MOST_OFFERED:
                self.offered[download.url] = Link(download.url, download.suggested_filename)

        def moved(frame: Frame) -> None:
            if frame == self.page.main_frame and self.arrived < math.inf:
                self.arrived = time.monotonic()

        self.listeners = {
            "request": begun,
            "requestfinished": lambda request: self.pending.discard(request),
            "requestfailed": lambda request: self.pending.discard(request),
            "response": answered,
            "download": offered,
            "framenavigated": moved,
            "dialog": lambda dialog: asyncio.ensure_future(self._dismiss(dialog)),
        }
        for event, handler in self.listeners.items():
            self.page.on(event, handler)  # type: ignore[call-overload]

    def unlisten(self) -> None:
        """Remove the listeners from the page."""
        for event, handler in self.listeners.items():
            self.page.remove_listener(event, handler)
        self.listeners = {}

    async def _dismiss(self, dialog: Dialog) -> None:
        if dialog.type != "beforeunload" and len(self.said) < _MOST_SAID:
            self.said.append(f"[{dialog.message[:_MOST_JSON]}]")
        with contextlib.suppress(PlaywrightError):
            await dialog.dismiss()

    def _spoken(self, after: str = "") -> tuple[PageFrame, ...]:
        """What dialogs said since the last call."""
        text, self.said = "\n".join(self.said), []
        return (PageFrame(self.url, self.url, text=text, after=after),) if text else ()

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

    async def _look(self, frame: Any) -> _FrameState | None:
        with contextlib.suppress(PlaywrightError):
            state = _FrameState(**await frame.evaluate(in_page.STATE))
            leaving = state.leaving or (self.sends_on and frame == self.page.main_frame)
            return replace(state, leaving=leaving, inert=state.inert and not leaving)
        return None

    async def _open(self) -> bool:
        """Open what is closed; whether that may have changed more."""
        opened = False
        for frame in self.page.frames:
            with contextlib.suppress(PlaywrightError):
                opened |= await frame.evaluate(in_page.OPEN)
        return opened

    async def _frames(self) -> tuple[PageFrame, ...]:
        """What the frames show now."""
        begun = time.monotonic()
        try:
            shown = await self._shown()
        except PlaywrightError:  # a document has just given way to another one
            await self._settle()
            shown = await self._shown()
        found = []
        for frame in self.page.frames:
            with contextlib.suppress(PlaywrightError):
                at = next((n for n, one in enumerate(shown) if one.url == frame.url), None)
                seen = Rendered(frame.url) if at is None else shown.pop(at)
                if frame.url in self.failed or frame.url.startswith("chrome-error:"):
                    seen = not_loaded(frame.url)
                found.append(frame_of(frame.url, await frame.evaluate(in_page.READ), seen))
        self.reading = time.monotonic() - begun
        return tuple(found)

    async def _shown(self) -> list[Rendered]:
        """The text of each document that is shown, in the order of the frames."""
        if await self.page.evaluate(in_page.COUNT) > _MOST_ELEMENTS:
            plain = [(one.url, await one.evaluate(in_page.PLAIN)) for one in self.page.frames]
            return [Rendered(*one, unread=(_TOO_LARGE,)) for one in plain]
        urls = [frame.url for frame in self.page.frames]
        shown = rendered(await self._capture(self.page), urls)
        for frame in self.page.frames[1:]:
            with contextlib.suppress(PlaywrightError):  # raised for all but frames of other sites
                shown += rendered(await self._capture(frame), urls)
        return shown

    async def _capture(self, of: Page | Frame) -> dict[str, Any]:
        session = await self.page.context.new_cdp_session(of)
        try:
            given = {"computedStyles": list(STYLES), "includeDOMRects": False}
            return await session.send("DOMSnapshot.captureSnapshot", given)
        finally:
            await session.detach()

    async def _revealed(self, frames: tuple[PageFrame, ...]) -> tuple[PageFrame, ...]:
        """What pressing each control shows that was not shown before."""
        found: list[PageFrame] = []
        controls = await self._controls()
        if any(not control.promises for control in controls):
            await self.page.route(_ALL_URLS, self._hold)
        for control in controls:
            if control.promises:
                await self.page.unroute(_ALL_URLS, self._hold)
            in_time = self._left() >= _PRESSING + 2 * self.reading
            if in_time:
                await self._press(control)
                fresh = (news([*frames, *found], one, str(control)) for one in await self._frames())
                found += [one for one in fresh if one]
                found += self._spoken(str(control))
            if self.held or not in_time:
                found.append(PageFrame(self.url, self.url, unread=(f"what {control} leads to",)))
        await self.page.unroute(_ALL_URLS, self._hold)
        return tuple(found)

    async def _controls(self) -> list[_Control]:
        found = []
        for frame in self.page.frames:
            with contextlib.suppress(PlaywrightError):
                listed = await (await frame.evaluate_handle(in_page.CONTROLS)).get_properties()
                values = list(listed.values())
                for handle, label, promises in zip(
                    values[::3], values[1::3], values[2::3], strict=True
                ):
                    if element := handle.as_element():
                        said = await label.json_value(), await promises.json_value()
                        found.append(_Control(element, *said))
        return sorted(found, key=lambda control: control.promises)

    async def _press(self, control: _Control) -> None:
        """Press a control, and wait for what it shows."""
        self.held = False
        with contextlib.suppress(PlaywrightError):
            await control.element.evaluate(in_page.PRESS)
        await asyncio.sleep(_LOOK)
        moments = [await self._look(frame) for frame in self.page.frames]
        if control.promises or self.pending or any(one and one.timers for one in moments):
            await self._settle()

    async def _hold(self, route: Route) -> None:
        """Let a control that promises nothing load more, but neither send nor lead away."""
        request = route.request
        leads_away = request.is_navigation_request() and request.frame == self.page.main_frame
        if leads_away or request.method not in ("GET", "HEAD"):
            self.held = True
            await route.abort("aborted")  # any other reason shows a page of errors
        else:
            await route.continue_()

    async def _loaded(self) -> list[str]:
        found = []
        for response in self.answers[:20]:
            with contextlib.suppress(PlaywrightError):
                text = (await response.body()).decode("utf-8", "replace")
                if len(text) <= _MOST_JSON:
                    found.append(text)
        return found


# -- when a page has settled, which neither `load` nor a quiet network shows


@dataclass(frozen=True)
class _FrameState:
    """The state of a frame at one point in time."""

    length: int
    """Number of visible characters."""
    quiet: float
    """Milliseconds since it last changed."""
    ready: bool
    """Whether its HTML is complete."""
    pictures: int
    """Pictures, canvases and players."""
    timers: int
    """Short timers that have yet to run."""
    asks: bool
    """Whether it speaks of submitting, answering, posting."""
    loading: bool
    """Whether it shows only that it is loading."""
    leaving: bool = False
    """Whether it will send its reader on by itself."""
    inert: bool = False
    """Whether it is completely loaded and has nothing that could change it."""


def settled(frames: Sequence[_FrameState], pending: int, age: float) -> str | None:
    """Why the wait is over; None if it is not. Age counts from the HTML, which may come late."""
    if age >= _CAP:
        return "the cap was reached"
    if frames and not pending and all(frame.inert for frame in frames):
        return "nothing in it can change it"
    if not frames or not all(frame.ready and not frame.leaving for frame in frames):
        return None
    quiet = min(frame.quiet for frame in frames) / 1000
    says = any((frame.length or frame.pictures) and not frame.loading for frame in frames)
    busy = pending or any(frame.timers for frame in frames)
    asks = says and any(frame.asks for frame in frames)
    if asks and quiet >= (_BUSY if busy else _ASKS):
        return "asks, and is quiet"
    if says and quiet >= (_MUTE if busy else _SAYS):
        return "says something, and is quiet"
    return None


# -- the files of a page


@dataclass
class _Saving:
    """Saves the files of one page."""

    page: Page
    folder: Path
    room: int
    """Maximum number of bytes of all files together."""
    deadline: float
    """Time on the monotonic clock at which saving stops."""
    names: list[str] = field(default_factory=list)
    """The files, in the order they were saved."""

    async def save(self, frames: Sequence[PageFrame], offered: Sequence[Link]) -> None:
        """Save what the frames draw and embed and what was offered, within room and time."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(max(0.0, self.deadline - time.monotonic())):
                for link in offered:
                    await self._offered(link)
                self._held(frames)
                await self._drawn()

    async def _offered(self, link: Link) -> None:
        """Save a download whose URL only the page itself can read."""
        if link.url.startswith("blob:"):
            self._keep(link.text, await self._blob(link.url))
        elif link.url.startswith("data:"):
            self._keep(link.text, data_of(link.url)[1])

    async def _blob(self, url: str) -> bytes:
        for frame in self.page.frames:
            with contextlib.suppress(PlaywrightError, binascii.Error, TypeError):
                given = [url, min(self.room, _MOST_FILE)]
                if text := await frame.evaluate(in_page.BLOB, given):
                    return base64.b64decode(text)
        return b""

    def _held(self, frames: Sequence[PageFrame]) -> None:
        """Save the largest pictures that the page embeds as `data:` URLs."""
        media = dict.fromkeys(url for frame in frames for url in frame.media)
        held = [url for url in media if url.startswith("data:") and len(url) >= _LEAST_PICTURE]
        for url in sorted(held, key=len, reverse=True)[:_MOST_PICTURES]:
            kind, data = data_of(url)
            self._keep(f"picture{mimetypes.guess_extension(kind) or ''}", data)

    async def _drawn(self) -> None:
        """Save canvases and drawings as pictures, as their content is nowhere else."""
        count = 0
        for frame in self.page.frames:
            with contextlib.suppress(PlaywrightError):
                found = await (await frame.evaluate_handle(in_page.DRAWN)).get_properties()
                for one in list(found.values())[: _MOST_PICTURES - count]:
                    count += 1
                    if element := one.as_element():
                        name = await element.evaluate("e => e.tagName.toLowerCase()")
                        self._keep(f"{name}.png", await element.screenshot(timeout=2000))

    def _keep(self, suggested: str, data: bytes) -> None:
        if 0 < len(data) <= min(self.room, _MOST_FILE):
            name = free_name(self.folder, suggested)
            (self.folder / name).write_bytes(data)
            self.room -= len(data)
            self.names.append(name)


def data_of(url: str) -> tuple[str, bytes]:
    """Type and content of a `data:` URL; no content if it is not valid."""
    head, _, body = url.partition(",")
    kind, *rest = head.removeprefix("data:").split(";")
    raw = unquote_to_bytes(body)
    try:
        return kind.lower(), base64.b64decode(raw) if "base64" in rest else raw
    except binascii.Error:
        return kind.lower(), b""
