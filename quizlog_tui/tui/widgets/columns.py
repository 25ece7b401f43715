"""Lays out rows in columns that fit a width, with their titles above.

A click on a title asks to sort by its column.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from rich.cells import cell_len, set_cell_size
from textual import events
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from ...text import one_line
from .documents import Document, Line, line

Layout = Mapping[str, int]
"""The columns that are shown, in order, each with its width in cells."""
Cell = str | tuple[str, str]
"""A text, or a text with the name of its style."""
GAP = 2
"""Cells between two columns."""
_ENOUGH = 500
"""Maximum characters of a text measured; no column is wider."""


def layout(width: int, columns: Mapping[str, int], least: Mapping[str, int]) -> dict[str, int]:
    """Fit columns to a width: `columns` at their width, those of `least` sharing the rest.

    Args:
        width: Cells there are.
        columns: All columns in order, each with the width it would like to have.
        least: The columns that may shrink, and how far; where that is too little, they are left
            out, the last of them first. The first of them is never left out.
    """
    wanted, flexible = dict(columns), dict(least)
    while True:
        over = sum(wanted.values()) + GAP * (len(wanted) - 1) - width
        for name in reversed(flexible):
            cut = max(0, min(over, wanted[name] - flexible[name]))
            wanted[name] -= cut
            over -= cut
        last = next(reversed(flexible))
        if over <= 0 or len(flexible) == 1:
            wanted[last] = max(1, wanted[last] - max(0, over))
            return wanted
        del flexible[last], wanted[last]
        wanted |= {name: columns[name] for name in flexible}


def widest(texts: Iterable[str | None]) -> int:
    """The width in cells of the widest of some texts."""
    return max((_cells(text[:_ENOUGH]) for text in texts if text), default=0)


def _cells(text: str) -> int:
    if text.isascii() and text.isprintable():
        return len(text)
    return cell_len(one_line(text))


def fitted(text: str, width: int, *, end: bool = False) -> str:
    """A text as a cell of exactly `width`; a long text is cut, keeping its `end`."""
    if not width:
        return ""
    shown = one_line(text[-_ENOUGH:] if end else text[:_ENOUGH])
    if _cells(shown) <= width:
        return set_cell_size(shown, width)
    if not end:
        return set_cell_size(shown, width - 1) + "…"
    while _cells(shown) > width - 1:
        shown = shown[1:]
    return set_cell_size("…" + shown, width)


def cells_line(shown: Layout, cells: Mapping[str, Cell], *, ends: Sequence[str] = ()) -> Line:
    """A row of the columns shown; those named in `ends` keep their end when cut."""
    pieces = []
    for name, width in shown.items():
        cell = cells.get(name, "")
        text, style = cell if isinstance(cell, tuple) else (cell, "")
        pieces.append((fitted(text, width, end=name in ends) + " " * GAP, style))
    return line(*pieces, cut=True)


def column_at(shown: Layout, cell: int) -> str | None:
    """The column at a cell of a row."""
    for name, width in shown.items():
        if cell < width + GAP:
            return name if cell >= 0 else None
        cell -= width + GAP
    return None


class Grid(Document):
    """A document with one row per item, laid out again for each width.

    A search looks through `text`, which has the cells uncut.

    Args:
        length: Number of items.
        lay_out: The columns at a width.
        make: An item's row.
        text: An item's text.
        shown: The items that have a row, by their indexes in order; None for all.
        below: What stands below an item's row for lack of room in it, a line each.
    """

    def __init__(
        self,
        length: int,
        lay_out: Callable[[int], Layout],
        make: Callable[[int, Layout], Line],
        text: Callable[[int], str],
        shown: Sequence[int] | None = None,
        below: Callable[[int, Layout], Sequence[tuple[str, str]]] | None = None,
    ) -> None:
        self.shown = range(length) if shown is None else shown
        """The item of each row."""
        self.lay_out = lay_out
        self._make = make
        self._text = text
        self._below = below
        self._width = 80
        self._layout = lay_out(self._width)

    def __len__(self) -> int:
        return len(self.shown)

    def __getitem__(self, index: int) -> Line:
        row = self._make(self.shown[index], self._layout)
        below = self._lines_below(self.shown[index])
        if not below:
            return row
        lines = ((fitted(text, self._width), style) for text, style in below)
        pieces = (piece for each in lines for piece in (("\n", ""), each))
        return Line((*row.pieces, *pieces), unwrapped="all")

    def _lines_below(self, item: int) -> Sequence[tuple[str, str]]:
        return self._below(item, self._layout) if self._below else ()

    def text(self, index: int) -> str:
        """The text that a search reads."""
        return one_line(self._text(self.shown[index]))

    def row_of(self, item: int) -> int:
        """The row of an item, or of the nearest one before it, or the first."""
        return max(0, bisect_right(self.shown, item) - 1)

    def starts(self, width: int) -> Sequence[int]:
        """The first row of each item, and the number of rows."""
        self._layout, self._width = self.lay_out(width), width
        if self._below is None:
            return super().starts(width)
        heights = (1 + len(self._lines_below(item)) for item in self.shown)
        return list(accumulate(heights, initial=0))


class Heads(Widget):
    """One row of titles, laid out like the rows of the `RowList` below it."""

    DEFAULT_CSS = """
    Heads { height: 1; padding: 0 2; color: $text-muted; text-style: bold; }
    """

    @dataclass
    class Clicked(Message):
        """A title was clicked."""

        column: str

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._lay_out: Callable[[int], Layout] = lambda width: {}
        self._signs: dict[str, str] = {}

    def show(self, lay_out: Callable[[int], Layout], signs: dict[str, str] | None = None) -> None:
        """Draw the columns of a layout, with a sign after some titles."""
        self._lay_out, self._signs = lay_out, signs or {}
        self.refresh()

    def render(self) -> Content:
        """The row."""
        shown = self._lay_out(self.content_size.width)
        titles = {name: f"{name}{self._signs.get(name, '')}" for name in shown}
        return Content(cells_line(shown, titles).text)

    def on_click(self, event: events.Click) -> None:
        """Report which title was clicked."""
        column = column_at(self._lay_out(self.content_size.width), event.x - self.gutter.left)
        if column is not None:
            self.post_message(self.Clicked(column))
