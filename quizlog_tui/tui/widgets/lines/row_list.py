"""A list to move through: a `LineView` with a cursor that the keys and the mouse move."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.message import Message

from ...keys.bindings import bindings
from .documents import Document
from .finding import Place
from .line_view import LineView


class RowList(LineView):
    """Items of which one is marked. Posts `Moved` when the mark moves and `Chosen` on Enter."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("list")
    GUTTER = 1

    @dataclass
    class Moved(Message):
        """The mark is on another item."""

        list: RowList
        index: int
        """An index of the whole document, also while a filter is on."""
        document: Document
        """What the index counts in: the list may show another document by now."""

        @property
        def control(self) -> RowList:
            """The list, for `on` selectors."""
            return self.list

        def can_replace(self, message: Message) -> bool:
            """Only the last of many moves counts."""
            return isinstance(message, RowList.Moved) and message.list is self.list

    @dataclass
    class Chosen(Message):
        """An item was chosen, by Enter or a click on the marked one."""

        list: RowList
        index: int
        document: Document
        """What the index counts in: the list may show another document by now."""

        @property
        def control(self) -> RowList:
            """The list, for `on` selectors."""
            return self.list

    def show(self, document: Document, *, cursor: int | None = None, end: bool = False) -> None:
        """Replace the content; the mark stays where it was unless one is given."""
        wanted = (self._mark or 0) if cursor is None else cursor
        last = max(0, len(document) - 1)
        super().show(document, cursor=min(wanted, last), end=end)

    @property
    def index(self) -> int | None:
        """The marked item as an index of the whole document; None if nothing is shown."""
        if self._cursor is None or not len(self._document):
            return None
        return self.whole_index(self._cursor)

    def move(self, to: int) -> None:
        """Put the mark on an item of what is shown, and tell it."""
        if self._move(to):
            self.post_message(self.Moved(self, self.index or 0, self._whole))

    def mark(self, index: int) -> None:
        """Put the mark on an item of the whole document, without telling it."""
        self._move(self.shown_index(index))
        self._mark = max(0, min(index, len(self._whole) - 1))

    def _move(self, to: int) -> bool:
        to = max(0, min(to, len(self._document) - 1))
        before = self._cursor
        if to == before or not len(self._document):
            return False
        self._point(to)
        if self.laid_out:
            self._redraw(before, to)
        return True

    def unmark(self) -> None:
        """Mark nothing until somebody moves."""
        if self._cursor is not None:
            self._cursor = self._mark = None
            self._strips.clear()
            self.refresh()

    def _redraw(self, before: int | None, to: int) -> None:
        for index in (before, to):
            if index is not None and index < len(self._document):
                top = self._starts[index]
                for row in range(top, self._starts[index + 1]):
                    self._strips.pop(row, None)
                self.refresh_lines(top, self._starts[index + 1] - top)
        self._keep_in_view(to)

    def _keep_in_view(self, index: int) -> None:
        top, bottom = self._starts[index], self._starts[index + 1]
        height = self.scrollable_content_region.height
        if top < self.scroll_offset.y:
            self.scroll_to_row(top)
        elif bottom > self.scroll_offset.y + height:
            self.scroll_to_row(bottom - height)

    def _start(self, by: int, *, here: bool) -> Place:
        """The list is where its mark is."""
        item = self.index or 0
        return Place(item + 1 if by > 0 and not here else item, 0)

    def _go_to(self, place: Place) -> None:
        self.move(self.shown_index(place.item))

    # -- keys

    def action_move(self, by: int) -> None:
        """The mark up or down by rows."""
        self.move(0 if self._cursor is None else self._cursor + by)

    def action_move_page(self, by: int) -> None:
        """The mark up or down by pages."""
        height = max(1, self.scrollable_content_region.height - 1)
        self.move((self._cursor or 0) + by * height)

    def action_move_to(self, where: str) -> None:
        """The mark to the `top` or the `end`."""
        self.move(0 if where == "top" else len(self._document) - 1)

    def action_choose(self) -> None:
        """Choose the marked item."""
        if self.index is not None:
            self.post_message(self.Chosen(self, self.index, self._whole))

    def on_click(self, event: events.Click) -> None:
        """Mark what was clicked; choose it if it was marked already."""
        offset = event.get_content_offset(self)
        if offset is None or not len(self._document):
            return
        clicked = self.at_row(offset.y + self.scroll_offset.y)
        if clicked is None:
            return
        if clicked == self._cursor and event.chain > 1:
            self.action_choose()
        else:
            self.move(clicked)
