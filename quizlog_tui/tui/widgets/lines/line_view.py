"""A pane of many lines in which one finds, filters and selects text.

`finding` says which hits there are, `filtered_document` what a filter leaves; here is where one
stands among the hits, and what of them is in sight.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic

from rich.segment import Segment
from textual.geometry import Offset, Size
from textual.selection import Selection
from textual.strip import Strip
from textual.timer import Timer

from ....text import visible
from .documents import Document, Paragraphs, unchanged
from .filtered_document import FilteredDocument
from .finding import Finding, Place
from .hit_rows import HitRows
from .line_pane import LinePane, Mark
from .strips import cut_to

_NOTHING = "no line here has it; Escape shows all"
_SLICE = 0.02
"""Seconds of counting before keys and painting have their turn."""
_PAUSE = 0.01
"""Seconds they have."""


class LineView(LinePane):
    """Shows a document, with a marked item if there is one, and where words are in it."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._whole: Document = Paragraphs()
        self._mark: int | None = None
        self._finding: Finding | None = None
        self._kept: FilteredDocument | None = None
        self._here: Place | None = None
        self._hits: dict[int, HitRows] = {}
        self._counted_at = 0
        self._counting: Timer | None = None
        self._told = ""

    # -- content

    def show(self, document: Document, *, cursor: int | None = None, end: bool = False) -> None:
        """Replace the content; keep the cursor, an index of the document, in view, or the end."""
        before = self._seen()
        same = unchanged(self._whole, document)
        self._whole, self._at_end, self._mark = document, end, cursor
        self._placed_at = None
        if self._finding is not None:
            self._finding.follow(document, same)
        if self._kept is not None:
            same = self._kept.follow(document)
        self._place_cursor()
        self._put(document if self._kept is None else self._kept, same)
        if self._finding is not None and self._here is not None:
            self._here = self._here if self._finding.is_hit(self._here) else None
        self._repaint(before)
        self._tell()

    def whole_index(self, index: int) -> int:
        """An item of what is shown, as an index of the whole document."""
        return index if self._kept is None else self._kept.whole(index)

    def shown_index(self, index: int) -> int:
        """Where an item of the whole document is shown, or one near it if the filter hides it."""
        return index if self._kept is None else self._kept.nearest(index)

    def _point(self, index: int) -> None:
        """Put the cursor on an item of what is shown."""
        self._cursor, self._mark = index, self.whole_index(index)

    def _place_cursor(self) -> None:
        """Put the cursor on the marked item, or one near it if the filter hides it."""
        self._cursor = None if self._mark is None else self.shown_index(self._mark)

    def _measured(self, width: int) -> Sequence[int]:
        """What is found can depend on the width; what a filter leaves does."""
        starts = self._whole.starts(width)
        if self._finding is not None and width != self._counted_at:
            self._finding.follow(self._whole, 0)
        self._counted_at = width
        return self._count() or starts

    def _count(self) -> Sequence[int] | None:
        """Count some more hits, and go on with it soon; where the items left by a filter start."""
        starts, kept = None, self._kept if self.laid_out else None
        if self._counting is not None:
            self._counting.stop()
        if self._finding is not None:
            self._finding.count_on(monotonic() + _SLICE)
            if kept is not None:
                starts = kept.starts(self._wrapped_at)
            if self._finding.more or (kept is not None and kept.more):
                self._counting = self.set_timer(_PAUSE, self._count_on)
        self._place_cursor()
        return starts

    def _count_on(self) -> None:
        before = self._seen()
        starts = self._count()
        if starts is not None:
            self._starts = starts
            self._resize_content(Size(self._wrapped_at + self.GUTTER, starts[-1]))
        self._repaint(before)
        self._tell()

    def _forget(self, kept: int) -> None:
        super()._forget(kept)
        self._hits.clear()

    # -- finding

    def find(self, words: str) -> bool:
        """Mark words everywhere and go to the first from here on; empty ends it."""
        if not words:
            self.stop_searching()
            return True
        self._search(Finding(words, self._whole), filtering=self._kept is not None)
        return self.find_next(1, here=True)

    def find_next(self, by: int, *, here: bool = False) -> bool:
        """Go to the next hit (1) or the one before (-1), round the end; whether there is one.

        Args:
            by: Which way.
            here: Whether the hit where one is will do.
        """
        if self._finding is None:
            return False
        start = self._start(by, here=here)
        return self._go_to_hit(
            self._finding.after(start) if by > 0 else self._finding.before(start)
        )

    def find_from(self, start: Place) -> bool:
        """Go to the first hit from a place on, round the end; whether there is one."""
        return self._finding is not None and self._go_to_hit(self._finding.after(start))

    def after_last_hit(self) -> Place | None:
        """Where the search stands if it has no hit before it but round the end; else None."""
        if self._finding is None:
            return None
        start = self._start(1, here=False)
        place = self._finding.after(start)
        return start if place is None or place < start else None

    def count_in(self, text: str) -> int:
        """How often a text has what is searched for."""
        return 0 if self._finding is None else self._finding.count(text)

    def _go_to_hit(self, place: Place | None) -> bool:
        before = self._seen()
        self._here = place
        if self._here is not None:
            self._at_end = False
            self._go_to(self._here)
        self._repaint(before)
        self._tell()
        return self._here is not None

    def toggle_filter(self) -> bool:
        """Show only what is found, or all again; whether it filters now."""
        if self._finding is not None:
            self._search(self._finding, filtering=self._kept is None)
            if self._here is not None:
                self.call_after_refresh(self._reveal_hit, self._here)
        return self._kept is not None

    @property
    def nothing_left(self) -> bool:
        """Whether the filter hides everything."""
        counted = self._finding is not None and not self._finding.more
        return counted and self._kept is not None and not len(self._kept)

    @property
    def searching(self) -> bool:
        """Whether something is searched for or filtered."""
        return self._finding is not None

    def stop_searching(self) -> None:
        """Show everything, nothing marked."""
        self._search(None, filtering=False)
        self._here = None

    def _search(self, finding: Finding | None, *, filtering: bool) -> None:
        """Search for other words, or none; the rows are laid out anew if there are others."""
        before, filtered = self._seen(), self._kept is not None
        self._finding = finding
        self._kept = FilteredDocument(self._whole, finding) if filtering and finding else None
        self._hits.clear()
        if self._kept is not None:
            self._put(self._kept, 0)
        elif filtered:
            self._put(self._whole, 0)
        else:
            self._count()
        self._repaint(before)
        self._tell()

    def _tell(self) -> None:
        """Say at the pane's edge where one is; to say it paints the pane, so only if it changed."""
        told = "" if self._finding is None else self._finding.describe_place(self._here)
        told += " · filtered" if self._kept is not None else ""
        if told != self._told:
            self._told = self.border_subtitle = told

    # -- from here on

    def _start(self, by: int, *, here: bool) -> Place:
        """Where a search starts: the hit where one is if it is in sight, else what is in sight.

        So it is not lost where the pane cannot scroll on, and one can scroll elsewhere.
        """
        place = self._here
        if place is not None and self._in_sight(self._row_of(place)):
            return Place(place.item, place.at + 1) if by > 0 and not here else place
        top = self.scroll_offset.y
        return self._place_at(top if by > 0 else top + self._height)

    @property
    def _height(self) -> int:
        return max(1, self.scrollable_content_region.height)

    def _in_sight(self, row: int | None) -> bool:
        top = self.scroll_offset.y
        return row is not None and top <= row < top + self._height

    def _go_to(self, place: Place) -> None:
        """Go to a hit."""
        self._reveal_hit(place)

    def _reveal_hit(self, place: Place) -> None:
        """Bring a hit into view, with what stands before it if it was out of it."""
        row = self._row_of(place)
        if row is not None and not self._in_sight(row):
            self.scroll_to_row(max(0, row - self._height // 4))

    def _row_of(self, place: Place) -> int | None:
        """The row of a hit; None if it is not shown."""
        index = self.shown_index(place.item)
        if not self.laid_out or index >= len(self._document):
            return None
        if self.whole_index(index) != place.item:
            return None
        return self._starts[index] + self._hits_in(index).row_of(place.at)

    def _place_at(self, row: int) -> Place:
        """Where a row begins, or the first hit from there on."""
        index = self.at_row(row)
        if index is None:
            return Place(len(self._whole), 0)
        item, within_item = self.whole_index(index), row - self._starts[index]
        at = self._hits_in(index).place_from(within_item) if within_item else 0
        return Place(item + 1, 0) if at is None else Place(item, at)

    def _hits_in(self, index: int) -> HitRows:
        """The hits of an item that is shown; kept."""
        found = self._hits.get(index)
        if found is None and self._finding is not None:
            places = self._finding.hits(self.whole_index(index)).starts
            starts = places if self._kept is None else self._kept.moved(index)
            found = self._hits[index] = HitRows(self._rows_of(index), starts, places)
        return found or HitRows()

    # -- drawing

    def _drawn(self, row: int, width: int) -> Strip:
        """A row; the first says so where the filter leaves none."""
        if row == 0 and self.nothing_left:
            said = Strip([Segment(" " * self.GUTTER + _NOTHING, self._style("dim"))])
            return cut_to(said, width).adjust_cell_length(width, self._style(""))
        return super()._drawn(row, width)

    @property
    def _plain(self) -> bool:
        return self._finding is None and super()._plain

    def _marks(self, row: int) -> list[Mark]:
        """The hits in a row; the one where one is in another style."""
        index = self.at_row(row)
        if self._finding is None or index is None:
            return []
        item, hits = self.whole_index(index), self._hits_in(index)
        if not hits.starts:
            return []
        size = sum(len(text) for text, _ in self._row(row))
        found = hits.within(row - self._starts[index], size, self._finding.length)
        return [
            Mark(start, end, "here" if Place(item, place) == self._here else "match")
            for start, end, place in found
        ]

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

    def _row_text(self, row: int) -> str:
        return "".join(text for text, _ in self._row(row))

    def copy_text(self) -> str:
        """What copying takes where nothing is selected: the marked item, else everything."""
        if self._cursor is not None and self._cursor < len(self._document):
            return self._document[self._cursor].text
        return "\n".join(visible(self._document.text(i)) for i in range(len(self._document)))
