"""A pane of many lines with search, filter and text selection.

It shows a `Document` row by row: only the visible part is created, wrapped and rendered, and only
changed rows are painted. `row_painter` draws the rows, and `finding` searches. This module knows
what is visible, but not what the lines mean.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from typing import ClassVar

from textual.binding import BindingType
from textual.geometry import Offset, Region, Size
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.timer import Timer

from ...text import visible
from ..keys.keymap import bindings
from .documents import Document, Paragraphs, Row, Rows, rows
from .finding import HitRows, LineSearch, Place
from .row_painter import CURSOR, STYLES, Mark, RowPainter

_KEPT = 512
"""Number of items whose rows are cached."""
_PAUSE = 0.01
"""Seconds between two rounds of counting hits, for keys and painting."""
_NEW = "▎"
"""Stands before each row of the last block."""
_Seen = list[tuple[Row, str, list[Mark]]]
"""The visible rows, each with the sign of its item and the marks in it."""


class _RowIndex:
    """The items of a document and their rows, which are created on demand."""

    def __init__(self) -> None:
        self.document: Document = Paragraphs()
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


class _HitsShown:
    """The rows of hits, and the hits in rows."""

    def __init__(self, search: LineSearch, index: _RowIndex) -> None:
        self._search = search
        self._index = index
        self._hits: dict[int, HitRows] = {}

    def forget(self) -> None:
        """Drop cached rows of hits, because the rows have changed."""
        self._hits.clear()

    def row_of(self, place: Place) -> int | None:
        """The row of a hit; None if it is not shown."""
        index = self._search.shown_index(place.item)
        if not self._index.width or index >= len(self._index.document):
            return None
        if self._search.whole_index(index) != place.item:
            return None
        return self._index.starts[index] + self._hits_in(index).row_of(place.at)

    def place_at(self, row: int) -> Place:
        """The position of a row, or of the first hit from there on."""
        index = self._index.item_at(row)
        if index is None:
            return Place(len(self._search.whole), 0)
        item, within_item = self._search.whole_index(index), row - self._index.starts[index]
        at = self._hits_in(index).place_from(within_item) if within_item else 0
        return Place(item + 1, 0) if at is None else Place(item, at)

    def hits_in_row(self, row: int) -> Iterator[tuple[int, int, bool]]:
        """The parts of hits in a row: start, end, and whether it is the current hit."""
        index = self._index.item_at(row)
        if self._search.finding is None or index is None:
            return
        item, hits = self._search.whole_index(index), self._hits_in(index)
        if not hits.starts:
            return
        size, first = len(self._index.text(row)), self._index.starts[index]
        for start, end, at in hits.within(row - first, size, self._search.finding.length):
            yield start, end, Place(item, at) == self._search.here

    def _hits_in(self, index: int) -> HitRows:
        """The hits of a visible item; cached."""
        found = self._hits.get(index)
        finding, filtered = self._search.finding, self._search.filtered
        if found is None and finding is not None:
            places = finding.hits(self._search.whole_index(index)).starts
            starts = places if filtered is None else filtered.moved(index)
            rows = self._index.rows_of(index)
            found = self._hits[index] = HitRows(rows, starts, places)
        return found or HitRows()


def _end_alike(before: Document, after: Document) -> bool:
    """Whether two documents have as many items, and the same last one."""
    last = len(after) - 1
    return len(before) == last + 1 and (last < 0 or before[last] == after[last])


class LineView(ScrollView, can_focus=True):
    """Shows a document with an optional cursor and search hits."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("pane")
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"line--{name}" for name in (*STYLES, "cursor", "match", "here")
    }
    GUTTER: ClassVar[int] = 0
    """Cells kept free at the left for the cursor's sign."""
    DEFAULT_CSS = """
    LineView {
        scrollbar-gutter: stable; scrollbar-size-vertical: 1;
        & .line--prompt { color: $primary; text-style: bold; }
        & .line--answer { color: $accent; }
        & .line--error { color: $error; text-style: bold; }
        & .line--good { color: $success; }
        & .line--warn { color: $warning; }
        & .line--dim { color: $text-muted; }
        & .line--head { color: $secondary; text-style: bold; }
        & .line--code { color: $foreground; }
        & .line--removed { color: $error; text-style: underline; }
        & .line--added { color: $success; text-style: underline; }
        & .line--cursor { background: $panel; text-style: bold; }
        & .line--match { text-style: reverse; }
        & .line--here { text-style: bold reverse underline; }
    }
    """

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._index = _RowIndex()
        self._painter = RowPainter(self, self.GUTTER)
        self.search = LineSearch()
        self._hits = _HitsShown(self.search, self._index)
        self._mark: int | None = None
        self._drawn_at = 0
        self._at_end = False
        self._placed_at: int | None = None
        self._counting: Timer | None = None
        self._described = ""

    # -- content

    def show(self, document: Document, *, cursor: int | None = None, end: bool = False) -> None:
        """Replace the content, and show the cursor (an index of the document) or the end."""
        before = self._seen()
        if not _end_alike(self.search.whole, document):
            self._painter.return_to_left()
        same = self.search.follow(document)
        self._at_end, self._mark, self._placed_at = end, cursor, None
        self._put(same)
        self.search.stay()
        self._repaint(before)
        self._describe_search()

    @property
    def document(self) -> Document:
        """The document shown."""
        return self._index.document

    @property
    def cursor(self) -> int | None:
        """The visible index of the selected item, or of a near one if it is hidden."""
        return None if self._mark is None else self.search.shown_index(self._mark)

    def _point(self, index: int) -> None:
        self._mark = self.search.whole_index(index)

    def _put(self, same: int) -> None:
        """Show the filtered document, reusing the unchanged leading items."""
        self._forget(same)
        self._index.show(self.search.left)
        if self.scrollable_content_region.width:
            self._lay_out()

    def _forget(self, kept: int) -> None:
        """Drop drawn rows, except those of the unchanged leading items."""
        self._painter.keep(self._index.forget(kept))
        self._hits.forget()

    def _seen(self) -> _Seen | None:
        """The visible part; None while the pane has no rows."""
        if not self._index.width:
            return None
        top = self.scroll_offset.y
        bottom = min(top + self.size.height, self._index.height)
        return [
            (self._index.row(row), self._sign(self._index.item_at(row)), self._marks(row))
            for row in range(top, bottom)
        ]

    def _repaint(self, before: _Seen | None) -> None:
        """Redraw only the changed rows, because drawing a row costs more than comparing it."""
        after = self._seen()
        if before is None or after is None:
            self.refresh()
            return
        pairs = enumerate(zip_longest(before, after))
        changed = [Region(0, y, self.size.width, 1) for y, (one, other) in pairs if one != other]
        if changed:
            self.refresh(*changed)

    # -- where the rows are

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """The number of rows at a width, for a pane of that height."""
        inside = width - self.styles.scrollbar_size_vertical - self.GUTTER
        return self.document.starts(max(1, inside))[-1]

    def _lay_out(self) -> None:
        width = max(1, self.scrollable_content_region.width - self.GUTTER)
        if width != self._drawn_at:
            self._forget(0)
            self._placed_at = None
        self._index.width = self._drawn_at = width
        self._index.starts = self._measured(width)
        self._resize_content()
        self._go_to_place()

    def _measured(self, width: int) -> Sequence[int]:
        """The first row of each visible item, and the number of rows."""
        starts = self.search.measure(width)
        return self._count() or starts

    def _resize_content(self) -> None:
        """Set the content's size, with a new layout of the screen only if necessary.

        Setting `virtual_size` lays out the whole screen, which costs more than the rest of a step.
        """
        size = Size(self._index.width + self.GUTTER, self._index.height)
        height = self.styles.height
        bar = size.height > self.container_size.height
        if (height is not None and height.is_auto) or bar != self.show_vertical_scrollbar:
            self.virtual_size = size
            self.call_after_refresh(self._go_to_place)  # only then is the new height known
            return
        self.set_reactive(LineView.virtual_size, size)
        if bar:
            self.vertical_scrollbar.window_virtual_size = size.height
        self.scroll_y = self.validate_scroll_y(self.scroll_y)

    def on_resize(self) -> None:
        """Wrap again if the width changed; a hidden pane has no width."""
        width = self.scrollable_content_region.width
        if width and width - self.GUTTER != self._index.width:
            self._lay_out()
            self.refresh()  # it may have been drawn before it was known where the items are
        self.call_after_refresh(self._go_to_place)

    # -- scrolling

    @property
    def _height(self) -> int:
        return max(1, self.scrollable_content_region.height)

    def action_sideways(self, cells: int) -> None:
        """Scroll sideways, as far as the rows in sight reach; a document may do it itself."""
        if self.search.whole.shift(cells):
            self._forget(0)
            self.refresh()
        else:
            self._painter.shift(cells, [row for row, _, _ in self._seen() or ()])

    def _in_sight(self, row: int | None) -> bool:
        return row is not None and 0 <= row - self.scroll_offset.y < self._height

    def _scroll_to_row(self, row: int) -> None:
        """Scroll at once, even before the scroll bar is laid out."""
        self.scroll_to(y=row, animate=False, immediate=True, force=True)

    def _go_to_place(self) -> None:
        """Scroll to the end or to the cursor, as given to `show`."""
        cursor = self.cursor
        self._at_end = self._at_end and not self._scrolled_away
        if self._at_end:
            self.scroll_end(animate=False, immediate=True, force=True)
        elif cursor is not None:
            self._reveal(cursor)
        if self.show_vertical_scrollbar:
            self.vertical_scrollbar.position = self.scroll_y  # the bar may have come later
        self._placed_at = self.scroll_offset.y

    @property
    def _scrolled_away(self) -> bool:
        """Whether the user has scrolled away since then."""
        places = (self._placed_at, self.max_scroll_y)
        return self._placed_at is not None and self.scroll_offset.y not in places

    def _reveal(self, index: int) -> None:
        """Scroll an item into view, to the middle if it was not visible."""
        if self._index.width:
            row = self._index.starts[min(index, self._index.count)]
            if not self._in_sight(row):
                self._scroll_to_row(max(0, row - self._height // 2))

    # -- finding

    def find(self, words: str) -> bool:
        """Mark words everywhere and go to the first hit from here; an empty text ends the search.

        Returns:
            Whether there is a hit, or nothing to find.
        """
        self._change_search(lambda: self.search.look_for(words))
        return not words or self.find_next(1, here=True)

    def toggle_filter(self) -> bool:
        """Toggle the filter; returns whether it is on."""
        if self.search.active:
            self._change_search(lambda: self.search.filter(self.search.filtered is None))
            if self.search.here is not None:
                self.call_after_refresh(self._reveal_hit, self.search.here)
        return self.search.filtered is not None

    def _change_search(self, change: Callable[[], None]) -> None:
        """Change the search, with a new layout if the rows change."""
        before, filtered = self._seen(), self.search.filtered
        change()
        self._hits.forget()
        if filtered is not None or self.search.filtered is not None:
            self._put(0)
        else:
            self._count()
        self._repaint(before)
        self._describe_search()

    def find_next(self, by: int, *, here: bool = False) -> bool:
        """Go to the next (1) or previous (-1) hit, or one `here`; whether there is one.

        It wraps around at both ends.
        """
        finding = self.search.finding
        if finding is None:
            return False
        start = self._start(by, here=here)
        return self._go_to_hit(finding.after(start) if by > 0 else finding.before(start))

    def find_from(self, start: Place) -> bool:
        """Go to the first hit from a position on, wrapping around; whether there is one."""
        finding = self.search.finding
        return finding is not None and self._go_to_hit(finding.after(start))

    def after_last_hit(self) -> Place | None:
        """The position of the search if the next hit is found only by wrapping; else None."""
        start, finding = self._start(1, here=False), self.search.finding
        place = None if finding is None else finding.after(start)
        return start if finding and (place is None or place < start) else None

    def _go_to_hit(self, place: Place | None) -> bool:
        before = self._seen()
        self.search.here = place
        if place is not None:
            self._at_end = False
            self._go_to(place)
        self._repaint(before)
        self._describe_search()
        return place is not None

    def _start(self, by: int, *, here: bool) -> Place:
        """The start of a search: the current hit if it is visible, else the visible part.

        The search thus continues if the pane cannot scroll, and follows the user's scrolling.
        """
        place = self.search.here
        if place is not None and self._in_sight(self._hits.row_of(place)):
            return Place(place.item, place.at + 1) if by > 0 and not here else place
        top = self.scroll_offset.y
        return self._hits.place_at(top if by > 0 else top + self._height)

    def _go_to(self, place: Place) -> None:
        self._reveal_hit(place)

    def _reveal_hit(self, place: Place) -> None:
        row = self._hits.row_of(place)
        if row is not None and not self._in_sight(row):
            self._scroll_to_row(max(0, row - self._height // 4))

    # -- counting hits

    def _count(self) -> Sequence[int] | None:
        """Count more hits and continue soon; returns the first rows of filtered items."""
        if self._counting is not None:
            self._counting.stop()
        starts, more = self.search.count_on(self._index.width)
        if more:
            self._counting = self.set_timer(_PAUSE, self._count_on)
        return starts

    def _count_on(self) -> None:
        before = self._seen()
        starts = self._count()
        if starts is not None:
            self._index.starts = starts
            self._resize_content()
        self._repaint(before)
        self._describe_search()

    def _describe_search(self) -> None:
        """Show the position at the pane's edge if it changed; showing it repaints the pane."""
        if self.search.description != self._described:
            self._described = self.border_subtitle = self.search.description

    # -- drawing

    def notify_style_update(self) -> None:
        """Drop the colours of the previous theme."""
        self._painter.forget_styles()
        super().notify_style_update()

    def render_line(self, y: int) -> Strip:
        """Render a visible row; rows without marks are cached."""
        row = y + self.scroll_offset.y
        width = self.scrollable_content_region.width
        known = width == self._index.width + self.GUTTER  # else it is about to be resized
        plain = known and self.text_selection is None and not self.search.active
        strip = self._painter.strips.get(row) if plain else None
        if strip is None:
            strip = self._drawn(row, width)
            if plain and row < self._index.height:
                self._painter.strips[row] = strip
        return strip

    def _drawn(self, row: int, width: int) -> Strip:
        """Draw a row; the first row says so if the filter hides everything."""
        if row == 0 and self.search.nothing_left:
            return self._painter.note("no line matches; Escape shows all", width)
        index = self._index.item_at(row)
        if index is None:
            return self._painter.blank(width)
        pieces, marks = self._index.row(row), self._marks(row)
        kept = self._index.kept(row) if self._painter.left else None
        return self._painter.draw(row, pieces, marks, width, self._sign(index), kept)

    def _sign(self, index: int | None) -> str:
        """What stands in the gutter before an item."""
        return CURSOR if index == self.cursor else " "

    def _marks(self, row: int) -> list[Mark]:
        """The hits in a row; the current one has another style."""
        found = self._hits.hits_in_row(row)
        return [Mark(start, end, "here" if here else "match") for start, end, here in found]

    # -- text

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The selected text, for copying."""
        text = self._index.text_between(selection.start, selection.end)
        return None if text is None else (text, "\n")

    def selection_updated(self, selection: Selection | None) -> None:
        """Redraw the selection."""
        self.refresh()

    def copy_text(self) -> str:
        """The text to copy without a selection: the selected item, else everything."""
        document, cursor = self.document, self.cursor
        if cursor is not None and cursor < len(document):
            return document[cursor].text
        return "\n".join(visible(document.text(i)) for i in range(len(document)))


class BlockView(LineView):
    """Text in blocks, of which the last is the newest."""

    GUTTER: ClassVar[int] = 1

    def go_to_block(self, by: int) -> None:
        """Scroll to where the next block (1) or the one before (-1) begins."""
        starts, top = self._index.starts, self.scroll_offset.y
        at = bisect_right(starts, top) if by > 0 else bisect_left(starts, top) - 1
        if 0 <= at < self._index.count:
            self._scroll_to_row(starts[at])

    def keep_place(self, change: Callable[[], None], more: int = 0) -> None:
        """Let `change` show another drawing of the same text; the block at the top stays there.

        It has so many `more` blocks in front.
        """
        top, away = self.scroll_offset.y, self._scrolled_away
        index = self._index.item_at(top)
        inside = top - self._index.starts[index or 0]
        change()
        if away and index is not None and index + more < self._index.count:
            first, end = self._index.span(index + more)
            self._at_end = False
            self._scroll_to_row(min(first + inside, end - 1))

    def _sign(self, index: int | None) -> str:
        """Mark the last block, unless it is the only one."""
        last = len(self.search.whole) - 1
        is_last = index is not None and last and self.search.whole_index(index) == last
        return _NEW if is_last else " "
