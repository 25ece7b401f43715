"""Finds words in a document: goes from hit to hit, and counts hits incrementally.

A hit is an occurrence in an item as drawn, so that a long text may have many. An item cut to a
single row has at most one hit; so has an item in which the words are only in parts drawn
separately. Uses no widgets.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from itertools import chain
from time import monotonic
from typing import NamedTuple

from .documents import Document, safe

_KEPT = 512
"""Number of items whose hits are cached."""


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
    """A search for words in a document.

    It first searches the texts only; an item is created if its text has the words.

    Args:
        words: What to find; upper and lower case are the same.
        document: Where.
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
        """Continue with another document.

        Args:
            document: What is searched from now on.
            same: How many first items are as they were, and are drawn alike.
        """
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
