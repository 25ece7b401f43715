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

from ..net.address import free_name
from . import in_page
from .snapshot import Link, PageFrame

MOST_OFFERED = 8
"""Maximum number of downloads of one page; the rest is ignored."""
_MOST_FILE = 32 * 1024 * 1024
_MOST_PICTURES = 6
_LEAST_PICTURE = 200
"""Minimum length of a `data:` URL of a picture; shorter ones are dots and lines."""


@dataclass
class Saving:
    """Saves the files of one page.

    Args:
        page: The page.
        folder: The folder for the files.
        room: Maximum number of bytes of all files together.
        deadline: Time on the monotonic clock at which saving stops.
    """

    page: Page
    folder: Path
    room: int
    deadline: float
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
