"""The search in a document: goes from hit to hit, counts hits incrementally, and filters.

A hit is an occurrence in an item as drawn, so that a long text may have many. An item cut to a
single row has at most one hit; so has an item in which the words are only in parts drawn
separately. Knows nothing about the visible part; uses no widgets.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain
from time import monotonic
from typing import NamedTuple

from .documents import (
    Document,
    Line,
    Paragraphs,
    Rows,
    logical_lines,
    rows,
    safe,
)

_KEPT = 512
"""Number of items whose hits are cached."""
_SLICE = 0.02
"""Maximum seconds of counting or measuring before keys and painting get their turn."""


class Place(NamedTuple):
    """A position in a document; positions are in reading order."""

    item: int
    at: int
    """Offset in the item as drawn."""


class Hits(NamedTuple):
    """The hits in an item."""

    starts: Sequence[int] = ()
    """Offsets of the words in the item as drawn."""
    places: Sequence[int] = ()
    """The positions to go to."""


class Finding:
    """A search for words in a document; upper and lower case are the same.

    It first searches the texts only; an item is created if its text has the words.
    """

    def __init__(self, words: str, document: Document) -> None:
        self.length = len(words)
        """Characters of a hit."""
        self._pattern = re.compile(re.escape(words), re.IGNORECASE)
        self._ascii = words.lower() if words.isascii() else None
        self._document = document
        self._looked = 0
        self._items: list[int] = []
        self._totals: list[int] = []
        self._hits: dict[int, Hits] = {}

    def follow(self, document: Document, same: int) -> None:
        """Continue with another document; its first `same` items are drawn as they were."""
        self._document = document
        self._looked = min(self._looked, same)
        last = bisect_left(self._items, same)
        del self._items[last:], self._totals[last:]
        self._hits.clear()

    def hits(self, index: int) -> Hits:
        """The hits in an item."""
        found = self._hits.get(index)
        if found is None:
            if len(self._hits) > _KEPT:
                self._hits.clear()
            found = self._hits[index] = self._look(index)
        return found

    def count(self, text: str) -> int:
        """Number of occurrences in a text as drawn."""
        drawn = safe(text)
        return sum(1 for _ in self._pattern.finditer(drawn)) if self._in(drawn) else 0

    def _look(self, index: int) -> Hits:
        if not self._in(safe(self._document.text(index))):
            return Hits()
        item = self._document[index]
        starts = [match.start() for match in self._pattern.finditer(item.text)]
        return Hits(starts, (starts[:1] if item.cut else starts) or [0])

    def _in(self, text: str) -> bool:
        """Whether a text has the words; ASCII texts are searched six times faster."""
        if self._ascii is not None and text.isascii():
            return self._ascii in text.lower()
        return self._pattern.search(text) is not None

    # -- counting

    @property
    def more(self) -> bool:
        """Whether some items are not counted yet."""
        return self._looked < len(self._document)

    @property
    def items(self) -> Sequence[int]:
        """The items with hits among those counted."""
        return self._items

    def count_on(self, until: float) -> None:
        """Count the hits of more items until a time of the monotonic clock."""
        while self.more and monotonic() < until:
            count = len(self.hits(self._looked).places)
            if count:
                self._items.append(self._looked)
                self._totals.append(self._before(len(self._totals)) + count)
            self._looked += 1

    def _before(self, nth: int) -> int:
        """Number of hits before the `nth` item with hits."""
        return self._totals[nth - 1] if nth else 0

    def number(self, place: Place) -> int | None:
        """The number of a hit, from 1; None if it is not counted yet."""
        if place.item >= self._looked:
            return None
        before = self._before(bisect_left(self._items, place.item))
        return before + bisect_right(self.hits(place.item).places, place.at)

    def describe_place(self, place: Place | None) -> str:
        """The position among the hits, such as `3 of 15`; with `+` while counting."""
        total = self._before(len(self._totals))
        if not total:
            return "…" if self.more else "not found"
        count = f"{total:,}{'+' if self.more else ''}"
        if place is None:
            return f"{count} found"
        number = self.number(place)
        return f"{'…' if number is None else f'{number:,}'} of {count}"

    # -- going

    def is_hit(self, place: Place) -> bool:
        """Whether a position is a hit."""
        known = place.item < len(self._document)
        return known and place.at in self.hits(place.item).places

    def after(self, start: Place) -> Place | None:
        """The first hit from a position on, wrapping around; None if there is none."""
        count = len(self._document)
        if start.item < count:
            for at in self.hits(start.item).places:
                if at >= start.at:
                    return Place(start.item, at)
        item = self._first(chain(range(start.item + 1, count), range(min(start.item + 1, count))))
        return None if item is None else Place(item, self.hits(item).places[0])

    def before(self, start: Place) -> Place | None:
        """The last hit before a position, wrapping around; None if there is none."""
        count = len(self._document)
        if start.item < count:
            for at in reversed(self.hits(start.item).places):
                if at < start.at:
                    return Place(start.item, at)
        here = min(start.item, count)
        item = self._first(chain(reversed(range(here)), reversed(range(here, count))))
        return None if item is None else Place(item, self.hits(item).places[-1])

    def _first(self, items: Iterable[int]) -> int | None:
        """The first of some items that has hits; counted items are not searched again."""
        return next((item for item in items if self._has(item)), None)

    def _has(self, item: int) -> bool:
        if item < self._looked:
            at = bisect_left(self._items, item)
            return at < len(self._items) and self._items[at] == item
        return bool(self.hits(item).places)


class LineSearch:
    """Searches a document."""

    def __init__(self) -> None:
        self.whole: Document = Paragraphs()
        """The document without a filter."""
        self.here: Place | None = None
        self.finding: Finding | None = None
        self.filtered: FilteredDocument | None = None
        """The filtered document, while the filter is on."""
        self._width = 0

    @property
    def active(self) -> bool:
        """Whether a search is active."""
        return self.finding is not None

    @property
    def left(self) -> Document:
        """The document, filtered if the filter is on."""
        return self.whole if self.filtered is None else self.filtered

    @property
    def nothing_left(self) -> bool:
        """Whether the filter hides everything."""
        counted = self.finding is not None and not self.finding.more
        return counted and self.filtered is not None and not len(self.filtered)

    @property
    def description(self) -> str:
        """The position among the hits in a few words; empty without a search."""
        said = "" if self.finding is None else self.finding.describe_place(self.here)
        return f"{said} · filtered" if self.filtered is not None else said

    # -- what is searched

    def follow(self, document: Document) -> int:
        """Search another document; the number of unchanged leading items."""
        same = document.shared_with(self.whole)
        self.whole = document
        if self.finding is not None:
            self.finding.follow(document, same)
        return same if self.filtered is None else self.filtered.follow(document)

    def stay(self) -> None:
        """Clear the current hit if it no longer exists."""
        if (
            self.finding is not None
            and self.here is not None
            and not self.finding.is_hit(self.here)
        ):
            self.here = None

    def look_for(self, words: str) -> None:
        """Search for other words, keeping the filter on; empty words end the search."""
        self.finding = Finding(words, self.whole) if words else None
        self.here = self.here if words else None
        self.filter(self.filtered is not None)

    def filter(self, on: bool) -> None:
        """Turn the filter on or off."""
        found = self.finding
        self.filtered = FilteredDocument(self.whole, found) if on and found is not None else None

    # -- counting

    def measure(self, width: int) -> Sequence[int]:
        """The first row of each item at a width."""
        starts = self.whole.starts(width)
        if self.finding is not None and width != self._width:
            self.finding.follow(self.whole, 0)
        self._width = width
        return starts

    def count_on(self, width: int) -> tuple[Sequence[int] | None, bool]:
        """Count more hits; returns the first rows of filtered items, and whether to continue.

        Args:
            width: Cells of a row; 0 while it is not known, when nothing is measured.
        """
        if self.finding is None:
            return None, False
        self.finding.count_on(monotonic() + _SLICE)
        if self.filtered is None or not width:
            return None, self.finding.more
        starts = self.filtered.starts(width)
        return starts, self.finding.more or self.filtered.more

    # -- items

    def whole_index(self, index: int) -> int:
        """The index in the whole document of a visible item."""
        return index if self.filtered is None else self.filtered.whole(index)

    def shown_index(self, index: int) -> int:
        """The visible index of an item of the whole document, or of a near one if it is hidden."""
        return index if self.filtered is None else self.filtered.nearest(index)


class FilteredDocument(Document):
    """The items with hits, as far as they have been measured."""

    def __init__(self, document: Document, finding: Finding) -> None:
        self._document = document
        self._finding = finding
        self._width = 0
        self._heights: list[int] = []

    def follow(self, document: Document) -> int:
        """Follow the search to another document; the number of unchanged leading items."""
        self._document = document
        del self._heights[len(self._finding.items) :]
        return len(self)

    @property
    def more(self) -> bool:
        """Whether there are hits that are not measured yet."""
        return len(self) < len(self._finding.items)

    def whole(self, index: int) -> int:
        """The index of an item in the whole document."""
        return self._finding.items[index]

    def nearest(self, item: int) -> int:
        """The index here of an item of the whole document, or of the previous one, or 0."""
        return max(0, bisect_right(self._finding.items, item, hi=len(self)) - 1)

    def __len__(self) -> int:
        return len(self._heights)

    def __getitem__(self, index: int) -> Line:
        return self._left(index)[0]

    def moved(self, index: int) -> Sequence[int]:
        """The offsets of an item's hits in its remaining text."""
        return self._left(index)[1]

    def starts(self, width: int) -> Sequence[int]:
        """The row at which each item starts, and the number of rows; each call measures more."""
        if width != self._width:
            self._width = width
            self._heights.clear()
        until = monotonic() + _SLICE
        while self.more and monotonic() < until:
            self._heights.append(len(rows(self[len(self)], width)))
        return list(accumulate(self._heights, initial=0))

    def _left(self, index: int) -> tuple[Line, Sequence[int]]:
        item = self.whole(index)
        named = self._document.numbered(item)
        return _lines_with(self._document[item], named, self._finding.hits(item).starts)


def _lines_with(item: Line, named: Line, starts: Sequence[int]) -> tuple[Line, Sequence[int]]:
    """The lines of a text that have hits, and the offsets of the hits.

    Args:
        item: The text; if it is cut to one row, or has no hits that are drawn, all of it is left.
        named: The same with something before each line: so the lines are drawn.
        starts: Where the hits begin in the text.
    """
    if item.cut:
        return item, starts
    pieces: list[tuple[str, str]] = []
    moved: list[int] = []
    begin = length = 0
    for text, line in zip(item.text.split("\n"), logical_lines(named.pieces), strict=True):
        end = begin + len(text)
        first, last = bisect_left(starts, begin), bisect_right(starts, end)
        if first < last or not starts:
            if pieces:
                pieces.append(("\n", ""))
                length += 1
            pieces += line
            length += sum(len(piece) for piece, _ in line)
            moved += [start + length - end for start in starts[first:last]]
        begin = end + 1
    return Line(tuple(pieces), unwrapped=item.unwrapped), moved


class HitRows(NamedTuple):
    """The rows and hits of a visible item."""

    rows: Rows = Rows((), None)
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
        """The parts of hits in a row of `size` characters: start, end and position."""
        begin = self.rows.begin(row)
        first = bisect_right(self.starts, begin - length)
        for nth in range(first, bisect_left(self.starts, begin + size)):
            start = self.starts[nth] - begin
            yield max(0, start), min(size, start + length), self.places[nth]
