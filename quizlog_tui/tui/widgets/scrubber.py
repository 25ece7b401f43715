"""A slider over a run: the step shown, markers and scores of all branches; click to jump.

Above it numbers at each step are drawn as bars.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from rich.segment import Segment
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from ..draw.status import bars


class Series(NamedTuple):
    """Numbers at the steps of a run, drawn in a row."""

    legend: str
    heights: Sequence[float | None]
    """From 0 to 1 for each step; None for no number."""


class Scrubber(Widget):
    """A slider over the steps of a run."""

    COMPONENT_CLASSES = {  # noqa: RUF012
        "scrubber--done", "scrubber--head", "scrubber--mark", "scrubber--bars"
    }  # fmt: skip
    DEFAULT_CSS = """
    Scrubber {
        height: 1; padding: 0 1; background: $surface;
        & .scrubber--done { color: $primary; }
        & .scrubber--head { color: $accent; text-style: bold; }
        & .scrubber--mark { color: $warning; text-style: bold; }
        & .scrubber--bars { color: $primary; }
    }
    """

    @dataclass
    class Jumped(Message):
        """The user jumped to a step."""

        step: int

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._step = 0
        self._length = 0
        self._marks: Mapping[int, str] = {}
        self._right = ""
        self._series: Sequence[Series] = ()

    def show(
        self,
        step: int,
        length: int,
        marks: Mapping[int, str],
        right: str,
        series: Sequence[Series] = (),
    ) -> None:
        """Draw a position in a run, signs at steps, a text at the right, and numbers above."""
        before = self._step, self._length, self._marks, self._right, self._series
        self._step, self._length, self._marks, self._right = step, length, marks, right
        self._series = series
        if len(series) != len(before[-1]):
            self.styles.height = 1 + len(series)
        if before != (step, length, marks, right, series):
            self.refresh()

    def _columns(self) -> int:
        right = max(map(len, (self._right, *(one.legend for one in self._series))))
        return max(1, self.content_size.width - right - 1)

    def render_line(self, y: int) -> Strip:
        """A row: the slider below, and above it one for each series that there is room for."""
        above, plain = self.content_size.height - 1 - y, self.rich_style
        if above > len(self._series):  # until the screen is laid out with a series less
            return Strip.blank(self.content_size.width, plain)
        if above:
            return self._bars_line(self._series[-above])
        segments = []
        for name, cells in groupby(self._cells(), key=itemgetter(0)):
            style = self.get_component_rich_style(f"scrubber--{name}") if name else plain
            segments.append(Segment("".join(text for _, text in cells), style))
        segments.append(Segment(f" {self._right}", plain))
        return Strip(segments).adjust_cell_length(self.content_size.width, plain)

    def _bars_line(self, series: Series) -> Strip:
        columns, known = self._columns(), series.heights
        steps = (step_at(column, self._length, columns) for column in range(columns))
        heights = (known[step] if step < len(known) else None for step in steps)
        drawn = "".join(" " if height is None else bars([height]) for height in heights)
        style, plain = self.get_component_rich_style("scrubber--bars"), self.rich_style
        segments = [Segment(drawn, style), Segment(f" {series.legend}", plain)]
        return Strip(segments).adjust_cell_length(self.content_size.width, plain)

    def _cells(self) -> Iterator[tuple[str, str]]:
        columns = self._columns()
        head = column_of(self._step, self._length, columns)
        signs = {column_of(at, self._length, columns): sign for at, sign in self._marks.items()}
        for column in range(columns):
            if column == head:
                yield "head", "●"
            elif column in signs:
                yield "mark", signs[column]
            else:
                yield ("done", "━") if column < head else ("", "─")

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Jump, and follow the mouse while it is held."""
        self.capture_mouse()
        self._jump(event)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Follow the mouse."""
        if self.app.mouse_captured is self:
            self._jump(event)

    def on_mouse_up(self, event: events.MouseUp) -> None:
        """Release the mouse."""
        self.release_mouse()

    def _jump(self, event: events.MouseEvent) -> None:
        column = int(event.x) - self.gutter.left
        self.post_message(self.Jumped(step_at(column, self._length, self._columns())))


def column_of(step: int, length: int, columns: int) -> int:
    """The column of a step on a row of this width."""
    return round(step * (columns - 1) / length) if length else 0


def step_at(column: int, length: int, columns: int) -> int:
    """The step at a column."""
    inside = max(0, min(column, columns - 1))
    return round(inside * length / (columns - 1)) if columns > 1 else 0
