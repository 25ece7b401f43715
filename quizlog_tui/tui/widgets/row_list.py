"""Panes of lines with a cursor: a list, and a text with places to go through."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.message import Message

from ..keys.keymap import bindings
from .documents import Document
from .finding import Place
from .line_view import LineView


@dataclass
class _OfItem(Message):
    """What happened to an item of a list."""

    list: RowList
    index: int
    """Index in the whole document, even if the filter is on."""
    document: Document
    """The document of the index; the list may show another one by now."""

    @property
    def control(self) -> RowList:
        """The list, for `on` selectors."""
        return self.list


class RowList(LineView):
    """Items with a cursor. Posts `Moved` when the cursor moves and `Chosen` on Enter."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("list")
    GUTTER = 1

    @dataclass
    class Moved(_OfItem):
        """The cursor is on another item."""

        def can_replace(self, message: Message) -> bool:
            """Only the last of many moves counts."""
            return isinstance(message, RowList.Moved) and message.list is self.list

    @dataclass
    class Chosen(_OfItem):
        """An item was chosen with Enter or a click on the selected one."""

    def show(self, document: Document, *, cursor: int | None = None, end: bool = False) -> None:
        """Replace the content; the cursor stays unless one is given."""
        wanted = (self._mark or 0) if cursor is None else cursor
        last = max(0, len(document) - 1)
        super().show(document, cursor=min(wanted, last), end=end)

    @property
    def index(self) -> int | None:
        """Index of the selected item in the whole document; None if nothing is shown."""
        cursor = self.cursor
        return None if cursor is None or not len(self.document) else self.search.whole_index(cursor)

    def move(self, to: int) -> None:
        """Move the cursor to a visible item, and post `Moved`."""
        if self._move(to):
            self.post_message(self.Moved(self, self.index or 0, self.search.whole))

    def mark(self, index: int | None) -> None:
        """Move the cursor to an item of the whole document, or remove it, without a message."""
        self._painter.return_to_left()
        if index is not None:
            self._move(self.search.shown_index(index))
            self._mark = max(0, min(index, len(self.search.whole) - 1))
        elif self._mark is not None:
            self._mark = None
            self._painter.strips.clear()
            self.refresh()

    def _move(self, to: int) -> bool:
        to = max(0, min(to, len(self.document) - 1))
        before = self.cursor
        if to == before or not len(self.document):
            return False
        self._point(to)
        if self._index.width:
            self._redraw(before, to)
        return True

    def _redraw(self, before: int | None, to: int) -> None:
        for index in (before, to):
            if index is not None and index < self._index.count:
                top, bottom = self._index.span(index)
                for row in range(top, bottom):
                    self._painter.strips.pop(row, None)
                self.refresh_lines(top, bottom - top)
        self._keep_in_view(to)

    def _keep_in_view(self, index: int) -> None:
        top, bottom = self._index.span(index)
        if top < self.scroll_offset.y:
            self._scroll_to_row(top)
        elif bottom > self.scroll_offset.y + self.scrollable_content_region.height:
            self._scroll_to_row(bottom - self.scrollable_content_region.height)

    def _start(self, by: int, *, here: bool) -> Place:
        item = self.index or 0
        return Place(item + 1 if by > 0 and not here else item, 0)

    def _go_to(self, place: Place) -> None:
        self.move(self.search.shown_index(place.item))

    # -- keys

    def action_move(self, by: int) -> None:
        """Move the cursor by rows."""
        self.move(0 if self.cursor is None else self.cursor + by)

    def action_move_page(self, by: int) -> None:
        """Move the cursor by pages."""
        height = max(1, self.scrollable_content_region.height - 1)
        self.move((self.cursor or 0) + by * height)

    def action_move_to(self, where: str) -> None:
        """Move the cursor to the `top` or the `end`."""
        self.move(0 if where == "top" else len(self.document) - 1)

    def action_choose(self) -> None:
        """Choose the selected item."""
        if self.index is not None:
            self.post_message(self.Chosen(self, self.index, self.search.whole))

    def on_click(self, event: events.Click) -> None:
        """Select the clicked item; choose it if it was selected already."""
        offset = event.get_content_offset(self)
        if offset is None or not len(self.document):
            return
        clicked = self._index.item_at(offset.y + self.scroll_offset.y)
        if clicked is None:
            return
        if clicked == self.cursor and event.chain > 1:
            self.action_choose()
        else:
            self.move(clicked)


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
