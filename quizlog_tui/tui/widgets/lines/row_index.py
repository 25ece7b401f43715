"""Maps the items of a document to rows at a width. Uses no widgets."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from textual.geometry import Offset

from .documents import Document, Paragraphs, rows
from .wrapping import Row, Rows

_KEPT = 512
"""Number of items whose rows are cached."""


class RowIndex:
    """The items of a document and their rows, which are created on demand."""

    def __init__(self) -> None:
        self.document: Document = Paragraphs()
        """The document shown."""
        self.starts: Sequence[int] = (0,)
        """The first row of each item, then the number of rows."""
        self.width = 0
        """Width of a row in cells; 0 until the items are measured."""
        self._rows: dict[int, Rows] = {}

    def show(self, document: Document) -> None:
        """Take another document, to be measured later."""
        self.document, self.starts, self.width = document, (0,), 0

    def forget(self, kept: int) -> int:
        """Drop the rows of all but the first items; returns their number of rows."""
        self._rows = {at: broken for at, broken in self._rows.items() if at < kept}
        return self.starts[min(kept, len(self.starts) - 1)]

    @property
    def height(self) -> int:
        """The number of rows."""
        return self.starts[-1]

    @property
    def count(self) -> int:
        """Number of measured items."""
        return len(self.starts) - 1

    def item_at(self, row: int) -> int | None:
        """The item at a row; None below the last one."""
        return bisect_right(self.starts, row) - 1 if 0 <= row < self.height else None

    def span(self, index: int) -> tuple[int, int]:
        """The first row of an item, and the row after its last."""
        return self.starts[index], self.starts[index + 1]

    def rows_of(self, index: int) -> Rows:
        """The rows of an item; cached."""
        found = self._rows.get(index)
        if found is None:
            if len(self._rows) > _KEPT:
                self._rows.clear()
            found = self._rows[index] = rows(self.document[index], self.width)
        return found

    def row(self, row: int) -> Row:
        """The pieces of text in a row."""
        index = bisect_right(self.starts, row) - 1
        return self.rows_of(index)[row - self.starts[index]]

    def kept(self, row: int) -> int | None:
        """The cells of a row that stay when one scrolls sideways; None if all of it stays."""
        index = bisect_right(self.starts, row) - 1
        return self.rows_of(index).kept(row - self.starts[index])

    def text(self, row: int) -> str:
        """The characters of a row."""
        return "".join(text for text, _ in self.row(row))

    def text_between(self, start: Offset | None, end: Offset | None) -> str | None:
        """The text from one cell to another, or to an end of all rows; None if there is no row."""
        first, last = start or Offset(0, 0), end or Offset(0, self.height)
        texts = [self.text(y) for y in range(first.y, min(last.y + 1, self.height))]
        if not texts:
            return None
        if end and last.y < self.height:
            texts[-1] = texts[-1][: last.x]
        texts[0] = texts[0][first.x :]
        return "\n".join(text.rstrip() for text in texts)
