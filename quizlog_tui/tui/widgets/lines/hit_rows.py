"""In which rows an item's hits stand, which may begin in one row and end in the next."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .wrapping import Rows


class HitRows(NamedTuple):
    """The rows and hits of an item that is shown."""

    rows: Rows = Rows((), None)
    """The rows of the text that is shown."""
    starts: Sequence[int] = ()
    """Where each hit begins in it."""
    places: Sequence[int] = ()
    """Where each hit begins in all of the item, of which a filter may leave less."""

    def row_of(self, at: int) -> int:
        """The row of the hit at a place of the item; the first for what is not drawn."""
        nth = bisect_left(self.places, at)
        return self.rows.row_of(self.starts[nth]) if nth < len(self.starts) else 0

    def place_from(self, row: int) -> int | None:
        """The place of the first hit that begins in a row or after it; None if none does."""
        nth = bisect_left(self.starts, self.rows.begin(row)) if self.starts else 0
        return self.places[nth] if nth < len(self.places) else None

    def within(self, row: int, size: int, length: int) -> Iterator[tuple[int, int, int]]:
        """The parts of hits in a row: where they begin and end in it, and the hit's place.

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
