"""Draws two runs side by side, or one below the other in a narrow pane, with one item per step.

`proof.compare.align` pairs the steps. Differing words are enclosed in « », and differing steps have
a sign, so that they can be seen without colour or underlining.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, zip_longest

from rich.cells import cell_len
from rich.segment import Segment

from ...proof.compare.align import AlignedRow as Aligned
from ...proof.compare.align import align
from ...proof.diverge import first_difference
from ...replay.transcript import Step, Transcript
from ...session.reply import BranchInfo
from ...terminal_text import plain
from ...text import one_line, plural
from ..widgets.lines.columns import fitted
from ..widgets.lines.documents import Line, line, logical_lines, safe
from ..widgets.lines.table_rows import is_table_row
from ..widgets.lines.wrapping import Row, Rows, height
from .sides import (
    MARKED,
    pieces,
    shortened,
    sides,
    stop_text,
    text_item,
    without_last_newline,
    written_pieces,
)
from .status_signs import STYLES, outcome

SIDE_BY_SIDE = 70
"""Minimum width in cells for two columns."""
SIGNS = {"same": "│", "changed": "≠", "only-a": "<", "only-b": ">"}
"""The sign of a row: alike, different, only on the left, only on the right."""
_WHAT = {
    "answer": "the answer",
    "print": "what is printed",
    "prompt": "the question",
    "error": "the error",
    "outcome": "the outcome",
}


@dataclass(frozen=True)
class DrawnSide:
    """One of two runs that are compared."""

    name: str
    """A branch, or a record."""
    run: Transcript
    """The run through all its answers."""
    first: int = 0
    """The number of its first step."""


@dataclass(frozen=True)
class First:
    """The first difference, in words."""

    row: int
    """Index of its item in the comparison."""
    step: int
    """The step, counted as in the timeline."""
    what: str
    """Such as `the answer`."""
    a: str
    """The left side's version."""
    b: str
    """The right side's version."""


class Comparison:
    """The aligned steps of two runs. Items are made on demand.

    Args:
        a: The run on the left.
        b: The run on the right.
    """

    def __init__(self, a: DrawnSide, b: DrawnSide) -> None:
        self.a = a
        self.b = b
        self.rows = [_renumbered(row, a.first, b.first) for row in align(a.run, b.run)]
        self.differences = _differences([row.kind for row in self.rows])
        """Indexes of the items where a difference begins."""
        self._digits = max(2, len(str(max(side.first + len(side.run.steps) for side in (a, b)))))
        self._changed: dict[int, tuple[Line, Line]] = {}
        self._width = 0
        self._starts: Sequence[int] = (0,)
        self._left = 0

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> Line:
        return _joined(self._drawn(index))

    def numbered(self, index: int) -> Line:
        """An item with a step number on each row; its number of rows is the same."""
        return _joined(self._drawn(index, every=True))

    def text(self, index: int) -> str:
        """The text that a search reads."""
        row = self.rows[index]
        texts = [stop_text(step, run) for step, run in self._stops(row)]
        return texts[0] if row.kind == "same" else "\n".join(texts)

    def starts(self, width: int) -> Sequence[int]:
        """The first row of each item, and the number of rows; measured once per width."""
        if width != self._width:
            self._width = width
            self._starts = list(accumulate(map(self._height, range(len(self))), initial=0))
        return self._starts

    def shift(self, cells: int) -> None:
        """Show more of the right end of tables that are wider than a column, or of the left one."""
        self._left = max(0, min(self._left + cells, self._widest - self._column))

    @cached_property
    def _widest(self) -> int:
        """Cells of the widest row of a table."""
        tables = (text for row in range(len(self)) for text, _ in self._tables(row))
        return max(map(cell_len, tables), default=0)

    def reveal(self, index: int) -> None:
        """Shift tables as far as the first word that differs in an item needs."""
        tables = [(text, mark) for text, mark in self._tables(index) if mark is not None]
        first = min((cell_len(text[:mark]) for text, mark in tables), default=0)
        self._left = max(0, first - self._column * 2 // 3) if first >= self._column - 1 else 0

    def _tables(self, index: int) -> Iterator[tuple[str, int | None]]:
        """The rows of tables in an item, each with the place of the first marked word, if any."""
        same = self.rows[index].kind == "same"
        for side in (self._alike(index),) if same else self._sides(index):
            for row in logical_lines(side.pieces):
                text = "".join(part for part, _ in row)
                if is_table_row(text):
                    styles = [style for part, style in row for _ in part]
                    marks = (at for at, style in enumerate(styles) if style in MARKED)
                    yield text, next(marks, None)

    def _stops(self, row: Aligned) -> list[tuple[Step, Transcript]]:
        """The stops of a row with their runs, left side first."""
        pairs = ((row.a, self.a.run), (row.b, self.b.run))
        return [(step, run) for step, run in pairs if step is not None]

    # -- measuring

    @property
    def _column(self) -> int:
        """Width in cells of one side's text."""
        if self._width >= SIDE_BY_SIDE:
            return (self._width - 3) // 2 - self._digits - 1
        return max(2, self._width - self._digits - 3)

    def _height(self, index: int) -> int:
        row = self.rows[index]
        if row.kind == "same":
            text = stop_text(shortened(row.a), self.a.run) if row.a else ""
            plain = text.replace("\t", "    ") if text.isascii() else safe(text)
            return _rows_of(plain, self._column)
        if self._width < SIDE_BY_SIDE:
            return sum(_rows_of(part.text, self._column) for _, _, part in self._parts(index))
        return max(_rows_of(side.text, self._column) for side in self._sides(index))

    # -- drawing

    def _sides(self, index: int) -> tuple[Line, Line]:
        """Both texts of a differing row with the differing words marked; cached."""
        if index not in self._changed:
            self._changed[index] = sides(self.rows[index], self.a.run, self.b.run)
        return self._changed[index]

    def _alike(self, index: int) -> Line:
        row = self.rows[index]
        return text_item(pieces(shortened(row.a), self.a.run)) if row.a else Line(())

    def _drawn(self, index: int, *, every: bool = False) -> Iterator[Row]:
        """The rows of an item; step numbers on the first row of each text, or on `every` row."""
        drawn = self._beside if self._width >= SIDE_BY_SIDE else self._below
        return drawn(index, every=every)

    def _beside(self, index: int, *, every: bool) -> Iterator[Row]:
        row, width = self.rows[index], self._column
        pair = (self._alike(index),) * 2 if row.kind == "same" else self._sides(index)
        empty = _fitted((), width, 0, None)
        both = zip_longest(*map(self._fitted_rows, pair), fillvalue=empty)
        for number, (one, other) in enumerate(both):
            labels = (row.index_a, row.index_b) if number == 0 or every else (None, None)
            sign = SIGNS[row.kind] if number == 0 else "│" if row.kind == "same" else "┃"
            yield [
                *self._cells(labels[0], one),
                (f" {sign} ", "dim" if row.kind == "same" else "warn"),
                *self._cells(labels[1], other),
            ]

    def _below(self, index: int, *, every: bool) -> Iterator[Row]:
        for sign, label, text in self._parts(index):
            for at, row in enumerate(self._fitted_rows(text)):
                cells = self._cells(label if at == 0 or every else None, row)
                yield [(f"{sign} ", "dim" if sign == " " else "warn"), *cells]

    def _parts(self, index: int) -> Iterator[tuple[str, int | None, Line]]:
        """The texts of a row from top to bottom, each with its sign and its step's number."""
        row = self.rows[index]
        if row.kind == "same":
            yield " ", row.index_a, self._alike(index)
            return
        one, other = self._sides(index)
        alike = written_pieces(shortened(row.a)) if row.a else ()
        if alike and row.a and row.b and row.a.written == row.b.written:
            yield " ", row.index_a, Line(without_last_newline(alike))
            one, other = (text_item(side.pieces[len(alike) :]) for side in (one, other))
        if row.a:
            yield "<", row.index_a, one
        if row.b:
            yield ">", row.index_b, other

    def _fitted_rows(self, text: Line) -> Iterator[Row]:
        """The rows of one side's text; rows of tables are not wrapped."""
        rows = Rows(text.pieces, self._column, unwrapped="tables")
        for at, row in enumerate(rows):
            yield _fitted(row, self._column, self._left, rows.kept(at))

    def _cells(self, number: int | None, row: Row) -> Row:
        """A row of one side: step number, and text."""
        label = "" if number is None else str(number)
        return [(f"{label:>{self._digits}} ", "dim"), *row]

    # -- telling

    def first(self) -> First | None:
        """The first difference; None if there is none."""
        if not self.differences:
            return None
        at = self.differences[0]
        row = self.rows[at]
        if row.a and row.b and _shows(row.a) == _shows(row.b) and row.a.input != row.b.input:
            told = [_answer_text(step.input) for step in (row.a, row.b)]
            return First(at, row.index_a or 0, _WHAT["answer"], *told)
        found = first_difference(self.a.run, self.b.run)
        if found is None:
            lines = [_line_text(run) for run in (self.a.run, self.b.run)]
            return First(at, row.index_a or 0, _WHAT["error"], *lines)
        return First(at, found.step, _WHAT[found.what], _said(found.a), _said(found.b))

    def heading(self, width: int) -> str:
        """The names and outcomes of both sides, above their columns or one below the other."""
        one, other = (_side_text(side) for side in (self.a, self.b))
        if width < SIDE_BY_SIDE:
            return f"< {one}\n> {other}"
        half = (width - 3) // 2
        return fitted(one, half) + "   " + fitted(other, half)


def _renumbered(row: Aligned, first_a: int, first_b: int) -> Aligned:
    """A row with the numbers of the steps where its runs do not begin with step 0."""
    if not first_a and not first_b:
        return row
    index_a, index_b = row.index_a, row.index_b
    return replace(
        row,
        index_a=None if index_a is None else index_a + first_a,
        index_b=None if index_b is None else index_b + first_b,
    )


def _rows_of(text: str, width: int) -> int:
    """Number of rows of a safe text; rows of tables are not wrapped."""
    return height(text, width, unwrapped="tables")


def _joined(found: Iterator[Row]) -> Line:
    """One item that wraps exactly at these rows."""
    joined: list[tuple[str, str]] = []
    for row in found:
        joined += [*([("\n", "")] if joined else []), *row]
    return Line(tuple(joined))


def _differences(kinds: Sequence[str]) -> list[int]:
    """Indexes of the differences; consecutive steps that only one side has count as one."""
    before = ["same", *kinds]
    return [
        at
        for at, kind in enumerate(kinds)
        if kind == "changed" or (kind != "same" and kind != before[at])
    ]


def branch_line(branch: BranchInfo, name: str, at: int) -> Line:
    """A branch to compare with, its name as shown, and where it parts from the active one."""
    return line(
        f"  {name}  ",
        (outcome(branch.status, branch.score), STYLES[branch.status]),
        (f"  parts at step {at}", "dim"),
        cut=True,
    )


def _fitted(row: Sequence[tuple[str, str]], width: int, left: int, kept: int | None) -> Row:
    """A row padded to a width; a row of a table is shifted and cut, with a sign where it is.

    Args:
        row: The row, uncut.
        width: Cells it fills.
        left: How many cells it is shifted.
        kept: The cells of its first column, which stays; None if it is no row of a table.
    """
    end = cell_len("".join(text for text, _ in row).rstrip())
    if kept is not None and (left or end > width):
        still = kept if kept <= width // 2 else 0
        row = [
            *_between(row, 0, still if left else 0),
            *([("…", "dim")] if left else []),
            *_between(row, still + left + 1 if left else 0, left + width - (end > left + width)),
            *([("…", "dim")] if end > left + width else []),
        ]
    cut = _between(row, 0, width)  # a space at the edge may overlap it unseen
    return [*cut, (" " * (width - sum(cell_len(part) for part, _ in cut)), "")]


def _between(row: Sequence[tuple[str, str]], start: int, end: int) -> Row:
    """The part of a row from one cell to another; half a wide character is a space."""
    found: Row = []
    at = 0
    for text, style in row:
        size = cell_len(text)
        if at < end and at + size > start:
            kept = Segment(text).split_cells(max(0, start - at))[1] if at < start else Segment(text)
            kept = kept.split_cells(end - max(at, start))[0]
            found.append((kept.text, style))
        at += size
    return found


def _side_text(side: DrawnSide) -> str:
    state = outcome(side.run.status, side.run.score)
    return f"{one_line(side.name)}  {state}, {plural(len(side.run.steps), 'answer')}"


def _shows(step: Step) -> tuple[tuple[str, ...], str | None]:
    return step.written, step.prompt


def _answer_text(answer: str | None) -> str:
    return "none yet" if answer is None else answer or "(empty)"


def _line_text(run: Transcript) -> str:
    return f"line {run.last_error.line}" if run.last_error else "none"


def _said(value: object) -> str:
    return "nothing" if value is None else plain(str(value)).strip() or "(empty)"
