"""Cuts and restyles painted rows of cells."""

from __future__ import annotations

from itertools import pairwise

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip


def cut_to(strip: Strip, width: int) -> Strip:
    """Cut the strip to a width; it ends with a sign unless only spaces are cut."""
    if strip.cell_length <= width or cell_len(strip.text.rstrip()) <= width:
        return strip
    kept = [*strip.crop(0, width - 1)]
    return Strip([*kept, Segment("…", kept[-1].style if kept else None)])


def restyled(strip: Strip, start: int, end: int, style: Style) -> Strip:
    """Apply a style to the characters of the strip from `start` to `end`."""
    segments: list[Segment] = []
    at = 0
    for segment in strip:
        text, under, _ = segment
        cuts = sorted({0, len(text), *(c - at for c in (start, end) if 0 < c - at < len(text))})
        for a, b in pairwise(cuts):
            inside = start <= at + a < end
            over = (under or Style.null()) + style if inside else under
            segments.append(Segment(text[a:b], over))
        at += len(text)
    return Strip(segments)
