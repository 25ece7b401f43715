"""Where words are in a document: the rules of going from hit to hit, and a count that goes on.

A hit is a place of the words in an item as it is drawn, so a text of many rows has many. What is
cut to a single row is one hit however often the words are in it; so is an item that has them only
in what is not drawn in one piece. No widgets here.
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
"""Items whose hits are kept at hand."""


class Place(NamedTuple):
    """A place in a document; places are ordered as one reads."""

    item: int
    at: int
    """Characters of the item before it, as it is drawn."""


class Hits(NamedTuple):
    """What is found in an item."""

    starts: Sequence[int] = ()
    """Where the words begin in it, as it is drawn."""
    places: Sequence[int] = ()
    """Where one goes to."""


class Finding:
    """Words that are searched for in a document.

    Only the texts are looked through at first; an item is made when its text has the words.

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
        """Go on with another document.

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
        """What is found in an item."""
        found = self._hits.get(index)
        if found is None:
            if len(self._hits) > _KEPT:
                self._hits.clear()
            found = self._hits[index] = self._look(index)
        return found

    def count(self, text: str) -> int:
        """How often a text has the words as it is drawn."""
        drawn = safe(text)
        return sum(1 for _ in self._pattern.finditer(drawn)) if self._in(drawn) else 0

    def _look(self, index: int) -> Hits:
        if not self._in(safe(self._document.text(index))):
            return Hits()
        item = self._document[index]
        starts = [match.start() for match in self._pattern.finditer(item.text)]
        return Hits(starts, (starts[:1] if item.cut else starts) or [0])

    def _in(self, text: str) -> bool:
        """Whether a text has the words; most are ASCII, of which that is known six times sooner."""
        if self._ascii is not None and text.isascii():
            return self._ascii in text.lower()
        return self._pattern.search(text) is not None

    # -- counting

    @property
    def more(self) -> bool:
        """Whether not all items are counted yet."""
        return self._looked < len(self._document)

    @property
    def items(self) -> Sequence[int]:
        """The items with hits, of those that are counted."""
        return self._items

    def count_on(self, until: float) -> None:
        """Count the hits of more items, up to a time of the monotonic clock."""
        while self.more and monotonic() < until:
            count = len(self.hits(self._looked).places)
            if count:
                self._items.append(self._looked)
                self._totals.append(self._before(len(self._totals)) + count)
            self._looked += 1

    def _before(self, nth: int) -> int:
        """The hits before the `nth` item that has some."""
        return self._totals[nth - 1] if nth else 0

    def number(self, place: Place) -> int | None:
        """Which hit it is, from 1; None if that is not counted yet."""
        if place.item >= self._looked:
            return None
        before = self._before(bisect_left(self._items, place.item))
        return before + bisect_right(self.hits(place.item).places, place.at)

    def describe_place(self, place: Place | None) -> str:
        """Where one is among the hits, such as `3 of 15`; `+` as long as more may come."""
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
        """Whether one can go there."""
        known = place.item < len(self._document)
        return known and place.at in self.hits(place.item).places

    def after(self, start: Place) -> Place | None:
        """The first hit from a place on, round the end; None if there is none at all."""
        count = len(self._document)
        if start.item < count:
            for at in self.hits(start.item).places:
                if at >= start.at:
                    return Place(start.item, at)
        item = self._first(chain(range(start.item + 1, count), range(min(start.item + 1, count))))
        return None if item is None else Place(item, self.hits(item).places[0])

    def before(self, start: Place) -> Place | None:
        """The last hit before a place, round the start; None if there is none at all."""
        count = len(self._document)
        if start.item < count:
            for at in reversed(self.hits(start.item).places):
                if at < start.at:
                    return Place(start.item, at)
        here = min(start.item, count)
        item = self._first(chain(reversed(range(here)), reversed(range(here, count))))
        return None if item is None else Place(item, self.hits(item).places[-1])

    def _first(self, items: Iterable[int]) -> int | None:
        """The first of some items that has hits; what is counted is not looked through again."""
        return next((item for item in items if self._has(item)), None)

    def _has(self, item: int) -> bool:
        if item < self._looked:
            at = bisect_left(self._items, item)
            return at < len(self._items) and self._items[at] == item
        return bool(self.hits(item).places)
