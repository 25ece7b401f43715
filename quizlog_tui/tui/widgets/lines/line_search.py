"""What is searched for in a pane: the words, the hit where one is, what a filter leaves.

`finding` says which hits there are, `filtered_document` what a filter leaves. Knows nothing of what
is in sight; no widgets here.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic

from .documents import Document, Paragraphs, unchanged
from .filtered_document import FilteredDocument
from .finding import Finding, Place

_SLICE = 0.02
"""Seconds of counting before keys and painting have their turn."""


class LineSearch:
    """Searches a document."""

    def __init__(self) -> None:
        self.whole: Document = Paragraphs()
        """The document without a filter."""
        self.here: Place | None = None
        """The hit where one is."""
        self.finding: Finding | None = None
        """What is searched for."""
        self.filtered: FilteredDocument | None = None
        """What the filter leaves, while there is one."""
        self._width = 0

    @property
    def active(self) -> bool:
        """Whether something is searched for."""
        return self.finding is not None

    @property
    def left(self) -> Document:
        """What the filter leaves of the document."""
        return self.whole if self.filtered is None else self.filtered

    @property
    def nothing_left(self) -> bool:
        """Whether the filter hides everything."""
        counted = self.finding is not None and not self.finding.more
        return counted and self.filtered is not None and not len(self.filtered)

    @property
    def description(self) -> str:
        """Where one is among the hits, in a few words; empty if nothing is searched for."""
        said = "" if self.finding is None else self.finding.describe_place(self.here)
        return f"{said} · filtered" if self.filtered is not None else said

    # -- what is searched

    def follow(self, document: Document) -> int:
        """Search another document; how many first items of what is left are as they were."""
        same = unchanged(self.whole, document)
        self.whole = document
        if self.finding is not None:
            self.finding.follow(document, same)
        return same if self.filtered is None else self.filtered.follow(document)

    def stay(self) -> None:
        """Be at no hit if there is none any more where one was."""
        if (
            self.finding is not None
            and self.here is not None
            and not self.finding.is_hit(self.here)
        ):
            self.here = None

    def look_for(self, words: str) -> None:
        """Search for other words, filtering if that was done before; nothing for none."""
        self.finding = Finding(words, self.whole) if words else None
        self.here = self.here if words else None
        self.filter(self.filtered is not None)

    def filter(self, on: bool) -> None:
        """Leave only what is found, or everything."""
        found = self.finding
        self.filtered = FilteredDocument(self.whole, found) if on and found is not None else None

    # -- counting

    def measure(self, width: int) -> Sequence[int]:
        """Where the items start at a width: what is found can depend on it."""
        starts = self.whole.starts(width)
        if self.finding is not None and width != self._width:
            self.finding.follow(self.whole, 0)
        self._width = width
        return starts

    def count_on(self, width: int) -> tuple[Sequence[int] | None, bool]:
        """Count some more hits: where the items that a filter leaves start, and whether more come.

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
        """An item of what is left, as an index of the whole document."""
        return index if self.filtered is None else self.filtered.whole(index)

    def shown_index(self, index: int) -> int:
        """Where an item of the whole document is shown, or one near it if the filter hides it."""
        return index if self.filtered is None else self.filtered.nearest(index)
