"""The content of a `LineView`: items of styled text, and the rows of cells that they wrap into.

A document creates items on demand and knows the first row of each. `line` and `terminal_pieces`
make all text safe to show, so that no caller can forget it. Lines break at spaces if possible; rows
of tables stay whole, and lines of more than `LONG` characters break after a fixed number of
characters, so that their rows are known without a search. Uses no widgets.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Literal, NamedTuple, overload

from rich.cells import cell_len, chop_cells

from ...terminal_text import settle
from ...text import visible

TAB = "    "
"""What a tab is drawn as."""
SGR = "sgr "
"""Begins the name of a style that a script chose; the parameters of SGR follow."""
Unwrapped = Literal["", "tables", "all"]
"""Which lines are cut at the right edge: none, rows of tables, or all but those of over `LONG`."""


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


class Document(ABC):
    """A sequence of items that knows the first row of each."""

    @abstractmethod
    def __len__(self) -> int:
        """How many items there are."""

    @abstractmethod
    def __getitem__(self, index: int) -> Line:
        """One item."""

    def text(self, index: int) -> str:
        """The text that a search reads."""
        return self[index].text

    def starts(self, width: int) -> Sequence[int]:
        """The first row of each item, then the number of rows; each item is one row by default."""
        return range(len(self) + 1)

    def numbered(self, index: int) -> Line:
        """An item with its step number on each line, if the document has steps."""
        return self[index]

    def shared_with(self, before: Document) -> int:
        """Number of leading items known to be the same and drawn alike in another document."""
        return 0

    def shift(self, cells: int) -> bool:
        """Show more of the right end of what is cut, or of the left one; whether it does that."""
        return False


class Paragraphs(Document):
    """Wrapped items in memory, for short documents."""

    def __init__(self, lines: Sequence[Line] = ()) -> None:
        self._lines = lines

    def __len__(self) -> int:
        return len(self._lines)

    def __getitem__(self, index: int) -> Line:
        return self._lines[index]

    def starts(self, width: int) -> Sequence[int]:
        """The first row of each item, and the number of rows."""
        return list(accumulate((len(rows(item, width)) for item in self._lines), initial=0))


class Table(Document):
    """Any number of one-row items, created on demand."""

    def __init__(self, length: int, make: Callable[[int], Line]) -> None:
        self._length = length
        self._make = make

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, index: int) -> Line:
        return self._make(index)


class StackedDocuments(Document):
    """The items of several documents, one after the other."""

    def __init__(self, *parts: Document) -> None:
        self._parts = parts
        self._firsts = list(accumulate((len(part) for part in parts), initial=0))

    def _find(self, index: int) -> tuple[Document, int]:
        at = bisect_right(self._firsts, index) - 1
        return self._parts[at], index - self._firsts[at]

    def __len__(self) -> int:
        return self._firsts[-1]

    def __getitem__(self, index: int) -> Line:
        part, inside = self._find(index)
        return part[inside]

    def numbered(self, index: int) -> Line:
        """An item with the number of its step on each line, if its document has steps."""
        part, inside = self._find(index)
        return part.numbered(inside)

    def text(self, index: int) -> str:
        """The text that a search reads."""
        part, inside = self._find(index)
        return part.text(inside)

    def starts(self, width: int) -> Sequence[int]:
        """The row at which each item starts, and the number of rows."""
        found = [0]
        for part in self._parts:
            top = found.pop()
            found += [top + start for start in part.starts(width)]
        return found


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


Pieces = list[tuple[str, str]]
"""Pieces of text, each with the name of its style."""


def terminal_pieces(text: str, style: str, *, raw: bool) -> Pieces:
    """A text in pieces, with a style where it has none of its own."""
    if raw:
        return [(safe(text), style)]
    return [
        (shown.replace("\t", TAB), f"{SGR}{own}" if own else style) for shown, own in settle(text)
    ]


def pieces_between(pieces: Sequence[tuple[str, str]], start: int, end: int) -> Pieces:
    """The pieces between two offsets of their text."""
    found: Pieces = []
    at = 0
    for text, style in pieces:
        part = text[max(0, start - at) : max(0, end - at)]
        at += len(text)
        if part:
            found.append((part, style))
    return found


def rows(item: Line, width: int) -> Rows:
    """Wrap an item into rows of at most `width` cells, at spaces if possible."""
    if item.cut:
        return Rows([(text.replace("\n", "⏎"), style) for text, style in item.pieces], None)
    return Rows(item.pieces, width, unwrapped=item.unwrapped)


# -- wrapping

Row = list[tuple[str, str]]
"""The pieces in one row of the screen."""
_Pieces = Sequence[tuple[str, str]]
"""_Pieces of text, each with the name of its style."""
LONG = 10_000
"""Lines with more characters are not broken at spaces."""
_TABLE = 200
"""Rows of a table, before and after one, that its first column is measured by."""
_NOT_NARROW = re.compile("[^ -~\u00a0-\u02ff\u0370-\u0482\u2500-\u25ff]")
"""Characters that may not be exactly one cell wide."""


class Rows(Sequence[Row]):
    """The rows of a safe text, each of at most `width` cells plus a space at the edge.

    Args:
        pieces: The text; may hold newlines.
        width: Cells of a row; None for rows as long as the lines are.
        unwrapped: Which lines stay one row, however long: see `Unwrapped`.
    """

    def __init__(self, pieces: _Pieces, width: int | None, *, unwrapped: Unwrapped = "") -> None:
        self._pieces = pieces
        self._ends = list(accumulate((len(text) for text, _ in pieces), initial=0))
        self._width = width
        self._unwrapped = unwrapped
        self._lines = _lines(pieces)
        self._offsets = list(accumulate((len(one) + 1 for one in self._lines), initial=0))
        self._firsts = _first_rows(self._lines, width, unwrapped)
        self._begun: tuple[int, Sequence[int]] = (-1, ())
        self._table, self._first_column = range(0), 0

    def __len__(self) -> int:
        return self._firsts[-1]

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> list[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | list[Row]:
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        return self._cut(*self._span(index % len(self)))

    def begin(self, index: int) -> int:
        """Number of characters before a row, including newlines."""
        return self._span(index)[0]

    def row_of(self, at: int) -> int:
        """The row of a character."""
        nth = bisect_right(self._offsets, at, hi=len(self._lines)) - 1
        begins = self._begins(nth)
        return self._firsts[nth] + bisect_right(begins, at - self._offsets[nth]) - 1

    def kept(self, index: int) -> int | None:
        """The cells of a row that stay when one scrolls sideways; None if all of it stays."""
        nth = bisect_right(self._firsts, index) - 1
        if self._width is None:
            return 0
        if not _stays_whole(self._lines[nth], self._unwrapped):
            return None
        if nth not in self._table:
            self._table = self._table_around(nth)
            self._first_column = first_column([self._lines[at] for at in self._table])
        return self._first_column

    def _table_around(self, nth: int) -> range:
        """The rows of the table that a line belongs to; the line alone if it is in none."""
        start, end = nth, nth + 1
        while start > max(0, nth - _TABLE) and is_table_row(self._lines[start - 1]):
            start -= 1
        while end < min(len(self._lines), nth + _TABLE) and is_table_row(self._lines[end]):
            end += 1
        return range(start, end) if is_table_row(self._lines[nth]) else range(nth, nth + 1)

    def _span(self, index: int) -> tuple[int, int]:
        """The start and end of a row in the text."""
        nth = bisect_right(self._firsts, index) - 1
        begins, inside = self._begins(nth), index - self._firsts[nth]
        last = inside + 1 == len(begins)
        end = len(self._lines[nth]) if last else begins[inside + 1]
        return self._offsets[nth] + begins[inside], self._offsets[nth] + end

    def _begins(self, nth: int) -> Sequence[int]:
        """The offsets of a line's rows; cached for the last line used."""
        if self._begun[0] != nth:
            self._begun = nth, _row_begins(self._lines[nth], self._width, self._unwrapped)
        return self._begun[1]

    def _cut(self, start: int, end: int) -> Row:
        found: Row = []
        for nth in range(max(0, bisect_right(self._ends, start) - 1), len(self._pieces)):
            begin = self._ends[nth]
            if begin >= end:
                break
            text, style = self._pieces[nth]
            part = text[max(0, start - begin) : end - begin]
            if part:
                found.append((part, style))
        return found


def _lines(pieces: _Pieces) -> list[str]:
    """The lines of a text; only lines that span pieces are joined, to avoid copies."""
    found: list[str] = []
    for text, _ in pieces:
        first, *others = text.split("\n")
        found[-1:] = [found[-1] + first if found else first]
        found += others
    return found


def height(text: str, width: int, *, unwrapped: Unwrapped = "") -> int:
    """Number of rows of a safe text; in ASCII each character takes one cell, escaped or not."""
    return _first_rows(text.split("\n"), width, unwrapped)[-1]


def _first_rows(lines: Sequence[str], width: int | None, unwrapped: Unwrapped) -> Sequence[int]:
    """The first row of each line, then the number of rows."""
    if width is None or all(len(one) <= width and one.isascii() for one in lines):
        return range(len(lines) + 1)
    return list(accumulate((_row_count(one, width, unwrapped) for one in lines), initial=0))


def _row_count(text: str, width: int, unwrapped: Unwrapped) -> int:
    if len(text) <= width and text.isascii():
        return 1
    return len(_row_begins(text, width, unwrapped))


def _row_begins(text: str, width: int | None, unwrapped: Unwrapped) -> Sequence[int]:
    if width is None or _stays_whole(text, unwrapped):
        return (0,)
    narrow = text.isascii() or not _NOT_NARROW.search(text)
    if len(text) > LONG:
        return range(0, len(text), width if narrow else max(1, width // 2))
    return [0, *_breaks(text, width, narrow=narrow)]


def _stays_whole(text: str, unwrapped: Unwrapped) -> bool:
    if not unwrapped or len(text) > LONG:  # a longer one costs too much to draw at once
        return False
    return unwrapped == "all" or is_table_row(text)


def _breaks(text: str, width: int, *, narrow: bool) -> list[int]:
    """Where the rows after the first begin.

    A row ends behind its last space, unless that would leave half of it empty. A space at the edge
    is not seen, and must not begin the next row.
    """
    begins = _narrow_breaks(text, width) if narrow else [*_wide_breaks(text, width)]
    if begins and begins[-1] == len(text):
        begins.pop()
    return begins


def _narrow_breaks(text: str, width: int) -> list[int]:
    return [row.end() for row in _full_row(width).finditer(text)]


@lru_cache(maxsize=8)
def _full_row(width: int) -> re.Pattern[str]:
    """A row of narrow characters that more than so many are left for."""
    row = rf".{{{width}}} |.{{{width // 2},{width - 1}}} |.{{{width}}}"
    return re.compile(rf"(?=.{{{width + 1}}})(?:{row})", re.DOTALL)


def _wide_breaks(text: str, width: int) -> Iterator[int]:
    at = 0
    while cell_len(rest := text[at : at + width + 1]) > width:
        size = len(chop_cells(rest, width)[0])
        space = text.rfind(" ", at, at + size) + 1
        if text[at + size] == " ":
            size += 1
        elif space - at > size // 2:
            size = space - at
        at += size
        yield at


# -- tables

_BARS = re.compile(r"[ «]*[|│┃║](.*[|│┃║])?[ »]*")
_RULE = re.compile(r"[ «]*[+┌├└┏┡┠┗╭╰╒╞╘╔╠╟╚─━═][-=+─━═┬┼┴┳╋┻╤╪╧╦╬╩╇╈┯┿┷┐┤┘┓┩┨┛╮╯╕╡╛╗╣╢╝«»]+ *")
_GAP = re.compile(r"(?<=[^ ]) {2,}(?=[^ ])")
_GAPS = 3
"""Gaps between words from which on a line stands in columns."""
_FIRST = re.compile(r"[ «]*[|│┃║].*?[|│┃║]»?")
_WORDS = re.compile(r"[^ ]+(?: [^ ]+)*")


def is_table_row(line: str) -> bool:
    """Whether a line is a row between bars, a rule of a table, or stands in several columns."""
    if _BARS.fullmatch(line) or _RULE.fullmatch(line):
        return True
    if "  " not in line:  # much faster than to look for what is around them
        return False
    gaps = _GAP.finditer(line)
    return sum(1 for _, _ in zip(range(_GAPS), gaps, strict=False)) == _GAPS


def first_column(rows: Sequence[str]) -> int:
    """The cells of the first column of a table, with what ends it; 0 if it has only one."""
    barred = next((row for row in rows if _BARS.fullmatch(row)), None)
    if barred is not None:
        first = _FIRST.match(barred)
        return cell_len(first[0]) if first and first[0] != barred.rstrip() else 0
    words = sorted(
        (cell_len(row[: each.start()]), cell_len(row[: each.end()]))
        for row in rows
        if not _RULE.fullmatch(row)
        for each in _WORDS.finditer(row)
    )
    return next(_gaps(words), 0)


def _gaps(words: Sequence[tuple[int, int]]) -> Iterator[int]:
    """Where columns end: the cells before each gap that is one in all rows."""
    reach = words[0][1] if words else 0
    for start, end in words:
        if start >= reach + 2:
            yield reach + 2
        reach = max(reach, end)
