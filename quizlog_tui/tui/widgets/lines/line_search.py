"""The search in a pane: the words, the current hit and the filter.

`finding` finds the hits, and `filtered_document` filters. Knows nothing about the visible part;
uses no widgets.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic

from .documents import Document, Paragraphs, unchanged
from .filtered_document import FilteredDocument
from .finding import Finding, Place

_SLICE = 0.02
"""Maximum seconds of counting before keys and painting get their turn."""


class LineSearch:
    """Searches a document."""

    def __init__(self) -> None:
        self.whole: Document = Paragraphs()
        """The document without a filter."""
        self.here: Place | None = None
        """The current hit."""
        self.finding: Finding | None = None
        """The search."""
        self.filtered: FilteredDocument | None = None
        """The filtered document, while the filter is on."""
        self._width = 0

    @property
    def active(self) -> bool:
        """Whether a search is active."""
        return self.finding is not None

    @property
    def left(self) -> Document:
        """The document, filtered if the filter is on."""
        return self.whole if self.filtered is None else self.filtered

    @property
    def nothing_left(self) -> bool:
        """Whether the filter hides everything."""
        counted = self.finding is not None and not self.finding.more
        return counted and self.filtered is not None and not len(self.filtered)

    @property
    def description(self) -> str:
        """The position among the hits in a few words; empty without a search."""
        said = "" if self.finding is None else self.finding.describe_place(self.here)
        return f"{said} · filtered" if self.filtered is not None else said

    # -- what is searched

    def follow(self, document: Document) -> int:
        """Search another document; the number of unchanged leading items."""
        same = unchanged(self.whole, document)
        self.whole = document
        if self.finding is not None:
            self.finding.follow(document, same)
        return same if self.filtered is None else self.filtered.follow(document)

    def stay(self) -> None:
        """Clear the current hit if it no longer exists."""
        if (
            self.finding is not None
            and self.here is not None
            and not self.finding.is_hit(self.here)
        ):
            self.here = None

    def look_for(self, words: str) -> None:
        """Search for other words, keeping the filter on; empty words end the search."""
        self.finding = Finding(words, self.whole) if words else None
        self.here = self.here if words else None
        self.filter(self.filtered is not None)

    def filter(self, on: bool) -> None:
        """Turn the filter on or off."""
        found = self.finding
        self.filtered = FilteredDocument(self.whole, found) if on and found is not None else None

    # -- counting

    def measure(self, width: int) -> Sequence[int]:
        """The first row of each item at a width."""
        starts = self.whole.starts(width)
        if self.finding is not None and width != self._width:
            self.finding.follow(self.whole, 0)
        self._width = width
        return starts

    def count_on(self, width: int) -> tuple[Sequence[int] | None, bool]:
        """Count more hits; returns the first rows of filtered items, and whether to continue.

        Args:
            width: Cells of a row; 0 while it is not known, when nothing is measured.
        """
        if self.finding is None:
            return None, False
        self.finding.count_on(monotonic() + _SLICE)
        if self.filtered is None or not width:
            return None, self.finding.more
        starts = self.filtered.starts(width)
        return starts, self.finding.more or self.filtered.more

    # -- items

    def whole_index(self, index: int) -> int:
        """The index in the whole document of a visible item."""
        return index if self.filtered is None else self.filtered.whole(index)

    def shown_index(self, index: int) -> int:
        """The visible index of an item of the whole document, or of a near one if it is hidden."""
        return index if self.filtered is None else self.filtered.nearest(index)
