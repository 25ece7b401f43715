"""Rows of cells as they are painted, and styles laid over parts of them."""

from __future__ import annotations

from itertools import pairwise

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip


def cut_to(strip: Strip, width: int) -> Strip:
    """The strip cut to a width, ending in a sign if more than spaces is cut away."""
    if strip.cell_length <= width or cell_len(strip.text.rstrip()) <= width:
        return strip
    kept = [*strip.crop(0, width - 1)]
    return Strip([*kept, Segment("…", kept[-1].style if kept else None)])


def restyled(strip: Strip, start: int, end: int, style: Style) -> Strip:
    """The strip with a style laid over the characters from `start` to `end`."""
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
