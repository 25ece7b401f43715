"""Wraps styled text into rows of cells, created on demand. Uses no widgets.

Lines break at spaces if possible. Lines of more than `LONG` characters break after a fixed number
of characters, so that their rows are known without a search.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Literal, overload

from rich.cells import cell_len, chop_cells

from .table_rows import first_column, is_table_row

Pieces = Sequence[tuple[str, str]]
"""Pieces of text, each with the name of its style."""
Row = list[tuple[str, str]]
"""The pieces in one row of the screen."""
Unwrapped = Literal["", "tables", "all"]
"""Which lines are cut at the right edge: none, rows of tables, or all but those of over `LONG`."""
LONG = 10_000
"""Lines with more characters are not broken at spaces."""
_TABLE = 200
"""Rows of a table, before and after one, that its first column is measured by."""
_NOT_NARROW = re.compile("[^ -~\u00a0-\u02ff\u0370-\u0482\u2500-\u25ff]")
"""Characters that may not be exactly one cell wide."""


class Rows(Sequence[Row]):
    """The rows of a safe text, each of at most `width` cells plus a space at the edge.

    Args:
        pieces: The text; may hold newlines.
        width: Cells of a row; None for rows as long as the lines are.
        unwrapped: Which lines stay one row, however long: see `Unwrapped`.
    """

    def __init__(self, pieces: Pieces, width: int | None, *, unwrapped: Unwrapped = "") -> None:
        self._pieces = pieces
        self._ends = list(accumulate((len(text) for text, _ in pieces), initial=0))
        self._width = width
        self._unwrapped = unwrapped
        self._lines = _lines(pieces)
        self._offsets = list(accumulate((len(one) + 1 for one in self._lines), initial=0))
        self._firsts = _first_rows(self._lines, width, unwrapped)
        self._begun: tuple[int, Sequence[int]] = (-1, ())
        self._table, self._first_column = range(0), 0

    def __len__(self) -> int:
        return self._firsts[-1]

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> list[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | list[Row]:
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        return self._cut(*self._span(index % len(self)))

    def begin(self, index: int) -> int:
        """Number of characters before a row, including newlines."""
        return self._span(index)[0]

    def row_of(self, at: int) -> int:
        """The row of a character."""
        nth = bisect_right(self._offsets, at, hi=len(self._lines)) - 1
        begins = self._begins(nth)
        return self._firsts[nth] + bisect_right(begins, at - self._offsets[nth]) - 1

    def kept(self, index: int) -> int | None:
        """The cells of a row that stay when one scrolls sideways; None if all of it stays."""
        nth = bisect_right(self._firsts, index) - 1
        if self._width is None:
            return 0
        if not _stays_whole(self._lines[nth], self._unwrapped):
            return None
        if nth not in self._table:
            self._table = self._table_around(nth)
            self._first_column = first_column([self._lines[at] for at in self._table])
        return self._first_column

    def _table_around(self, nth: int) -> range:
        """The rows of the table that a line belongs to; the line alone if it is in none."""
        start, end = nth, nth + 1
        while start > max(0, nth - _TABLE) and is_table_row(self._lines[start - 1]):
            start -= 1
        while end < min(len(self._lines), nth + _TABLE) and is_table_row(self._lines[end]):
            end += 1
        return range(start, end) if is_table_row(self._lines[nth]) else range(nth, nth + 1)

    def _span(self, index: int) -> tuple[int, int]:
        """The start and end of a row in the text."""
        nth = bisect_right(self._firsts, index) - 1
        begins, inside = self._begins(nth), index - self._firsts[nth]
        last = inside + 1 == len(begins)
        end = len(self._lines[nth]) if last else begins[inside + 1]
        return self._offsets[nth] + begins[inside], self._offsets[nth] + end

    def _begins(self, nth: int) -> Sequence[int]:
        """The offsets of a line's rows; cached for the last line used."""
        if self._begun[0] != nth:
            self._begun = nth, _row_begins(self._lines[nth], self._width, self._unwrapped)
        return self._begun[1]

    def _cut(self, start: int, end: int) -> Row:
        """The pieces between two offsets of the text."""
        found: Row = []
        for nth in range(max(0, bisect_right(self._ends, start) - 1), len(self._pieces)):
            begin = self._ends[nth]
            if begin >= end:
                break
            text, style = self._pieces[nth]
            part = text[max(0, start - begin) : end - begin]
            if part:
                found.append((part, style))
        return found


def _lines(pieces: Pieces) -> list[str]:
    """The lines of a text; only lines that span pieces are joined, to avoid copies."""
    found: list[str] = []
    for text, _ in pieces:
        first, *others = text.split("\n")
        found[-1:] = [found[-1] + first if found else first]
        found += others
    return found


def height(text: str, width: int, *, unwrapped: Unwrapped = "") -> int:
    """Number of rows of a safe text; in ASCII each character takes one cell, escaped or not."""
    return _first_rows(text.split("\n"), width, unwrapped)[-1]


def _first_rows(lines: Sequence[str], width: int | None, unwrapped: Unwrapped) -> Sequence[int]:
    """The first row of each line, then the number of rows."""
    if width is None or all(len(one) <= width and one.isascii() for one in lines):
        return range(len(lines) + 1)
    return list(accumulate((_row_count(one, width, unwrapped) for one in lines), initial=0))


def _row_count(text: str, width: int, unwrapped: Unwrapped) -> int:
    if len(text) <= width and text.isascii():
        return 1
    return len(_row_begins(text, width, unwrapped))


def _row_begins(text: str, width: int | None, unwrapped: Unwrapped) -> Sequence[int]:
    """The offsets of a line's rows."""
    if width is None or _stays_whole(text, unwrapped):
        return (0,)
    narrow = text.isascii() or not _NOT_NARROW.search(text)
    if len(text) > LONG:
        return range(0, len(text), width if narrow else max(1, width // 2))
    return [0, *_breaks(text, width, narrow=narrow)]


def _stays_whole(text: str, unwrapped: Unwrapped) -> bool:
    if not unwrapped or len(text) > LONG:  # a longer one costs too much to draw at once
        return False
    return unwrapped == "all" or is_table_row(text)


def _breaks(text: str, width: int, *, narrow: bool) -> Iterator[int]:
    """The offsets at which a text wraps."""
    at = 0
    while True:
        if narrow:
            if len(text) - at <= width:
                return
            size = width
        else:
            rest = text[at : at + width + 1]
            if cell_len(rest) <= width:
                return
            size = len(chop_cells(rest, width)[0])
        space = text.rfind(" ", at, at + size) + 1
        if text[at + size] == " ":
            size += 1  # a space at the edge is not seen, and must not begin the next row
        elif space - at > size // 2:
            size = space - at
        at += size
        if at == len(text):
            return
        yield at
