"""What a `LineView` shows: items of styled text, broken into rows of cells. No widgets here.

A document makes an item only when it is looked at, and knows at which row each item starts. All
text becomes safe to show in `line`, so no caller can forget it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple, Protocol

from ....text import visible
from .wrapping import Row, Rows

TAB = "    "
"""What a tab is drawn as."""


class Line(NamedTuple):
    """One item: pieces of safe text, each with the name of its style; may hold newlines."""

    pieces: tuple[tuple[str, str], ...]
    cut: bool = False
    """Whether it is cut at the right edge instead of wrapped."""

    @property
    def text(self) -> str:
        """The characters without their styles."""
        return "".join(text for text, _ in self.pieces)


def line(*pieces: str | tuple[str, str], cut: bool = False) -> Line:
    """An item from plain texts and (text, style name) pairs, made safe to show."""
    pairs = ((piece, "") if isinstance(piece, str) else piece for piece in pieces)
    return Line(tuple((safe(text), style) for text, style in pairs), cut)


def safe(text: str) -> str:
    """Foreign text as it is drawn: nothing that steers a terminal, tabs as spaces."""
    return visible(text).replace("\t", TAB)


class Document(Protocol):
    """A sequence of items that knows where each starts."""

    def __len__(self) -> int:
        """How many items there are."""

    def __getitem__(self, index: int) -> Line:
        """One item."""

    def text(self, index: int) -> str:
        """What a search looks through."""

    def starts(self, width: int) -> Sequence[int]:
        """The row at which each item starts, and after the last one the number of rows."""


class Paragraphs:
    """Items at hand, wrapped: for what is not long."""

    def __init__(self, lines: Sequence[Line] = ()) -> None:
        self._lines = lines

    def __len__(self) -> int:
        return len(self._lines)

    def __getitem__(self, index: int) -> Line:
        return self._lines[index]

    def text(self, index: int) -> str:
        """What a search looks through."""
        return self._lines[index].text

    def starts(self, width: int) -> Sequence[int]:
        """The row at which each item starts, and the number of rows."""
        return list(accumulate((len(rows(item, width)) for item in self._lines), initial=0))


class Table:
    """Any number of items of one row each, made when they are looked at."""

    def __init__(self, length: int, make: Callable[[int], Line]) -> None:
        self._length = length
        self._make = make

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, index: int) -> Line:
        return self._make(index)

    def text(self, index: int) -> str:
        """What a search looks through."""
        return self._make(index).text

    def starts(self, width: int) -> Sequence[int]:
        """The row at which each item starts, and the number of rows."""
        return range(self._length + 1)


def unchanged(before: Document, after: Document) -> int:
    """How many first items of two documents are known to be the same, drawn alike."""
    shares = getattr(after, "shares", None)
    return shares(before) if shares else 0


def numbered(document: Document, index: int) -> Line:
    """An item with the number of its step on each line, if the document has `numbered` for that."""
    make = getattr(document, "numbered", document.__getitem__)
    item: Line = make(index)
    return item


def name_lines(item: Line, name: str) -> Line:
    """A text with a name before each of its lines."""
    pieces = [
        piece for one in logical_lines(item.pieces) for piece in (("\n", ""), (name, "dim"), *one)
    ]
    return Line(tuple(pieces[1:]))


def rows(item: Line, width: int) -> Rows:
    """An item broken into rows of at most `width` cells, at spaces where there are any."""
    if item.cut:
        return Rows([(text.replace("\n", "⏎"), style) for text, style in item.pieces], None)
    return Rows(item.pieces, width)


def logical_lines(pieces: Sequence[tuple[str, str]]) -> Iterator[Row]:
    """The pieces parted at their newlines."""
    current: Row = []
    for text, style in pieces:
        first, *others = text.split("\n")
        current.append((first, style))
        for other in others:
            yield current
            current = [(other, style)]
    yield current
