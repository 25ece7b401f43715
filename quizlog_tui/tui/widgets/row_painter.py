"""Draws rows of text in the styles of a pane, and caches them.

A style that a script chose for its text is changed where it could not be read in the theme.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from rich.cells import cell_len
from rich.color import Color as RichColor
from rich.segment import Segment
from rich.style import Style
from rich.terminal_theme import TerminalTheme
from textual.color import Color
from textual.strip import Strip
from textual.widget import Widget

from ...terminal_text import rich_style
from .documents import SGR, Row

STYLES = ("prompt", "answer", "error", "good", "warn", "dim", "head", "code", "removed", "added")
CURSOR = "›"
"""Stands in the gutter before the selected item."""
_READABLE = 0.15
"""The least difference in brightness, from 0 to 1, between a text and its ground."""


class Mark(NamedTuple):
    """Characters of a row that are drawn in another style."""

    start: int
    end: int
    style: str


class RowPainter:
    """Draws rows in the `line--` styles of a pane, and caches those without marks."""

    def __init__(self, pane: Widget, gutter: int) -> None:
        self._pane = pane
        self._gutter = gutter
        self._styles: dict[str, Style] = {}
        self.left = 0
        """How many cells rows are scrolled sideways."""
        self.strips: dict[int, Strip] = {}

    def forget_styles(self) -> None:
        """Drop the colours of the previous theme."""
        self._styles.clear()
        self.strips.clear()

    def shift(self, cells: int, rows: Sequence[Row]) -> None:
        """Draw rows from another cell on, as far as some of them reach."""
        widest = max((cell_len("".join(text for text, _ in row)) for row in rows), default=0)
        room = self._pane.scrollable_content_region.width - self._gutter
        most = max(0, widest - room)
        self._turn_to(max(0, min(self.left + cells, most)))

    def return_to_left(self) -> None:
        """Draw rows from their first cell on."""
        self._turn_to(0)

    def _turn_to(self, left: int) -> None:
        if left != self.left:
            self.left = left
            self.strips.clear()
            self._pane.refresh()

    def keep(self, rows: int) -> None:
        """Keep only the first rows."""
        self.strips = {at: strip for at, strip in self.strips.items() if at < rows}

    def style(self, name: str) -> Style:
        """A style by its name; the pane's own for an empty name."""
        style = self._styles.get(name)
        if style is None:
            style = self._styles[name] = self._made(name)
        return style

    def _made(self, name: str) -> Style:
        pane = self._pane
        if name.startswith(SGR):
            return _readable_style(name.removeprefix(SGR), pane.rich_style, pane.app.ansi_theme)
        return pane.get_component_rich_style(f"line--{name}") if name else pane.rich_style

    def draw(
        self, row: int, pieces: Row, marks: Sequence[Mark], width: int, sign: str, kept: int | None
    ) -> Strip:
        """A row.

        Args:
            row: Which of the document's rows it is.
            pieces: What stands in it.
            marks: Parts of it that are drawn in another style.
            width: Cells it fills.
            sign: What stands in the gutter; that of the cursor marks the whole row.
            kept: How many cells at its left are not scrolled sideways; None for all.
        """
        ground = self.style("cursor") if sign == CURSOR else Style.null()
        strip = Strip([Segment(text, self.style(name) + ground) for text, name in pieces])
        for mark in marks:
            strip = _restyled(strip, mark.start, mark.end, self.style(mark.style))
        strip = self._selected(strip, sum(len(text) for text, _ in pieces), row)
        style = self.style("") + ground
        left = self.left if kept is not None and strip.cell_length else 0
        still = kept if kept and kept <= width // 2 else 0
        if left:
            rest = strip.crop(still + left + 1)
            strip = Strip([*strip.crop(0, still), Segment("…", style), *rest])
        if self._gutter:
            strip = Strip([Segment(sign, style), *strip])
        whole = cut_to(strip, width).adjust_cell_length(width, style)
        first = whole.crop(0, self._gutter + still).apply_offsets(-self._gutter, row)
        rest = whole.crop(self._gutter + still).apply_offsets(still + left, row)
        return Strip([*first, *rest])

    def _selected(self, strip: Strip, length: int, row: int) -> Strip:
        selection = self._pane.text_selection
        span = selection.get_span(row) if selection else None
        if span is None:
            return strip
        style = self._pane.screen.get_component_rich_style("screen--selection")
        return _restyled(strip, span[0], length if span[1] == -1 else span[1], style)

    def note(self, text: str, width: int) -> Strip:
        """A dim row that is not part of the document."""
        said = Strip([Segment(" " * self._gutter + text, self.style("dim"))])
        return cut_to(said, width).adjust_cell_length(width, self.style(""))

    def blank(self, width: int) -> Strip:
        """An empty row."""
        return Strip.blank(width, self.style(""))


def cut_to(strip: Strip, width: int) -> Strip:
    """Cut the strip to a width; it ends with a sign unless only spaces are cut."""
    if strip.cell_length <= width or cell_len(strip.text.rstrip()) <= width:
        return strip
    kept = [*strip.crop(0, width - 1)]
    return Strip([*kept, Segment("…", kept[-1].style if kept else None)])


def _restyled(strip: Strip, start: int, end: int, style: Style) -> Strip:
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


def _readable_style(name: str, pane: Style, theme: TerminalTheme) -> Style:
    """The style for parameters of SGR, over a pane's; unreadable text gets another colour."""
    own = rich_style(name)
    found = pane + own
    if own.reverse or found.color is None or found.bgcolor is None:
        return found
    ink, ground = (_color(each, theme) for each in (found.color, found.bgcolor))
    if abs(ink.brightness - ground.brightness) >= _READABLE:
        return found
    return found + Style(color=ground.get_contrast_text(1).rich_color)


def _color(color: RichColor, theme: TerminalTheme) -> Color:
    return Color(*color.get_truecolor(theme))
