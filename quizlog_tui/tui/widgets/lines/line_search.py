"""What is searched for in a pane: the hits, the one where one is, what a filter leaves.

`finding` says which hits there are, `filtered_document` what a filter leaves. Knows nothing of what
is in sight; no widgets here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from time import monotonic

from .documents import Document, Paragraphs, unchanged
from .filtered_document import FilteredDocument
from .finding import Finding, Place
from .hit_rows import HitRows
from .row_index import RowIndex

_SLICE = 0.02
"""Seconds of counting before keys and painting have their turn."""


class LineSearch:
    """Searches a document.

    Args:
        index: In which rows what is left of the document stands.
    """

    def __init__(self, index: RowIndex) -> None:
        self.whole: Document = Paragraphs()
        """The document without a filter."""
        self.here: Place | None = None
        """The hit where one is."""
        self._index = index
        self._finding: Finding | None = None
        self._filtered: FilteredDocument | None = None
        self._hits: dict[int, HitRows] = {}
        self._width = 0

    @property
    def active(self) -> bool:
        """Whether something is searched for."""
        return self._finding is not None

    @property
    def filters(self) -> bool:
        """Whether only what is found is left."""
        return self._filtered is not None

    @property
    def left(self) -> Document:
        """What the filter leaves of the document."""
        return self.whole if self._filtered is None else self._filtered

    @property
    def nothing_left(self) -> bool:
        """Whether the filter hides everything."""
        counted = self._finding is not None and not self._finding.more
        return counted and self._filtered is not None and not len(self._filtered)

    @property
    def description(self) -> str:
        """Where one is among the hits, in a few words; empty if nothing is searched for."""
        said = "" if self._finding is None else self._finding.describe_place(self.here)
        return f"{said} · filtered" if self._filtered is not None else said

    # -- what is searched

    def follow(self, document: Document) -> int:
        """Search another document; how many first items of what is left are as they were."""
        same = unchanged(self.whole, document)
        self.whole = document
        if self._finding is not None:
            self._finding.follow(document, same)
        return same if self._filtered is None else self._filtered.follow(document)

    def stay(self) -> None:
        """Be at no hit if there is none any more where one was."""
        if (
            self._finding is not None
            and self.here is not None
            and not self._finding.is_hit(self.here)
        ):
            self.here = None

    def look_for(self, words: str) -> None:
        """Search for other words, filtering if that was done before; nothing for none."""
        self._finding = Finding(words, self.whole) if words else None
        self.here = self.here if words else None
        self.filter(self.filters)

    def filter(self, on: bool) -> None:
        """Leave only what is found, or everything."""
        found = self._finding
        self._filtered = FilteredDocument(self.whole, found) if on and found is not None else None
        self._hits.clear()

    # -- counting

    def measure(self, width: int) -> Sequence[int]:
        """Where the items start at a width: what is found can depend on it."""
        starts = self.whole.starts(width)
        if self._finding is not None and width != self._width:
            self._finding.follow(self.whole, 0)
        self._width = width
        return starts

    def count_on(self) -> bool:
        """Count some more hits; whether more are yet to be counted."""
        if self._finding is None:
            return False
        self._finding.count_on(monotonic() + _SLICE)
        return self._finding.more

    def measure_left(self, width: int) -> tuple[Sequence[int] | None, bool]:
        """Where the items that a filter leaves start, if there is one, and whether more come."""
        if self._filtered is None:
            return None, False
        return self._filtered.starts(width), self._filtered.more

    def count(self, text: str) -> int:
        """How often a text has what is searched for."""
        return 0 if self._finding is None else self._finding.count(text)

    # -- places

    def after(self, start: Place) -> Place | None:
        """The first hit from a place on, round the end; None if there is none."""
        return None if self._finding is None else self._finding.after(start)

    def before(self, start: Place) -> Place | None:
        """The last hit before a place, round the start; None if there is none."""
        return None if self._finding is None else self._finding.before(start)

    def whole_index(self, index: int) -> int:
        """An item of what is left, as an index of the whole document."""
        return index if self._filtered is None else self._filtered.whole(index)

    def shown_index(self, index: int) -> int:
        """Where an item of the whole document is shown, or one near it if the filter hides it."""
        return index if self._filtered is None else self._filtered.nearest(index)

    # -- rows

    def forget_rows(self) -> None:
        """Forget in which rows hits stand: the rows are others."""
        self._hits.clear()

    def row_of(self, place: Place) -> int | None:
        """The row of a hit; None if it is not shown."""
        index = self.shown_index(place.item)
        if not self._index.width or index >= len(self._index.document):
            return None
        if self.whole_index(index) != place.item:
            return None
        return self._index.starts[index] + self._hits_in(index).row_of(place.at)

    def place_at(self, row: int) -> Place:
        """Where a row begins, or the first hit from there on."""
        index = self._index.item_at(row)
        if index is None:
            return Place(len(self.whole), 0)
        item, within_item = self.whole_index(index), row - self._index.starts[index]
        at = self._hits_in(index).place_from(within_item) if within_item else 0
        return Place(item + 1, 0) if at is None else Place(item, at)

    def hits_in_row(self, row: int) -> Iterator[tuple[int, int, bool]]:
        """The parts of hits in a row: where they begin and end in it, and whether one is there."""
        index = self._index.item_at(row)
        if self._finding is None or index is None:
            return
        item, hits = self.whole_index(index), self._hits_in(index)
        if not hits.starts:
            return
        size, first = len(self._index.text(row)), self._index.starts[index]
        for start, end, at in hits.within(row - first, size, self._finding.length):
            yield start, end, Place(item, at) == self.here

    def _hits_in(self, index: int) -> HitRows:
        """The hits of an item that is shown; kept."""
        found = self._hits.get(index)
        if found is None and self._finding is not None:
            places = self._finding.hits(self.whole_index(index)).starts
            starts = places if self._filtered is None else self._filtered.moved(index)
            rows = self._index.rows_of(index)
            found = self._hits[index] = HitRows(rows, starts, places)
        return found or HitRows()
