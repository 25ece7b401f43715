"""Shows documents one below the other."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from ..widgets.lines.documents import Document, Line, numbered


class StackedDocuments:
    """The items of several documents, one after the other."""

    def __init__(self, *parts: Document) -> None:
        self._parts = parts
        self._firsts = list(accumulate((len(part) for part in parts), initial=0))

    def _find(self, index: int) -> tuple[Document, int]:
        at = bisect_right(self._firsts, index) - 1
        return self._parts[at], index - self._firsts[at]

    def __len__(self) -> int:
        return self._firsts[-1]

    def __getitem__(self, index: int) -> Line:
        part, inside = self._find(index)
        return part[inside]

    def numbered(self, index: int) -> Line:
        """An item with the number of its step on each line, if its document has steps."""
        return numbered(*self._find(index))

    def text(self, index: int) -> str:
        """The text that a search reads."""
        part, inside = self._find(index)
        return part.text(inside)

    def starts(self, width: int) -> Sequence[int]:
        """The row at which each item starts, and the number of rows."""
        found = [0]
        for part in self._parts:
            top = found.pop()
            found += [top + start for start in part.starts(width)]
        return found
