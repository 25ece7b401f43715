"""A pane of long items with a cursor: keys scroll by rows, the cursor jumps by items."""

from __future__ import annotations

from bisect import bisect_right
from typing import ClassVar

from .finding import Place
from .line_view import LineView


class MarkedView(LineView):
    """Text with places to go through one after the other."""

    GUTTER: ClassVar[int] = 1

    def mark(self, index: int) -> None:
        """Select an item of the whole document, or the next visible one; show it."""
        last, shown = len(self.document) - 1, self.search.shown_index(index)
        if last < 0:
            return
        if self.search.whole_index(shown) < index:
            shown = min(shown + 1, last)
        self._point(shown)
        self._reveal(shown)

    def _point(self, index: int) -> None:
        super()._point(index)
        self._forget(0)  # a comparison may be shifted sideways for another item
        self.refresh()

    def place(self, by: int) -> int:
        """The position as an index of the whole document: the cursor, if it is visible.

        Args:
            by: 1 or -1: which way one wants to go from there.
        """
        cursor = self._cursor_in_sight
        if cursor is None:
            row = self.scroll_offset.y + (0 if by > 0 else self._height)
            cursor = max(0, bisect_right(self._index.starts, row) - 1) - (1 if by > 0 else 0)
        return self.search.whole_index(cursor) if 0 <= cursor < len(self.document) else cursor

    @property
    def _cursor_in_sight(self) -> int | None:
        """The cursor, if part of its item is visible."""
        cursor, top = self.cursor, self.scroll_offset.y
        if cursor is None or cursor >= self._index.count:
            return None
        first, end = self._index.span(cursor)
        return cursor if first < top + self._height and end > top else None

    def _go_to_place(self) -> None:
        """Do not scroll back to the cursor if the user scrolled on to read."""
        if not self._scrolled_away:
            super()._go_to_place()

    def _reveal(self, index: int) -> None:
        """Scroll an item into view, near the top unless it was fully visible."""
        if not self._index.width or index >= self._index.count:
            return
        top, bottom = self._index.span(index)
        seen = self.scroll_offset.y
        if not (seen <= top and bottom <= seen + self._height):
            self._scroll_to_row(max(0, top - self._height // 4))

    def _start(self, by: int, *, here: bool) -> Place:
        """Start at the cursor if it has moved since the last hit."""
        cursor = self._cursor_in_sight
        marked = None if cursor is None else self.search.whole_index(cursor)
        if marked is None or (self.search.here is not None and self.search.here.item == marked):
            return super()._start(by, here=here)
        return Place(marked, 0)

    def _go_to(self, place: Place) -> None:
        self._point(self.search.shown_index(place.item))
        super()._go_to(place)
