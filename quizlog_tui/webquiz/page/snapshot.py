"""The content of a rendered page as plain data, read once and independent of the browser."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from .rendered import Rendered


@dataclass(frozen=True)
class Link:
    """A visible link."""

    url: str
    """As the browser resolved it."""
    text: str = ""
    rel: str = ""


@dataclass(frozen=True)
class PageForm:
    """A form of the page."""

    action: str
    method: str
    names: tuple[str, ...]
    said: str = ""
    """Its text, with the names and labels of its fields and buttons."""
    before: str = ""
    """The text right before it."""
    password: bool = False
    """Whether it asks for a password."""


@dataclass(frozen=True)
class PageFrame:
    """One document: the page itself, or a frame in it."""

    url: str
    base: str
    """The base of relative URLs."""
    title: str = ""
    text: str = ""
    """The text that it shows."""
    after: str = ""
    """The control that had been pressed when it showed this; "" if none had to be."""
    drawn: tuple[str, ...] = ()
    """Texts drawn on canvases, line by line."""
    links: tuple[Link, ...] = ()
    media: tuple[str, ...] = ()
    """URLs of pictures, sound, captions."""
    forms: tuple[PageForm, ...] = ()
    samples: tuple[str, ...] = ()
    """Preformatted texts."""
    words: tuple[str, ...] = ()
    """Single words that are set as code."""
    written: str | None = None
    """What a reader can see of it, before CSS changed the case of letters; None if not read."""
    unread: tuple[str, ...] = ()
    """What shows something that was not read, such as pictures."""
    targets: tuple[Link, ...] = ()
    """URLs to which attributes of its elements say that something is sent, with their texts."""
    scripts: tuple[str, ...] = ()
    """Sources of inline scripts."""
    encoding: str = ""
    """The encoding of its HTML."""

    @property
    def seen(self) -> str:
        """The text in which addresses are looked for."""
        return self.text if self.written is None else self.written


@dataclass(frozen=True)
class Snapshot:
    """The content of a settled page."""

    url: str
    """The URL exactly as received."""
    frames: tuple[PageFrame, ...]
    """The page itself first."""
    status: int = 200
    loaded: tuple[str, ...] = ()
    """Texts of JSON that the page's scripts fetched."""
    files: tuple[str, ...] = ()
    """Names of files saved in the task's folder: screenshots and downloads."""
    offered: tuple[Link, ...] = ()
    """Downloads that have yet to be fetched, with the names they should have."""
    settled: str = ""
    """Why the wait ended."""
    seconds: float = 0.0


def frame_of(url: str, data: Mapping[str, Any], seen: Rendered) -> PageFrame:
    """A frame from what the script `READ` returned, and from what it shows."""
    links = {one["url"]: Link(one["url"], one["text"], one["rel"]) for one in data["links"]}
    forms = (PageForm(**one | {"names": tuple(one["names"])}) for one in data["forms"])
    targets = (Link(one["url"], one["text"]) for one in data["targets"])
    text = seen.text if data["blank"] else seen.text.replace("[canvas, not read]", "[canvas]")
    return PageFrame(
        url=url,
        base=data["base"],
        title=data["title"],
        text=text,
        drawn=tuple(data["drawn"]),
        links=tuple(links.values()),
        media=tuple(dict.fromkeys(data["media"])),
        forms=tuple(forms),
        samples=seen.samples,
        words=seen.words,
        written=seen.written,
        unread=tuple(one for one in seen.unread if one != "canvas" or data["blank"]),
        targets=tuple(dict.fromkeys(targets)),
        scripts=tuple(data["scripts"]),
        encoding=data["encoding"],
    )


def news(before: Iterable[PageFrame], now: PageFrame, after: str) -> PageFrame | None:
    """What a frame shows that was not shown before the control `after` was pressed, if anything."""
    seen = list(before)
    lines = {line for one in seen for line in one.text.split("\n")}
    fresh = [line for line in now.text.split("\n") if line not in lines]
    lists = ("drawn", "links", "media", "forms", "targets", "unread")
    more: dict[str, Any] = {
        name: tuple(x for x in getattr(now, name) if not any(x in getattr(y, name) for y in seen))
        for name in lists
    }
    found = replace(now, text="\n".join(fresh), after=after, **more)
    return found if fresh or any(more.values()) else None
