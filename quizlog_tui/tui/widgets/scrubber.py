"""A slider over a run: the step shown, markers and scores of all branches; click to jump."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

from rich.segment import Segment
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget


class Scrubber(Widget):
    """A slider over the steps of a run."""

    COMPONENT_CLASSES = {"scrubber--done", "scrubber--head", "scrubber--mark"}  # noqa: RUF012
    DEFAULT_CSS = """
    Scrubber {
        height: 1; padding: 0 1; background: $surface;
        & .scrubber--done { color: $primary; }
        & .scrubber--head { color: $accent; text-style: bold; }
        & .scrubber--mark { color: $warning; text-style: bold; }
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

    def show(self, step: int, length: int, marks: Mapping[int, str], right: str) -> None:
        """Draw a position in a run, signs at steps, and a text at the right."""
        before = self._step, self._length, self._marks, self._right
        self._step, self._length, self._marks, self._right = step, length, marks, right
        if before != (step, length, marks, right):
            self.refresh()

    def _columns(self) -> int:
        return max(1, self.content_size.width - len(self._right) - 1)

    def render_line(self, y: int) -> Strip:
        """The row."""
        plain = self.rich_style
        segments = []
        for name, cells in groupby(self._cells(), key=itemgetter(0)):
            style = self.get_component_rich_style(f"scrubber--{name}") if name else plain
            segments.append(Segment("".join(text for _, text in cells), style))
        segments.append(Segment(f" {self._right}", plain))
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
