"""The content of a rendered page as plain data, read once and independent of the browser."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


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


@dataclass(frozen=True)
class PageFrame:
    """One document: the page itself, or a frame in it."""

    url: str
    base: str
    """The base of relative URLs."""
    title: str = ""
    text: str = ""
    """The visible text."""
    shadows: tuple[str, ...] = ()
    """Texts inside shadow roots, closed ones included."""
    drawn: tuple[str, ...] = ()
    """Texts drawn on canvases, line by line."""
    links: tuple[Link, ...] = ()
    media: tuple[str, ...] = ()
    """URLs of pictures, sound, captions."""
    forms: tuple[PageForm, ...] = ()
    samples: tuple[str, ...] = ()
    """Preformatted texts."""
    scripts: tuple[str, ...] = ()
    """Sources of inline scripts."""
    canvases: int = 0


@dataclass(frozen=True)
class LoadedJson:
    """JSON that the page's scripts fetched."""

    url: str
    text: str


@dataclass(frozen=True)
class Snapshot:
    """The content of a settled page."""

    url: str
    """The URL exactly as received."""
    frames: tuple[PageFrame, ...]
    """The page itself first."""
    status: int = 200
    loaded: tuple[LoadedJson, ...] = ()
    files: tuple[str, ...] = ()
    """Names of files saved in the task's folder: screenshots and downloads."""
    offered: tuple[Link, ...] = ()
    """Downloads that have yet to be fetched, with the names they should have."""
    settled: str = ""
    """Why the wait ended."""
    seconds: float = 0.0


def frame_of(url: str, data: Mapping[str, Any]) -> PageFrame:
    """A frame from what the script `READ` returned."""
    links = {one["url"]: Link(one["url"], one["text"], one["rel"]) for one in data["links"]}
    forms = (PageForm(one["action"], one["method"], tuple(one["names"])) for one in data["forms"])
    return PageFrame(
        url=url,
        base=data["base"],
        title=data["title"],
        text=data["text"],
        shadows=tuple(data["shadows"]),
        drawn=tuple(data["drawn"]),
        links=tuple(links.values()),
        media=tuple(dict.fromkeys(data["media"])),
        forms=tuple(forms),
        samples=tuple(data["samples"]),
        scripts=tuple(data["scripts"]),
        canvases=data["canvases"],
    )
