"""Saves what a page draws, embeds or offers as files, with limits on number, size and time.

The browser itself writes no downloads, as a page could fill the disk. Downloads with a URL are
fetched like other files (`downloads`); the rest is read from the page.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import contextlib
import mimetypes
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote_to_bytes

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page

from ..net.file_names import free_name
from . import in_page
from .snapshot import Frame, Link

MOST_OFFERED = 8
"""Downloads of one page; what it offers beyond them is not looked at."""
_MOST_FILE = 32 * 1024 * 1024
_MOST_PICTURES = 6
_LEAST_PICTURE = 200
"""Characters of a picture in an address; shorter ones are dots and lines."""


@dataclass
class Saving:
    """Saves what is on one page.

    Args:
        page: The page.
        folder: Takes the files.
        room: Bytes that they may hold together.
        deadline: When no more are taken, on the monotonic clock.
    """

    page: Page
    folder: Path
    room: int
    deadline: float
    names: list[str] = field(default_factory=list)
    """The files, in the order they were saved."""

    async def save(self, frames: Sequence[Frame], offered: Sequence[Link]) -> None:
        """Save what frames draw and hold, and what was offered; as far as room and time go."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(max(0.0, self.deadline - time.monotonic())):
                for link in offered:
                    await self._offered(link)
                self._held(frames)
                await self._drawn()

    async def _offered(self, link: Link) -> None:
        """A download that has no address others could fetch."""
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

    def _held(self, frames: Sequence[Frame]) -> None:
        """The biggest of the pictures that are in the page's own text."""
        media = dict.fromkeys(url for frame in frames for url in frame.media)
        held = [url for url in media if url.startswith("data:") and len(url) >= _LEAST_PICTURE]
        for url in sorted(held, key=len, reverse=True)[:_MOST_PICTURES]:
            kind, data = data_of(url)
            self._keep(f"picture{mimetypes.guess_extension(kind) or ''}", data)

    async def _drawn(self) -> None:
        """Canvases and drawings as pictures: what is drawn is nowhere else."""
        count = 0
        for frame in self.page.frames:
            with contextlib.suppress(PlaywrightError):
                found = await (await frame.evaluate_handle(in_page.DRAWN)).get_properties()
                for one in list(found.values())[: _MOST_PICTURES - count]:
                    count += 1
                    if element := one.as_element():
                        name = await element.evaluate("e => e.tagName.toLowerCase()")
                        self._keep(f"{name}.png", await element.screenshot(timeout=2000))

    def _keep(self, wish: str, data: bytes) -> None:
        if 0 < len(data) <= min(self.room, _MOST_FILE):
            name = free_name(self.folder, wish)
            (self.folder / name).write_bytes(data)
            self.room -= len(data)
            self.names.append(name)


def data_of(url: str) -> tuple[str, bytes]:
    """Type and content of a `data:` URL; no content if it is none."""
    head, _, body = url.partition(",")
    kind, *rest = head.removeprefix("data:").split(";")
    raw = unquote_to_bytes(body)
    try:
        return kind.lower(), base64.b64decode(raw) if "base64" in rest else raw
    except binascii.Error:
        return kind.lower(), b""
