"""A pane of blocks, one an item: keys go from block to block, and the last one is marked."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from typing import ClassVar

from .line_view import LineView

_NEW = "▎"
"""Stands before each row of the last block."""


class BlockView(LineView):
    """Text in blocks, of which the last is the newest."""

    GUTTER: ClassVar[int] = 1

    def go_to_block(self, by: int) -> None:
        """Scroll to where the next block (1) or the one before (-1) begins."""
        starts, top = self._index.starts, self.scroll_offset.y
        at = bisect_right(starts, top) if by > 0 else bisect_left(starts, top) - 1
        if 0 <= at < self._index.count:
            self._scroll_to_row(starts[at])

    def keep_place(self, change: Callable[[], None]) -> None:
        """Let another drawing of the same text be shown, with the block at the top staying there.

        Args:
            change: Shows it.
        """
        top, away = self.scroll_offset.y, self._scrolled_away
        index = self._index.item_at(top)
        inside = top - self._index.starts[index or 0]
        change()
        if away and index is not None and index < self._index.count:
            first, end = self._index.span(index)
            self._at_end = False
            self._scroll_to_row(min(first + inside, end - 1))

    def _sign(self, index: int | None) -> str:
        """Mark the last block, unless it is the only one."""
        last = len(self.search.whole) - 1
        is_last = index is not None and last and self.search.whole_index(index) == last
        return _NEW if is_last else " "
