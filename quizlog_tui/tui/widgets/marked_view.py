"""A pane of long items of which one is marked: the keys scroll by rows, the mark jumps."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import ClassVar

from .documents import Filtered
from .line_view import LineView


class MarkedView(LineView):
    """Text in which places are gone to one after the other."""

    GUTTER: ClassVar[int] = 1

    def mark(self, index: int) -> None:
        """Mark an item of the whole document, or the next that the filter leaves; show it."""
        document = self.document
        if isinstance(document, Filtered):
            index = min(bisect_left(document.kept, index), len(document) - 1)
        self._point(index)
        self.reveal(index)

    def _point(self, index: int) -> None:
        self._cursor = index
        self._strips.clear()
        self.refresh()

    def place(self, by: int) -> int:
        """Where one looks, as an index of the whole document: the mark, if it is in sight.

        Args:
            by: 1 or -1: which way one wants to go from there.
        """
        top = self.scroll_offset.y
        end = top + self.scrollable_content_region.height
        cursor = self._cursor
        if cursor is None or not (self._starts[cursor] < end and self._starts[cursor + 1] > top):
            row = top if by > 0 else end
            cursor = max(0, bisect_right(self._starts, row) - 1) - (1 if by > 0 else 0)
        document = self.document
        return document.kept[cursor] if isinstance(document, Filtered) and cursor >= 0 else cursor

    def reveal(self, index: int) -> None:
        """Bring an item into view, near the top if not all of it was seen."""
        if not self.laid_out or index >= len(self._starts) - 1:
            return
        top, bottom = self._starts[index], self._starts[index + 1]
        height = max(1, self.scrollable_content_region.height)
        seen = self.scroll_offset.y
        if not (seen <= top and bottom <= seen + height):
            self.scroll_to(y=max(0, top - height // 4), animate=False, immediate=True)

    def _go_to_match(self, index: int) -> None:
        self._point(index)
        super()._go_to_match(index)
