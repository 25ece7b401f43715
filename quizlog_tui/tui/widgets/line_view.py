"""A pane of many lines, drawn a line at a time: the base of every list that can grow.

Holds styled logical lines and wraps them to its width. Only what is visible is rendered. All text
goes through `text.visible` here, so no caller can forget it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import ClassVar, NamedTuple

from rich.cells import cell_len, chop_cells
from rich.segment import Segment
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from ...text import visible


class Line(NamedTuple):
    """One logical line: pieces of text, each with the component class that styles it."""

    pieces: tuple[tuple[str, str], ...]
    cut: bool = False
    """Whether it is cut at the right edge instead of wrapped."""


def line(*pieces: str | tuple[str, str], cut: bool = False) -> Line:
    """A line from plain texts and (text, style name) pairs, made safe to show."""
    pairs = ((piece, "") if isinstance(piece, str) else piece for piece in pieces)
    return Line(tuple((visible(text).replace("\t", "    "), style) for text, style in pairs), cut)


class LineView(ScrollView, can_focus=True):
    """Shows lines, with a marked cursor line if there is one."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "scroll_down", "down", show=False),
        Binding("k,up", "scroll_up", "up", show=False),
        Binding("g,home", "scroll_home", "top", show=False),
        Binding("G,end", "scroll_end", "end", show=False),
        Binding("ctrl+d,pagedown", "page_down", "page down", show=False),
        Binding("ctrl+u,pageup", "page_up", "page up", show=False),
    ]
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "line--prompt",
        "line--answer",
        "line--error",
        "line--good",
        "line--dim",
        "line--cursor",
    }
    DEFAULT_CSS = """
    LineView {
        scrollbar-gutter: stable; scrollbar-size-vertical: 1;
        & .line--prompt { color: $primary; text-style: bold; }
        & .line--answer { color: $accent; }
        & .line--error { color: $error; text-style: bold; }
        & .line--good { color: $success; }
        & .line--dim { color: $text-muted; }
        & .line--cursor { background: $panel; text-style: bold; }
    }
    """

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._lines: Sequence[Line] = ()
        self._starts: list[int] = []
        self._wrapped_at = 0
        self._at_end = False
        self._cursor: int | None = None

    def show(self, lines: Sequence[Line], *, cursor: int | None = None, end: bool = False) -> None:
        """Replace the content; keep the cursor in view, or the end."""
        self._lines, self._cursor, self._at_end = lines, cursor, end
        if self.scrollable_content_region.width:
            self._lay_out()
        self.refresh()

    def _lay_out(self) -> None:
        self._wrap()
        if self._at_end:
            self.scroll_end(animate=False, immediate=True)
        elif self._cursor is not None and self._starts:
            self._reveal(self._cursor)

    def _reveal(self, cursor: int) -> None:
        row = self._starts[min(cursor, len(self._starts) - 1)]
        height = max(1, self.scrollable_content_region.height)
        if not self.scroll_offset.y <= row < self.scroll_offset.y + height:
            self.scroll_to(y=max(0, row - height // 2), animate=False, immediate=True)

    def on_resize(self) -> None:
        """Wrap again where the width changed."""
        width = self.scrollable_content_region.width
        if width and width != self._wrapped_at:  # a hidden pane has no width to wrap to
            self._lay_out()

    def _wrap(self) -> None:
        """Count the rows each line takes."""
        width = self._wrapped_at = self.scrollable_content_region.width
        starts, row = [], 0
        for item in self._lines:
            starts.append(row)
            row += len(_rows(item, width))
        self._starts = starts
        self.virtual_size = Size(width, row)

    def render_line(self, y: int) -> Strip:
        """One row of the visible region."""
        row = y + self.scroll_offset.y
        width = self.scrollable_content_region.width
        base = self.rich_style
        index = bisect_right(self._starts, row) - 1
        if index < 0 or row >= self.virtual_size.height:
            return Strip.blank(width, base)
        marked = index == self._cursor
        rows = _rows(self._lines[index], self._wrapped_at)
        segments = []
        for text, name in rows[row - self._starts[index]]:
            style = self.get_component_rich_style(f"line--{name}") if name else base
            if marked:
                style += self.get_component_rich_style("line--cursor")
            segments.append(Segment(text, style))
        fill = base + self.get_component_rich_style("line--cursor") if marked else base
        return Strip(segments).adjust_cell_length(width, fill)


def _rows(item: Line, width: int) -> list[list[tuple[str, str]]]:
    """A logical line broken into rows of at most `width` cells, at spaces where there are any."""
    if item.cut:
        return [list(item.pieces)]
    sizes = _row_sizes("".join(text for text, _ in item.pieces), width)
    rows: list[list[tuple[str, str]]] = [[]]
    room = next(sizes)
    for text, style in item.pieces:
        while len(text) > room:
            rows[-1].append((text[:room], style))
            rows.append([])
            text, room = text[room:], next(sizes)
        rows[-1].append((text, style))
        room -= len(text)
    return rows


def _row_sizes(text: str, width: int) -> Iterator[int]:
    """How many characters each row takes."""
    while cell_len(text) > width:
        size = len(chop_cells(text[: width + 1], width)[0])
        space = text.rfind(" ", 0, size) + 1
        if text[size] == " ":
            size += 1  # a space at the edge is not seen, and must not begin the next row
        elif space > size // 2:
            size = space
        yield size
        text = text[size:]
    yield len(text)
