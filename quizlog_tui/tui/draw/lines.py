"""Draws the lines that ran between two answers, with loops folded. Pure; uses no widgets."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from rich.cells import cell_len

from ...debug.inspection import LineEvent, Trace, file_of
from ...replay.script.source import Source
from ...text import clipped, one_line
from ..widgets.columns import GAP, Grid, Layout
from ..widgets.documents import Line, line

_LEAST = 3
"""How often the first line of a loop runs at least where the loop is folded."""
_MOST_DEPTH = 12
"""Maximum depth that is shown by indentation."""
_INDENT = 2
_NUMBER = 6
"""Cells of the sign and the number of a line."""
_ROW = "row"
"""The one column of the rows."""
_WIDEST = 1000
"""Cells of a row whose text is searched."""


@dataclass(frozen=True)
class LineRow:
    """A line that ran, or a loop that is folded or begins here."""

    at: int
    """The index of its event."""
    times: int = 0
    """How often the loop that begins here went round; 0 for a single line."""
    level: int = 0
    """Number of open loops around it."""


def line_rows(trace: Trace, opened: Collection[int]) -> list[LineRow]:
    """The rows of a trace.

    Args:
        trace: The lines that ran.
        opened: The loops that are open, each by the index of its first event.
    """
    events = trace.events
    return list(_folded(_next_runs(events), range(len(events)), opened, 0))


def _next_runs(events: Sequence[LineEvent]) -> list[int]:
    """For each event the next one of the same line in the same call; -1 if there is none."""
    found = [-1] * len(events)
    known: list[dict[tuple[str, int], int]] = []
    for at in range(len(events) - 1, -1, -1):
        event = events[at]
        del known[event.depth + 1 :]  # an earlier call that was as deep is another one
        known += ({} for _ in range(event.depth + 1 - len(known)))
        place = (event.file, event.line)
        found[at] = known[event.depth].get(place, -1)
        known[event.depth][place] = at
    return found


def _folded(
    following: Sequence[int], part: range, opened: Collection[int], level: int
) -> Iterator[LineRow]:
    """The rows of a part of the events."""
    at = part.start
    while at < part.stop:
        runs = _runs(following, at, part.stop)
        if len(runs) < _LEAST:
            yield LineRow(at, level=level)
            at += 1
            continue
        yield LineRow(at, len(runs) - 1, level)
        if at in opened:
            for start, end in pairwise(runs):
                yield LineRow(start, level=level + 1)
                yield from _folded(following, range(start + 1, end), opened, level + 1)
        at = runs[-1]
        yield LineRow(at, level=level)
        at += 1


def _runs(following: Sequence[int], at: int, stop: int) -> list[int]:
    """The events of a line from one on, before `stop`."""
    found = []
    while 0 <= at < stop:
        found.append(at)
        at = following[at]
    return found


def line_table(
    trace: Trace, rows: Sequence[LineRow], opened: Collection[int], source: Source
) -> Grid:
    """The rows as a document."""

    def make(index: int, shown: Layout) -> Line:
        return _line(trace, rows[index], opened, source, shown[_ROW])

    def text(index: int) -> str:
        return make(index, {_ROW: _WIDEST}).text

    return Grid(len(rows), lambda width: {_ROW: width}, make, text)


def _line(trace: Trace, row: LineRow, opened: Collection[int], source: Source, width: int) -> Line:
    event = trace.events[row.at]
    sign = " " if not row.times else "▾" if row.at in opened else "▸"
    code = " " * _INDENT * min(row.level + event.depth, _MOST_DEPTH) + _code_of(event, source)
    beside = f"{row.times:,} times" if row.times else _changed_text(event)
    room = width - _NUMBER - cell_len(beside) - GAP
    return line(
        (f"{sign}{event.line:4} ", "dim"),
        (clipped(code, max(room, width // 3)) if beside else code, "code"),
        (" " * GAP + beside if beside else "", "warn" if row.times else "answer"),
        cut=True,
    )


def _changed_text(event: LineEvent) -> str:
    """The variables that a line changed, with their values."""
    return "  ".join(f"{one_line(name)} = {one_line(text)}" for name, text in event.changed.items())


def _code_of(event: LineEvent, source: Source) -> str:
    return one_line(event.text_in(file_of(event.file, source)) or event.place)
