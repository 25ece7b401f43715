"""A pane of many lines, drawn a row at a time: what `LineView` is built on.

Shows a `Document`. Only what is visible is made, wrapped and rendered, and only rows that change
are painted. Knows nothing of searching, nor of what the lines mean.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import zip_longest
from typing import ClassVar, NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual.binding import BindingType
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from ...keys.bindings import bindings
from .documents import Document, Paragraphs, rows
from .strips import cut_to, restyled
from .wrapping import Row, Rows

STYLES = ("prompt", "answer", "error", "good", "warn", "dim", "head", "code", "removed", "added")
"""The names a piece of text may be styled by."""


class Mark(NamedTuple):
    """Characters of a row that are drawn in another style."""

    start: int
    end: int
    style: str


Seen = list[tuple[Row, bool, list[Mark]]]
"""The rows in sight: each with whether its item is marked, and what is marked in it."""


class LinePane(ScrollView, can_focus=True):
    """Shows a document, with a marked item if there is one."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("pane")
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        *(f"line--{name}" for name in STYLES),
        "line--cursor",
        "line--match",
        "line--here",
    }
    GUTTER: ClassVar[int] = 0
    """Cells kept free at the left for the cursor's sign."""
    DEFAULT_CSS = """
    LinePane {
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
        self._document: Document = Paragraphs()
        self._starts: Sequence[int] = (0,)
        self._wrapped_at = 0
        self._drawn_at = 0
        self._at_end = False
        self._placed_at: int | None = None
        self._cursor: int | None = None
        self._rows: dict[int, Rows] = {}
        self._strips: dict[int, Strip] = {}
        self._styles: dict[str, Style] = {}

    # -- content

    def _put(self, document: Document, same: int) -> None:
        """Show a document whose first items are the same, drawn alike."""
        self._forget(same)
        self._document = document
        self._starts, self._wrapped_at = (0,), 0
        if self.scrollable_content_region.width:
            self._lay_out()

    @property
    def cursor(self) -> int | None:
        """The marked item, as an index of what is shown."""
        return self._cursor

    @property
    def document(self) -> Document:
        """What is shown."""
        return self._document

    def _seen(self) -> Seen | None:
        """What is in sight; None while the pane has no rows."""
        if not self.laid_out:
            return None
        top = self.scroll_offset.y
        bottom = min(top + self.size.height, self._starts[-1])
        return [
            (self._row(row), self.at_row(row) == self._cursor, self._marks(row))
            for row in range(top, bottom)
        ]

    def _repaint(self, before: Seen | None) -> None:
        """Draw the rows that are others than before: to draw a row costs more than to know it."""
        after = self._seen()
        if before is None or after is None:
            self.refresh()
            return
        pairs = enumerate(zip_longest(before, after))
        changed = [Region(0, y, self.size.width, 1) for y, (one, other) in pairs if one != other]
        if changed:
            self.refresh(*changed)

    @property
    def laid_out(self) -> bool:
        """Whether it is known where the items are; not so while the pane is hidden."""
        return self._wrapped_at > 0

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """The rows of all there is at a width, for a pane that is as high as that."""
        inside = width - self.styles.scrollbar_size_vertical - self.GUTTER
        return self._document.starts(max(1, inside))[-1]

    def _lay_out(self) -> None:
        width = max(1, self.scrollable_content_region.width - self.GUTTER)
        if width != self._drawn_at:
            self._forget(0)
            self._placed_at = None
        self._wrapped_at = self._drawn_at = width
        self._starts = self._measured(width)
        self._resize_content(Size(width + self.GUTTER, self._starts[-1]))
        self._go_to_place()

    def _measured(self, width: int) -> Sequence[int]:
        """The row at which each item starts, and the number of rows."""
        return self._document.starts(width)

    def _resize_content(self, size: Size) -> None:
        """Take the content's size; the screen is laid out anew only where that can matter.

        Setting `virtual_size` lays the whole screen out, which costs more than all else of a step.
        """
        height = self.styles.height
        bar = size.height > self.container_size.height
        if (height is not None and height.is_auto) or bar != self.show_vertical_scrollbar:
            self.virtual_size = size
            self.call_after_refresh(self._go_to_place)  # only then is the new height known
            return
        self.set_reactive(LinePane.virtual_size, size)
        if bar:
            self.vertical_scrollbar.window_virtual_size = size.height
        self.scroll_y = self.validate_scroll_y(self.scroll_y)

    def _go_to_place(self) -> None:
        """Scroll to the end, or to the cursor, as `show` was told."""
        self._at_end = self._at_end and not self._scrolled_away
        if self._at_end:
            self.scroll_end(animate=False, immediate=True, force=True)
        elif self._cursor is not None:
            self.reveal(self._cursor)
        if self.show_vertical_scrollbar:
            self.vertical_scrollbar.position = self.scroll_y  # the bar may have come later
        self._placed_at = self.scroll_offset.y

    @property
    def _scrolled_away(self) -> bool:
        """Whether one scrolled elsewhere since it went to its place."""
        return self._placed_at is not None and self.scroll_offset.y not in (
            self._placed_at,
            self.max_scroll_y,
        )

    def reveal(self, index: int) -> None:
        """Bring an item into view, in the middle if it was out of it."""
        if not self.laid_out:
            return
        row = self._starts[min(index, len(self._starts) - 1)]
        height = max(1, self.scrollable_content_region.height)
        if not self.scroll_offset.y <= row < self.scroll_offset.y + height:
            self.scroll_to_row(max(0, row - height // 2))

    def scroll_to_row(self, row: int) -> None:
        """Scroll at once, also while the scroll bar that this takes is yet to be laid out."""
        self.scroll_to(y=row, animate=False, immediate=True, force=True)

    def on_resize(self) -> None:
        """Wrap again where the width changed; a hidden pane has no width to wrap to."""
        width = self.scrollable_content_region.width
        if width and width - self.GUTTER != self._wrapped_at:
            self._lay_out()
            self.refresh()  # it may have been drawn before it was known where the items are
        self.call_after_refresh(self._go_to_place)

    def notify_style_update(self) -> None:
        """Forget colours of the theme before."""
        self._styles.clear()
        self._strips.clear()
        super().notify_style_update()

    # -- drawing

    def _forget(self, kept: int) -> None:
        """Drop what was drawn, but for the first items, which are the same as before."""
        last = self._starts[min(kept, len(self._starts) - 1)]
        self._rows = {at: rows for at, rows in self._rows.items() if at < kept}
        self._strips = {at: strip for at, strip in self._strips.items() if at < last}

    def _rows_of(self, index: int) -> Rows:
        found = self._rows.get(index)
        if found is None:
            if len(self._rows) > 512:
                self._rows.clear()
            found = self._rows[index] = rows(self._document[index], self._wrapped_at)
        return found

    def _style(self, name: str) -> Style:
        style = self._styles.get(name)
        if style is None:
            base = self.get_component_rich_style(f"line--{name}") if name else self.rich_style
            style = self._styles[name] = base
        return style

    @property
    def _plain(self) -> bool:
        """Whether the rows have no marks, and so are worth keeping."""
        return self.text_selection is None

    def _marks(self, row: int) -> list[Mark]:
        """What is marked in a row of the document."""
        return []

    def render_line(self, y: int) -> Strip:
        """One row of the visible region."""
        row = y + self.scroll_offset.y
        width = self.scrollable_content_region.width
        known = width == self._wrapped_at + self.GUTTER  # else it is about to be resized
        plain = self._plain and known
        strip = self._strips.get(row) if plain else None
        if strip is None:
            strip = self._drawn(row, width)
            if plain and row < self._starts[-1]:
                self._strips[row] = strip
        return strip

    def _drawn(self, row: int, width: int) -> Strip:
        index = bisect_right(self._starts, row) - 1
        if index < 0 or row >= self._starts[-1]:
            return Strip.blank(width, self._style(""))
        pieces = self._rows_of(index)[row - self._starts[index]]
        ground = self._style("cursor") if index == self._cursor else Style.null()
        segments = [Segment(text, self._style(name) + ground) for text, name in pieces]
        strip = self._marked(Strip(segments), "".join(text for text, _ in pieces), row)
        if self.GUTTER:
            sign = "›" if index == self._cursor else " "
            strip = Strip([Segment(sign, self._style("") + ground), *strip])
        whole = cut_to(strip, width).adjust_cell_length(width, self._style("") + ground)
        return whole.apply_offsets(-self.GUTTER, row)

    def _marked(self, strip: Strip, text: str, row: int) -> Strip:
        """The strip with its marks, and with what is selected."""
        for mark in self._marks(row):
            strip = restyled(strip, mark.start, mark.end, self._style(mark.style))
        selection = self.text_selection
        span = selection.get_span(row) if selection else None
        if span is not None:
            end = len(text) if span[1] == -1 else span[1]
            style = self.screen.get_component_rich_style("screen--selection")
            strip = restyled(strip, span[0], end, style)
        return strip

    def _row(self, row: int) -> Row:
        index = bisect_right(self._starts, row) - 1
        return self._rows_of(index)[row - self._starts[index]]

    def at_row(self, row: int) -> int | None:
        """The item drawn at a row of the document; None below the last."""
        return bisect_right(self._starts, row) - 1 if 0 <= row < self._starts[-1] else None
