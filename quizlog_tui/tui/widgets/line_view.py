"""A pane of many lines, drawn a row at a time: the base of every list that can grow.

Shows a `Document`. Only what is visible is made, wrapped and rendered. Finds, filters and lets one
select text; knows nothing of what the lines mean.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import zip_longest
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.binding import BindingType
from textual.geometry import Offset, Region, Size
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip

from ...text import visible
from ..bindings import bindings
from .documents import Document, Filtered, Paragraphs, Row, rows, unchanged
from .strips import restyled

STYLES = ("prompt", "answer", "error", "good", "warn", "dim", "head", "code", "removed", "added")
"""The names a piece of text may be styled by."""


class LineView(ScrollView, can_focus=True):
    """Shows a document, with a marked item if there is one."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("pane")
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        *(f"line--{name}" for name in STYLES),
        "line--cursor",
        "line--match",
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
    }
    """

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._whole: Document = Paragraphs()
        self._document: Document = self._whole
        self._starts: Sequence[int] = (0,)
        self._wrapped_at = 0
        self._drawn_at = 0
        self._at_end = False
        self._cursor: int | None = None
        self._pattern: re.Pattern[str] | None = None
        self._filtering = False
        self._rows: dict[int, list[Row]] = {}
        self._strips: dict[int, Strip] = {}
        self._styles: dict[str, Style] = {}

    # -- content

    def show(self, document: Document, *, cursor: int | None = None, end: bool = False) -> None:
        """Replace the content; keep the cursor in view, or the end."""
        before = self._seen()
        self._forget(unchanged(self._document, document))
        self._whole, self._at_end = document, end
        self._cursor = cursor
        self._choose()
        self._repaint(before)

    @property
    def cursor(self) -> int | None:
        """The marked item, as an index of what is shown."""
        return self._cursor

    @property
    def document(self) -> Document:
        """What is shown: the whole document, or what the filter leaves of it."""
        return self._document

    def _choose(self) -> None:
        """Take the whole document or the items that match."""
        if self._filtering or isinstance(self._document, Filtered):
            self._forget(0)
        self._document = self._whole
        if self._filtering and self._pattern:
            found = [i for i in range(len(self._whole)) if self._matches(i)]
            self._document = Filtered(self._whole, found)
            if self._cursor is not None:
                self._cursor = max(0, bisect_right(found, self._cursor) - 1)
        self._starts, self._wrapped_at = (0,), 0
        if self.scrollable_content_region.width:
            self._lay_out()

    def _seen(self) -> list[tuple[Row, bool]] | None:
        """The rows in sight, and whether they are marked; None while the pane has no rows."""
        if not self.laid_out:
            return None
        top = self.scroll_offset.y
        bottom = min(top + self.size.height, self._starts[-1])
        return [(self._row(row), self.at_row(row) == self._cursor) for row in range(top, bottom)]

    def _repaint(self, before: list[tuple[Row, bool]] | None) -> None:
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

    def _matches(self, index: int) -> bool:
        return bool(self._pattern and self._pattern.search(self._whole.text(index)))

    def _lay_out(self) -> None:
        width = max(1, self.scrollable_content_region.width - self.GUTTER)
        if width != self._drawn_at:
            self._forget(0)
        self._wrapped_at = self._drawn_at = width
        self._starts = self._document.starts(width)
        self._resize_content(Size(width + self.GUTTER, self._starts[-1]))
        self._go_to_place()

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
        self.set_reactive(LineView.virtual_size, size)
        if bar:
            self.vertical_scrollbar.window_virtual_size = size.height
        self.scroll_y = self.validate_scroll_y(self.scroll_y)

    def _go_to_place(self) -> None:
        """Scroll to the end, or to the cursor, as `show` was told."""
        if self._at_end:
            self.scroll_end(animate=False, immediate=True)
        elif self._cursor is not None:
            self.reveal(self._cursor)

    def reveal(self, index: int) -> None:
        """Bring an item into view, in the middle if it was out of it."""
        if not self.laid_out:
            return
        row = self._starts[min(index, len(self._starts) - 1)]
        height = max(1, self.scrollable_content_region.height)
        if not self.scroll_offset.y <= row < self.scroll_offset.y + height:
            self.scroll_to(y=max(0, row - height // 2), animate=False, immediate=True)

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

    # -- finding

    def find(self, words: str) -> bool:
        """Mark a text everywhere and go to its first place at or after the top; empty ends it."""
        self._pattern = re.compile(re.escape(words), re.IGNORECASE) if words else None
        if self._filtering:
            self._choose()
        self.refresh()
        return not words or self.find_next(1, here=True)

    def find_next(self, by: int, *, here: bool = False) -> bool:
        """Go to the next place (1) or the one before (-1), round the end; whether there is one."""
        count = len(self._document)
        if self._pattern is None or not count:
            return False
        start = self._place()
        for offset in range(0 if here else 1, count + 1):
            index = (start + by * offset) % count
            if self._pattern.search(self._document.text(index)):
                self._go_to_match(index)
                return True
        return False

    def _place(self) -> int:
        """The item a search starts from: the marked one, or the one found last, or the top one."""
        if self._cursor is not None:
            return self._cursor
        return max(0, bisect_right(self._starts, self.scroll_offset.y) - 1)

    def _go_to_match(self, index: int) -> None:
        within = next((n for n, row in enumerate(self._rows_of(index)) if self._hit(row)), 0)
        self._at_end = False
        self.scroll_to(y=self._starts[index] + within, animate=False, immediate=True)

    def _hit(self, row: Row) -> bool:
        return bool(self._pattern and self._pattern.search("".join(text for text, _ in row)))

    def toggle_filter(self) -> bool:
        """Show only items that match what is searched for, or all again; whether it filters now."""
        self._filtering = not self._filtering and self._pattern is not None
        self._choose()
        self.refresh()
        return self._filtering

    @property
    def searching(self) -> bool:
        """Whether something is searched for or filtered."""
        return self._pattern is not None

    def stop_searching(self) -> None:
        """Show everything, nothing marked."""
        self._pattern, self._filtering = None, False
        self._choose()
        self.refresh()

    # -- drawing

    def _forget(self, kept: int) -> None:
        """Drop what was drawn, but for the first items, which are the same as before."""
        last = self._starts[min(kept, len(self._starts) - 1)]
        self._rows = {at: rows for at, rows in self._rows.items() if at < kept}
        self._strips = {at: strip for at, strip in self._strips.items() if at < last}

    def _rows_of(self, index: int) -> list[Row]:
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

    def render_line(self, y: int) -> Strip:
        """One row of the visible region."""
        row = y + self.scroll_offset.y
        width = self.scrollable_content_region.width
        plain = self._pattern is None and self.text_selection is None
        plain = plain and width == self._wrapped_at + self.GUTTER  # else it is about to be resized
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
        return strip.adjust_cell_length(width, self._style("") + ground).apply_offsets(
            -self.GUTTER, row
        )

    def _marked(self, strip: Strip, text: str, row: int) -> Strip:
        """The strip with what was found, and what is selected, made visible."""
        if self._pattern:
            for match in self._pattern.finditer(text):
                strip = restyled(strip, match.start(), match.end(), self._style("match"))
        selection = self.text_selection
        span = selection.get_span(row) if selection else None
        if span is not None:
            end = len(text) if span[1] == -1 else span[1]
            style = self.screen.get_component_rich_style("screen--selection")
            strip = restyled(strip, span[0], end, style)
        return strip

    # -- text

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The selected text, for copying."""
        first = selection.start or Offset(0, 0)
        last = selection.end or Offset(0, self._starts[-1])
        texts = [self._row_text(y) for y in range(first.y, min(last.y + 1, self._starts[-1]))]
        if not texts:
            return None
        if selection.end and last.y < self._starts[-1]:
            texts[-1] = texts[-1][: last.x]
        texts[0] = texts[0][first.x :]
        return "\n".join(text.rstrip() for text in texts), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        """Draw what is selected."""
        self.refresh()

    def _row(self, row: int) -> Row:
        index = bisect_right(self._starts, row) - 1
        return self._rows_of(index)[row - self._starts[index]]

    def at_row(self, row: int) -> int | None:
        """The item drawn at a row of the document; None below the last."""
        return bisect_right(self._starts, row) - 1 if 0 <= row < self._starts[-1] else None

    def _row_text(self, row: int) -> str:
        return "".join(text for text, _ in self._row(row))

    def copy_text(self) -> str:
        """What copying takes where nothing is selected: the marked item, else everything."""
        if self._cursor is not None and self._cursor < len(self._document):
            return self._document[self._cursor].text
        return "\n".join(visible(self._document.text(i)) for i in range(len(self._document)))
