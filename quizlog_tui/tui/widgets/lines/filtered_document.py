"""A filtered document: only items with hits, and only the lines with hits of long texts."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate
from time import monotonic

from .documents import Document, Line, logical_lines, numbered, rows
from .finding import Finding

_AT_ONCE = 0.02
"""Maximum seconds of measuring before keys and painting get their turn."""


class FilteredDocument:
    """The items with hits, as far as they have been measured.

    Args:
        document: All items.
        finding: What is found in them.
    """

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

    def text(self, index: int) -> str:
        """The remaining text of an item."""
        return self[index].text

    def moved(self, index: int) -> Sequence[int]:
        """The offsets of an item's hits in its remaining text."""
        return self._left(index)[1]

    def starts(self, width: int) -> Sequence[int]:
        """The row at which each item starts, and the number of rows; each call measures more."""
        if width != self._width:
            self._width = width
            self._heights.clear()
        until = monotonic() + _AT_ONCE
        while self.more and monotonic() < until:
            self._heights.append(len(rows(self[len(self)], width)))
        return list(accumulate(self._heights, initial=0))

    def _left(self, index: int) -> tuple[Line, Sequence[int]]:
        item = self.whole(index)
        named = numbered(self._document, item)
        return lines_with(self._document[item], named, self._finding.hits(item).starts)


def lines_with(item: Line, named: Line, starts: Sequence[int]) -> tuple[Line, Sequence[int]]:
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
