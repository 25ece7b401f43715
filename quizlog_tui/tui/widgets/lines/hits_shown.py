"""Maps the hits of a search to the rows of a pane. Uses no widgets."""

from __future__ import annotations

from collections.abc import Iterator

from .finding import Place
from .hit_rows import HitRows
from .line_search import LineSearch
from .row_index import RowIndex


class HitsShown:
    """The rows of hits, and the hits in rows.

    Args:
        search: What is searched for.
        index: In which rows what is left of the document stands.
    """

    def __init__(self, search: LineSearch, index: RowIndex) -> None:
        self._search = search
        self._index = index
        self._hits: dict[int, HitRows] = {}

    def forget(self) -> None:
        """Drop cached rows of hits, because the rows have changed."""
        self._hits.clear()

    def row_of(self, place: Place) -> int | None:
        """The row of a hit; None if it is not shown."""
        index = self._search.shown_index(place.item)
        if not self._index.width or index >= len(self._index.document):
            return None
        if self._search.whole_index(index) != place.item:
            return None
        return self._index.starts[index] + self._hits_in(index).row_of(place.at)

    def place_at(self, row: int) -> Place:
        """The position of a row, or of the first hit from there on."""
        index = self._index.item_at(row)
        if index is None:
            return Place(len(self._search.whole), 0)
        item, within_item = self._search.whole_index(index), row - self._index.starts[index]
        at = self._hits_in(index).place_from(within_item) if within_item else 0
        return Place(item + 1, 0) if at is None else Place(item, at)

    def hits_in_row(self, row: int) -> Iterator[tuple[int, int, bool]]:
        """The parts of hits in a row: start, end, and whether it is the current hit."""
        index = self._index.item_at(row)
        if self._search.finding is None or index is None:
            return
        item, hits = self._search.whole_index(index), self._hits_in(index)
        if not hits.starts:
            return
        size, first = len(self._index.text(row)), self._index.starts[index]
        for start, end, at in hits.within(row - first, size, self._search.finding.length):
            yield start, end, Place(item, at) == self._search.here

    def _hits_in(self, index: int) -> HitRows:
        """The hits of a visible item; cached."""
        found = self._hits.get(index)
        finding, filtered = self._search.finding, self._search.filtered
        if found is None and finding is not None:
            places = finding.hits(self._search.whole_index(index)).starts
            starts = places if filtered is None else filtered.moved(index)
            rows = self._index.rows_of(index)
            found = self._hits[index] = HitRows(rows, starts, places)
        return found or HitRows()
