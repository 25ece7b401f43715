"""Finds the rows of an item's hits, which may span rows."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .wrapping import Rows


class HitRows(NamedTuple):
    """The rows and hits of a visible item."""

    rows: Rows = Rows((), None)
    """The rows of the visible text."""
    starts: Sequence[int] = ()
    """Offset of each hit in it."""
    places: Sequence[int] = ()
    """Offset of each hit in the unfiltered item."""

    def row_of(self, at: int) -> int:
        """The row of the hit at a position of the item; the first row if it is not drawn."""
        nth = bisect_left(self.places, at)
        return self.rows.row_of(self.starts[nth]) if nth < len(self.starts) else 0

    def place_from(self, row: int) -> int | None:
        """The position of the first hit in a row or after it; None if there is none."""
        nth = bisect_left(self.starts, self.rows.begin(row)) if self.starts else 0
        return self.places[nth] if nth < len(self.places) else None

    def within(self, row: int, size: int, length: int) -> Iterator[tuple[int, int, int]]:
        """The parts of hits in a row: start, end and the hit's position.

        Args:
            row: Which of the item's rows.
            size: Its characters.
            length: The characters of a hit.
        """
        begin = self.rows.begin(row)
        first = bisect_right(self.starts, begin - length)
        for nth in range(first, bisect_left(self.starts, begin + size)):
            start = self.starts[nth] - begin
            yield max(0, start), min(size, start + length), self.places[nth]
