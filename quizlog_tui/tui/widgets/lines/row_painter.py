"""Draws rows of text in the styles of a pane, and caches them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from ...draw.terminal_style import readable_style
from .strips import cut_to, restyled
from .wrapping import Row

STYLES = ("prompt", "answer", "error", "good", "warn", "dim", "head", "code", "removed", "added")
"""The names of styles."""
SGR = "sgr "
"""Begins the name of a style that a script chose; the parameters of SGR follow."""


CURSOR = "›"
"""Stands in the gutter before the selected item."""


class Mark(NamedTuple):
    """Characters of a row that are drawn in another style."""

    start: int
    end: int
    style: str


Seen = list[tuple[Row, str, list[Mark]]]
"""The visible rows, each with the sign of its item and the marks in it."""


class RowPainter:
    """Draws rows, and caches those without marks.

    Args:
        pane: Has the styles, as `line--` and their name.
        gutter: Cells at the left for the cursor's sign.
    """

    def __init__(self, pane: Widget, gutter: int) -> None:
        self._pane = pane
        self._gutter = gutter
        self._styles: dict[str, Style] = {}
        self.left = 0
        """How many cells rows are scrolled sideways."""
        self.strips: dict[int, Strip] = {}
        """The drawn rows."""

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
            return readable_style(name.removeprefix(SGR), pane.rich_style, pane.app.ansi_theme)
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
            strip = restyled(strip, mark.start, mark.end, self.style(mark.style))
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
        """The row with its selection."""
        selection = self._pane.text_selection
        span = selection.get_span(row) if selection else None
        if span is None:
            return strip
        style = self._pane.screen.get_component_rich_style("screen--selection")
        return restyled(strip, span[0], length if span[1] == -1 else span[1], style)

    def note(self, text: str, width: int) -> Strip:
        """A dim row that is not part of the document."""
        said = Strip([Segment(" " * self._gutter + text, self.style("dim"))])
        return cut_to(said, width).adjust_cell_length(width, self.style(""))

    def blank(self, width: int) -> Strip:
        """An empty row."""
        return Strip.blank(width, self.style(""))
