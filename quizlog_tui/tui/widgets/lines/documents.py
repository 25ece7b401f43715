"""The content of a `LineView`: items of styled text, wrapped into rows of cells. No widgets.

A document creates items on demand and knows the first row of each. `line` makes all text safe to
show, so that no caller can forget it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple, Protocol

from ....text import visible
from .wrapping import Row, Rows, Unwrapped

TAB = "    "
"""What a tab is drawn as."""


class Line(NamedTuple):
    """One item: pieces of safe text, each with the name of its style; may hold newlines."""

    pieces: tuple[tuple[str, str], ...]
    cut: bool = False
    """Whether it is cut at the right edge instead of being wrapped."""
    unwrapped: Unwrapped = ""
    """Which of its lines are cut instead of wrapped, each still in a row of its own."""

    @property
    def text(self) -> str:
        """The characters without their styles."""
        return "".join(text for text, _ in self.pieces)


def line(*pieces: str | tuple[str, str], cut: bool = False) -> Line:
    """Make an item from texts and (text, style name) pairs; all text is made safe to show."""
    pairs = ((piece, "") if isinstance(piece, str) else piece for piece in pieces)
    return Line(tuple((safe(text), style) for text, style in pairs), cut)


def safe(text: str) -> str:
    """Make a text safe to draw: no terminal control characters, tabs as spaces."""
    return visible(text).replace("\t", TAB)


class Document(Protocol):
    """A sequence of items that knows the first row of each."""

    def __len__(self) -> int:
        """How many items there are."""

    def __getitem__(self, index: int) -> Line:
        """One item."""

    def text(self, index: int) -> str:
        """The text that a search reads."""

    def starts(self, width: int) -> Sequence[int]:
        """The first row of each item, then the number of rows."""


class Paragraphs:
    """Wrapped items in memory, for short documents."""

    def __init__(self, lines: Sequence[Line] = ()) -> None:
        self._lines = lines

    def __len__(self) -> int:
        return len(self._lines)

    def __getitem__(self, index: int) -> Line:
        return self._lines[index]

    def text(self, index: int) -> str:
        """The text that a search reads."""
        return self._lines[index].text

    def starts(self, width: int) -> Sequence[int]:
        """The first row of each item, and the number of rows."""
        return list(accumulate((len(rows(item, width)) for item in self._lines), initial=0))


class Table:
    """Any number of one-row items, created on demand."""

    def __init__(self, length: int, make: Callable[[int], Line]) -> None:
        self._length = length
        self._make = make

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, index: int) -> Line:
        return self._make(index)

    def text(self, index: int) -> str:
        """The text that a search reads."""
        return self._make(index).text

    def starts(self, width: int) -> Sequence[int]:
        """The first row of each item, and the number of rows."""
        return range(self._length + 1)


def unchanged(before: Document, after: Document) -> int:
    """Number of leading items known to be the same and drawn alike in both documents."""
    shares = getattr(after, "shares", None)
    return shares(before) if shares else 0


def end_alike(before: Document, after: Document) -> bool:
    """Whether two documents have as many items, and the same last one."""
    last = len(after) - 1
    return len(before) == last + 1 and (last < 0 or before[last] == after[last])


def numbered(document: Document, index: int) -> Line:
    """An item with its step number on each line, if the document supports that."""
    make = getattr(document, "numbered", document.__getitem__)
    item: Line = make(index)
    return item


def name_lines(item: Line, name: str) -> Line:
    """Prefix each line of a text with a name."""
    pieces = [
        piece for one in logical_lines(item.pieces) for piece in (("\n", ""), (name, "dim"), *one)
    ]
    return Line(tuple(pieces[1:]), unwrapped=item.unwrapped)


def rows(item: Line, width: int) -> Rows:
    """Wrap an item into rows of at most `width` cells, at spaces if possible."""
    if item.cut:
        return Rows([(text.replace("\n", "⏎"), style) for text, style in item.pieces], None)
    return Rows(item.pieces, width, unwrapped=item.unwrapped)


def logical_lines(pieces: Sequence[tuple[str, str]]) -> Iterator[Row]:
    """Split the pieces at newlines."""
    current: Row = []
    for text, style in pieces:
        first, *others = text.split("\n")
        current.append((first, style))
        for other in others:
            yield current
            current = [(other, style)]
    yield current
