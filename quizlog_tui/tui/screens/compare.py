"""The screen that compares two branches or records, with keys to go through the differences.

A `Comparison` draws two runs side by side, or one below the other in a narrow pane, with one item
per step. `proof.compare` pairs the steps and gives their texts. Differing words are underlined and
enclosed in « », and differing steps have a sign, so that they can be seen without colour. Changes
no record.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate, zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from textual import work
from textual.app import ComposeResult
from textual.widgets import Static

from ...errors import UsageError
from ...files.paths import record_path, typed_path
from ...proof.compare import AlignedRow, Givers, Span, align, changes, words
from ...proof.diverge import first_difference
from ...proof.drift import NOUNS
from ...record.append_only_list import AppendOnlyList
from ...record.lineage import partings
from ...record.who import known_giver, on_branch
from ...replay.replayer import Replayer
from ...replay.transcript import Step, StopPart, Transcript, stop_parts
from ...session.audit import Audit, readable_path
from ...session.reply import BranchInfo
from ...session.session import Session
from ...terminal_text import plain
from ...text import clipped, one_line, plural, told_apart
from ..draw.status import MARKS, STYLES, outcome
from ..toasts import tell
from ..widgets.columns import fitted
from ..widgets.documents import (
    Document,
    Line,
    Row,
    Rows,
    height,
    is_table_row,
    line,
    logical_lines,
    pieces_between,
    safe,
    terminal_pieces,
)
from ..widgets.row_list import MarkedView
from .base import DIALOG, QuizlogScreen

SIDE_BY_SIDE = 70
"""Minimum width in cells for two columns."""
_SIGNS = {"same": "│", "changed": "≠", "only-a": "<", "only-b": ">"}
"""The sign of a row: alike, different, only on the left, only on the right."""
_PARTS: dict[StopPart, str] = {"output": "", "question": "prompt", "answer": "answer"}
"""The parts of a stop that are compared, with their styles."""
_MARKED = ("removed", "added")
"""The styles of differing words, on the left and on the right."""
_WHAT = {"answer": "the answer"} | NOUNS
"""Names of what differs, for sentences."""
_ALIKE = 8
"""Maximum lines of output shown where both runs wrote the same."""
_CONTEXT = 3
"""Equal lines shown before and after lines that differ."""


@dataclass(frozen=True)
class DrawnSide:
    """One of two runs that are compared."""

    name: str
    """A branch, or a record."""
    run: Transcript
    """The run through all its answers."""
    first: int = 0
    """The number of its first step."""
    givers: Givers = field(default_factory=dict)
    """How its answers were given."""


class _First(NamedTuple):
    """The first difference, in words."""

    step: int
    """The step, counted as in the timeline."""
    what: str
    """Such as `the answer`."""
    a: str
    """The left side's version."""
    b: str
    """The right side's version."""


class Comparison(Document):
    """The aligned steps of two runs, left and right. Items are made on demand."""

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
        texts = [_whole_text(step, run) for step, run in self._stops(row)]
        return texts[0] if row.kind == "same" else "\n".join(texts)

    def starts(self, width: int) -> Sequence[int]:
        """The first row of each item, and the number of rows; measured once per width."""
        if width != self._width:
            self._width = width
            self._starts = list(accumulate(map(self._height, range(len(self))), initial=0))
        return self._starts

    def shift(self, cells: int) -> bool:
        """Show more of the right end of tables that are wider than a column, or of the left one."""
        self._left = max(0, min(self._left + cells, self._widest - self._column))
        return True

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
                    marks = (at for at, style in enumerate(styles) if style in _MARKED)
                    yield text, next(marks, None)

    def _stops(self, row: AlignedRow) -> list[tuple[Step, Transcript]]:
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
            text = _whole_text(_shortened(row.a), self.a.run) if row.a else ""
            plain = text.replace("\t", "    ") if text.isascii() else safe(text)
            return self._rows_of(plain)
        if self._width < SIDE_BY_SIDE:
            return sum(self._rows_of(part.text) for _, _, part in self._parts(index))
        return max(self._rows_of(side.text) for side in self._sides(index))

    def _rows_of(self, text: str) -> int:
        """Number of rows of a safe text in a column; rows of tables are not wrapped."""
        return height(text, self._column, unwrapped="tables")

    # -- drawing

    def _sides(self, index: int) -> tuple[Line, Line]:
        """Both texts of a differing row with the differing words marked; cached."""
        if index not in self._changed:
            row = self.rows[index]
            one, other = _marked_sides(row, self.a.run, self.b.run)
            if row.answers_differ:
                one, other = _signed(one, self.a, row.index_a), _signed(other, self.b, row.index_b)
            self._changed[index] = one, other
        return self._changed[index]

    def _alike(self, index: int) -> Line:
        row = self.rows[index]
        return _alone(_shortened(row.a) if row.a else None, self.a.run)

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
            sign = _SIGNS[row.kind] if number == 0 else "│" if row.kind == "same" else "┃"
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
        alike = _part("".join(_shortened(row.a).written), "").pieces if row.a else ()
        if alike and row.a and row.b and row.a.written == row.b.written:
            *others, (text, style) = alike
            yield " ", row.index_a, Line((*others, (text.removesuffix("\n"), style)))
            one, other = (_item(side.pieces[len(alike) :]) for side in (one, other))
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

    def first(self) -> _First | None:
        """The first difference; None if there is none."""
        if not self.differences:
            return None
        row = self.rows[self.differences[0]]
        if row.a and row.b and _shows(row.a) == _shows(row.b) and row.a.input != row.b.input:
            answers = (row.a.input, row.b.input)
            told = ["none yet" if one is None else one or "(empty)" for one in answers]
            return _First(row.index_a or 0, _WHAT["answer"], *told)
        found = first_difference(self.a.run, self.b.run)
        if found is None:
            errors = (self.a.run.last_error, self.b.run.last_error)
            lines = [f"line {error.line}" if error else "none" for error in errors]
            return _First(row.index_a or 0, _WHAT["error"], *lines)
        return _First(found.step, _WHAT[found.what], _said(found.a), _said(found.b))

    def heading(self, width: int) -> str:
        """The names and outcomes of both sides, above their columns or one below the other."""
        one, other = (_side_text(side) for side in (self.a, self.b))
        if width < SIDE_BY_SIDE:
            return f"< {one}\n> {other}"
        half = (width - 3) // 2
        return fitted(one, half) + "   " + fitted(other, half)


def _renumbered(row: AlignedRow, first_a: int, first_b: int) -> AlignedRow:
    """A row with the numbers of the steps where its runs do not begin with step 0."""
    if not first_a and not first_b:
        return row
    index_a, index_b = row.index_a, row.index_b
    return replace(
        row,
        index_a=None if index_a is None else index_a + first_a,
        index_b=None if index_b is None else index_b + first_b,
    )


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


def _branch_line(branch: BranchInfo, name: str, at: int) -> Line:
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


def _said(value: object) -> str:
    return "nothing" if value is None else plain(str(value)).strip() or "(empty)"


def _marked_sides(row: AlignedRow, a: Transcript, b: Transcript) -> tuple[Line, Line]:
    """Both texts of a differing row, with differing words marked if both sides have one."""
    if row.a is None or row.b is None:
        return _alone(row.a, a), _alone(row.b, b)
    left: list[tuple[str, str]] = []
    right: list[tuple[str, str]] = []
    alike = row.a.written == row.b.written
    one, other = row.a, row.b
    one, other = (_shortened(one), _shortened(other)) if alike else _without_equal_lines(one, other)
    both = zip_longest(_texts(one, a), _texts(other, b), fillvalue=("", ""))
    for texts in both:
        part_a, part_b = _drawn_alike(*texts)
        spans_a, spans_b = _differing(part_a, part_b)
        left += _spanned(part_a, spans_a, _MARKED[0])
        right += _spanned(part_b, spans_b, _MARKED[1])
    return _item(left), _item(right)


def _signed(text: Line, side: DrawnSide, at: int | None) -> Line:
    """The text of an answered stop, and who gave the answer if somebody is known."""
    name = known_giver(side.givers.get(at or 0))
    return _item([*text.pieces, (f"\nby {name}", "dim")]) if name else text


class _StopPart(NamedTuple):
    """A part of a stop: what was written, the question, the answer, or the end."""

    pieces: Sequence[tuple[str, str]]
    """Its text as a terminal would show it, in its own colours."""
    style: str
    """The style of what has no colour of its own."""

    @property
    def text(self) -> str:
        """The characters."""
        return "".join(text for text, _ in self.pieces)


def _texts(step: Step, run: Transcript) -> list[tuple[str, str]]:
    """The parts of a stop as they were written, each with its style; a cursor if one is asked."""
    parts = stop_parts(step, run)
    texts = [(parts[kind], style) for kind, style in _PARTS.items()]
    if step.prompt is not None and step.input is None:
        texts[-1] = ("▏", "dim")
    if parts["end"]:
        before = "" if parts["output"][-1:] in ("", "\n") else "\n"
        texts += [(before, ""), (f"{MARKS[run.status]} {parts['end']}", STYLES[run.status])]
    return texts


def _whole_text(step: Step, run: Transcript) -> str:
    """The whole text of a stop."""
    return "".join(part.text for part in _parts(step, run))


def _item(pieces: Sequence[tuple[str, str]]) -> Line:
    """An item of at least one row."""
    return line(*(pieces or [("", "")]))


def _part(text: str, style: str, *, raw: bool = False) -> _StopPart:
    return _StopPart(terminal_pieces(text, style, raw=raw), style)


def _parts(step: Step, run: Transcript) -> list[_StopPart]:
    return [_part(text, style) for text, style in _texts(step, run)]


def _shortened(step: Step) -> Step:
    """A stop that is equal in both runs, with long output shortened."""
    text = "".join(step.written)
    count = text.count("\n")
    if count <= _ALIKE:
        return step
    first = "\n".join(text.split("\n", _ALIKE)[:_ALIKE])
    return replace(step, written=(f"{first}\n… {plural(count - _ALIKE, 'more line')}, alike\n",))


def _without_equal_lines(a: Step, b: Step) -> tuple[Step, Step]:
    """Two stops with different output, reduced to the differing lines and some context."""
    lines_a, lines_b = ("".join(step.written).split("\n") for step in (a, b))
    left: list[str] = []
    right: list[str] = []
    at = 0
    for start_a, end_a, start_b, end_b in changes(lines_a, lines_b):
        equal = _folded(lines_a[at:start_a], _CONTEXT if left or right else 0, _CONTEXT)
        left += [*equal, *lines_a[start_a:end_a]]
        right += [*equal, *lines_b[start_b:end_b]]
        at = end_a
    rest = _folded(lines_a[at:], _CONTEXT, 1)  # the question stands on the last line
    texts = ["\n".join([*lines, *rest]) for lines in (left, right)]
    written = [(text,) if text else () for text in texts]
    return replace(a, written=written[0]), replace(b, written=written[1])


def _folded(lines: Sequence[str], before: int, after: int) -> Sequence[str]:
    """Replace the middle of equal lines by their count."""
    count = len(lines) - before - after
    if count < 2:
        return lines
    return [*lines[:before], f"… {count} lines alike", *lines[len(lines) - after :]]


def _drawn_alike(one: tuple[str, str], other: tuple[str, str]) -> tuple[_StopPart, _StopPart]:
    """Both parts as a terminal would show them, but raw where only escape sequences differ."""
    drawn = _part(*one), _part(*other)
    if one == other or drawn[0].text != drawn[1].text:
        return drawn
    return _part(*one, raw=True), _part(*other, raw=True)


def _alone(step: Step | None, run: Transcript) -> Line:
    """A stop with nothing marked: output, question, answer, end; or the empty place for it."""
    if step is None:
        return Line(())
    return _item([piece for part in _parts(step, run) for piece in part.pieces])


def _differing(one: _StopPart, other: _StopPart) -> tuple[list[Span], list[Span]]:
    """The words to mark; none if a side is empty or the styles differ."""
    if one.style != other.style or not one.text or not other.text:
        return [], []
    return words(one.text, other.text)


def _spanned(whole: _StopPart, spans: Sequence[Span], style: str) -> Iterator[tuple[str, str]]:
    """A part of a stop with some words marked, on each of their lines."""
    at = 0
    for start, end in spans:
        yield from pieces_between(whole.pieces, at, start)
        lines = whole.text[start:end].split("\n")
        for number, part in enumerate(lines):
            if number:
                yield "\n", whole.style
            if part or (not lines[number - 1] and number == len(lines) - 1):
                yield from (("«", whole.style), (part or "⏎", style), ("»", whole.style))
        at = end
    yield from pieces_between(whole.pieces, at, len(whole.text))


_AROUND = 4
"""Cells of border, scroll bar and mark, to measure rows before they are shown."""


def compared_texts(a: str, b: str, names: tuple[str, str], step: int) -> Comparison:
    """Two texts of one step, side by side."""

    def side(name: str, text: str) -> DrawnSide:
        stop = Step("", (text,), "", None, "")
        return DrawnSide(name, Transcript(AppendOnlyList(), stop, "in_progress"), step)

    return Comparison(side(names[0], a), side(names[1], b))


class CompareScreen(QuizlogScreen[int | None]):
    """Shows a comparison; dismisses with a step of the left run to show, or None.

    Args:
        session: The record on the left, to choose another branch from.
        replayer: Makes and cancels its runs.
        found: The comparison shown first.
    """

    SCOPE = "compare"
    DEFAULT_CSS = """
    CompareScreen #heading { height: auto; padding: 0 2; color: $secondary; text-style: bold; }
    CompareScreen #beside { height: 1fr; }
    """

    def __init__(self, session: Session, replayer: Replayer, found: Comparison) -> None:
        super().__init__()
        self._session = session
        self._replayer = replayer
        self._found = found

    def content(self) -> ComposeResult:
        """The names of the sides above their columns."""
        yield Static(id="heading", markup=False)
        yield MarkedView(id="beside")

    def on_mount(self) -> None:
        """Show the first difference."""
        self._show(self._found)
        self._pane.focus()

    @property
    def _pane(self) -> MarkedView:
        return self.query_one(MarkedView)

    def _show(self, found: Comparison) -> None:
        self._found = found
        first = found.differences[0] if found.differences else 0
        found.reveal(first)
        self._pane.show(found, cursor=first)
        self._tell_place(first)
        self.call_after_refresh(self._draw_heading)

    def on_resize(self) -> None:
        """Draw the heading again, since the columns have moved."""
        self.call_after_refresh(self._draw_heading)

    def _draw_heading(self) -> None:
        pane = self._pane
        width = pane.scrollable_content_region.width - pane.GUTTER
        self.query_one("#heading", Static).update(self._found.heading(width))

    def _tell_place(self, index: int) -> None:
        """Show the first difference and the number of the current one in the status line."""
        first, differences = self._found.first(), self._found.differences
        if first is None:
            count = plural(len(self._found.a.run.steps), "answer")
            self.status(f"= no difference: both show the same, {count}")
            return
        a, b = (clipped(text, 24) for text in (first.a, first.b))
        at = f"difference {differences.index(index) + 1} of {len(differences)}"
        self.status(f"≠ first at step {first.step}, {first.what}: {a} | {b} · {at}")

    # -- keys

    def action_difference(self, by: int) -> None:
        """Go to the next (1) or previous (-1) difference."""
        here = self._pane.place(by)
        ahead = [i for i in self._found.differences if (i > here if by > 0 else i < here)]
        if not ahead:
            tell(self, "no more differences that way")
            return
        index = (min if by > 0 else max)(ahead)
        self._found.reveal(index)
        self._pane.mark(index)
        self._tell_place(index)

    def action_look(self) -> None:
        """Go back to the player, at the selected step."""
        index = self._pane.place(1)
        known = (row.index_a for row in reversed(self._found.rows[: index + 1]))
        self.dismiss(next((step for step in known if step is not None), 0))

    @work(group=DIALOG)
    async def action_other(self) -> None:
        """Compare with something else."""
        found = await choose(self, self._session, self._replayer, self._found.a)
        if found is not None:
            self._show(found)

    def cancel(self) -> None:
        """Stop a running script."""
        self._replayer.cancel()


def side_of(session: Session, name: str, run: Transcript) -> DrawnSide:
    """The run of a branch, with who gave its answers."""
    return DrawnSide(name, run, givers=on_branch(session.record, name))


async def choose(
    screen: QuizlogScreen[Any], session: Session, replayer: Replayer, side: DrawnSide
) -> Comparison | None:
    """Ask what to compare a side with, and compare; None if nothing was chosen."""
    others = [branch for branch in session.branches if not branch.active]
    parts = partings(session.record, session.record.branch)
    names = told_apart(session.record.names)
    lines = [
        *(_branch_line(each, names[each.name], parts[each.name].at) for each in others),
        line("  another record...", cut=True),
    ]
    chosen = await screen.choose(f"Compare {side.name} with", lines)
    if chosen is None:
        return None
    if chosen < len(others):
        return await compare_branch(screen, session, side, others[chosen].name)
    wanted = (await screen.ask("Compare with which record? FILE, or FILE@BRANCH") or "").strip()
    if not wanted:
        return None
    return await _compared(screen, side, lambda: _record_side(wanted, replayer, session.audit))


async def compare_branch(
    screen: QuizlogScreen[Any], session: Session, side: DrawnSide, name: str
) -> Comparison | None:
    """Compare a side with a branch; None after an error that was shown."""
    return await _compared(
        screen, side, lambda: side_of(session, name, session.transcript_of(name))
    )


async def choose_step(
    screen: QuizlogScreen[Any], session: Session, whole: Transcript, step: int
) -> Comparison | None:
    """Ask what to compare the output of a step with, and compare; None if nothing was chosen."""
    record = session.record
    others = [name for name in record.names if name != record.branch]
    others = [name for name in others if len(record.path_of(name)) >= step]
    told = told_apart(record.names)
    before = [f"the step before ({step - 1})"] if step else []
    names = [*before, *(f"step {step} on branch {told[name]}" for name in others)]
    if not names:
        tell(screen, "there is no step before, and no other branch has this step")
        return None
    lines = [line(name, cut=True) for name in names]
    question = f"Compare the output of step {step} with"
    chosen = 0 if len(names) == 1 else await screen.choose(question, lines)
    if chosen is None:
        return None
    here = _step_side(f"step {step}", whole, step)
    if chosen < len(before):
        return Comparison(_step_side(f"step {step - 1}", whole, step - 1), here)
    branch = others[chosen - len(before)]
    run = await screen.slow_work.run(lambda: session.transcript_of(branch))
    return None if run is None else Comparison(_step_side(names[chosen], run, step), here)


def _step_side(name: str, run: Transcript, step: int) -> DrawnSide:
    """One step of a run as a run of its own."""
    stop = run.upto(step)
    alone = Transcript(stop.steps.upto(0), stop.last, stop.status, stop.last_error)
    return DrawnSide(name, alone, step)


async def _compared(
    screen: QuizlogScreen[Any], side: DrawnSide, other: Callable[[], DrawnSide]
) -> Comparison | None:
    """Run the other side and lay out both, in a thread; None after an error that was shown."""
    width = screen.size.width - _AROUND

    def compare() -> Comparison:
        found = Comparison(side, other())
        found.starts(width)
        return found

    return await screen.slow_work.run(compare, "comparing")


def _record_side(wanted: str, replayer: Replayer, audit: Audit | None) -> DrawnSide:
    """The run of another record, FILE or FILE@BRANCH, which is not changed.

    Raises:
        QuizlogError: The record or its script cannot be read, or there is no such branch.
    """
    path, branch = readable_path(audit, wanted, _record_path), ""
    if not os.path.exists(path) and "@" in wanted:
        file, _, branch = wanted.rpartition("@")
        path = readable_path(audit, file, _record_path)
    if os.path.isdir(path):
        raise UsageError("is a folder", where=str(path), hint="name a record file in it")
    with Session(path, replayer, save=False, audit=audit) as other:
        name = branch or other.record.branch
        side = side_of(other, name, other.transcript_of(name))
        return replace(side, name=f"{path}@{name}")


def _record_path(wanted: str) -> Path:
    """The record that a user typed, which may be the name of an example."""
    return record_path(str(typed_path(wanted)))
