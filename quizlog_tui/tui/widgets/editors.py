"""The inputs for answers that do not fit into a plain line: a box of lines, and a grid of cells.

Loaded on demand, because few questions need them.
"""

from __future__ import annotations

import re
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Grid, Vertical
from textual.widgets import Input, Static, TextArea

from ...replay.script.input_kinds import JSON
from ...replay.script.input_type import InputType
from ...text import one_line
from ..draw.answer import json_problem
from .text_fields import AreaField, LineField, send

_SEND = "ctrl+s or F5 sends"
_MOST = 8
_BY = r"\s*(?:x|×|by)\s*"
_SIZE = re.compile(rf"(?<!\d)([1-8]){_BY}([1-8])(?!\d)|(\d+){_BY}(\d+)(?=[- ]matrix)")
"""A size in a text: a small one, or any size if the text calls it a matrix."""
_ROW = re.compile(r"\[([^\[\]]*)\]")
_NO_NUMBER = re.compile(r"[\[\],;\n]|\S\s+\S")
_HELP = "Enter sends · ctrl+→ ← columns · ctrl+↓ ↑ rows"


class Editor(Vertical):
    """An input for a kind of answer; sends answers with `send`."""

    DEFAULT_CSS = "Editor { height: auto; }"

    async def fit(self, kind: InputType, text: str) -> None:
        """Adapt to a question; `text` is what was printed before it, and its own text."""

    async def fill(self, answer: str) -> None:
        """Insert an answer to edit or send; an empty one clears the input."""
        raise NotImplementedError

    @property
    def draft(self) -> str:
        """The typed but unsent text; empty if there is none."""
        raise NotImplementedError

    def begin(self) -> None:
        """Let the user type."""
        for child in self.query("*"):
            if child.focusable:
                child.focus()
                return


class TextBox(Editor):
    """A text area with a line that says how to send it and reports errors."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+s,f5", "send", "Send", priority=True)]
    DEFAULT_CSS = """
    TextBox TextArea { height: 5; border: none; padding: 0; background: $surface; }
    TextBox TextArea:focus { border: none; background: $panel; }
    TextBox #check { height: 1; color: $text-muted; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._json = False

    def compose(self) -> ComposeResult:
        """The area and the line below."""
        area = AreaField(id="area", tab_behavior="focus")
        area.cursor_blink = False
        yield area
        yield Static(_SEND, id="check", markup=False)

    async def fit(self, kind: InputType, text: str) -> None:
        """Take the height that a question asks for, and whether it expects JSON."""
        self._json = kind.name == JSON
        room = self.app.size.height // 5  # the question, its output and an error want some too
        self.area.styles.height = max(2, min(kind.rows or 4, 12, room))
        self._check()

    def begin(self) -> None:
        """Let the user type."""
        self.screen.set_focus(self.area)  # now: what is typed ahead is for it
        self.area.focus()  # or as soon as it is in sight

    @property
    def area(self) -> TextArea:
        """The text area."""
        return self.query_one(TextArea)

    @property
    def draft(self) -> str:
        """The typed text."""
        return self.area.text

    async def fill(self, answer: str) -> None:
        """Put a text in, with the cursor at its end."""
        self.area.text = answer
        self.area.move_cursor(self.area.document.end)

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """Check the syntax."""
        event.stop()
        self._check()

    def _check(self) -> None:
        text = self.area.text
        said = json_problem(text) if self._json and text.strip() else None
        if self._json and text.strip():
            self.query_one("#check", Static).update(
                f"✗ {said} · {_SEND} it anyway" if said else f"✓ JSON · {_SEND}"
            )
        else:
            self.query_one("#check", Static).update(_SEND)

    def action_send(self) -> None:
        """Send the text."""
        answer = self.area.text
        self.area.text = ""
        send(self, answer)


class MatrixGrid(Editor):
    """Cells to fill; empty ones count as 0."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+right", "resize(0, 1)", "Wider", show=False, priority=True),
        Binding("ctrl+left", "resize(0, -1)", "Narrower", show=False, priority=True),
        Binding("ctrl+down", "resize(1, 0)", "Higher", show=False, priority=True),
        Binding("ctrl+up", "resize(-1, 0)", "Lower", show=False, priority=True),
        Binding("enter", "send", show=False, priority=True),
        Binding("down", "go(1)", show=False),
        Binding("up", "go(-1)", show=False),
    ]
    DEFAULT_CSS = """
    MatrixGrid Grid { height: auto; grid-gutter: 0 1; grid-rows: 1; }
    MatrixGrid Input { border: none; height: 1; padding: 0 1; background: $surface; }
    MatrixGrid Input:focus { border: none; background: $panel; }
    MatrixGrid #preview {
        height: 1; color: $text-muted; text-wrap: nowrap; text-overflow: ellipsis;
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self._shape = (2, 2)

    def compose(self) -> ComposeResult:
        """The grid and its text."""
        yield Grid()
        yield Static(_HELP, id="preview", markup=False)

    async def fit(self, kind: InputType, text: str) -> None:
        """Take the size that a question asks for."""
        await self.shape(*size_in(text, kind.rows))

    async def shape(self, rows: int, columns: int) -> None:
        """Resize the grid, keeping the content of cells that stay."""
        rows, columns = max(1, min(rows, _MOST)), max(1, min(columns, _MOST))
        before = self.cells
        if len(before) == rows and len(before[0]) == columns:
            return
        self._shape = rows, columns
        grid = self.query_one(Grid)
        grid.styles.grid_size_columns = columns
        grid.styles.grid_columns = "12"
        async with self.batch():
            await grid.remove_children()
            await grid.mount_all(
                _cell(_at(before, row, column)) for row in range(rows) for column in range(columns)
            )
        self._preview()

    @property
    def cells(self) -> list[list[str]]:
        """The texts in the cells, row by row."""
        values = [cell.value for cell in self.query(Input)]
        width = self._shape[1]
        return [values[at : at + width] for at in range(0, len(values), width)]

    @property
    def text(self) -> str:
        """The answer made of the cells."""
        inside = ((cell.strip() or "0" for cell in row) for row in self.cells)
        return "[" + ",".join("[" + ",".join(row) + "]" for row in inside) + "]"

    @property
    def draft(self) -> str:
        """The text, or an empty text while all cells are empty."""
        return self.text if any(cell.value for cell in self.query(Input)) else ""

    async def fill(self, answer: str) -> None:
        """Insert a matrix, or clear all cells."""
        found = _rows_in(answer)
        if not found:
            await self.clear()
            return
        await self.shape(len(found), len(found[0]))
        for cell, value in zip(
            self.query(Input), (one for row in found for one in row), strict=True
        ):
            cell.value = value

    async def clear(self) -> None:
        """Empty all cells."""
        for cell in self.query(Input):
            cell.value = ""

    def begin(self) -> None:
        """Focus the first cell."""
        self.query(Input).first().focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Show the text."""
        event.stop()
        self._preview()

    def _preview(self) -> None:
        bad = any(_NO_NUMBER.search(cell.value) for cell in self.query(Input))
        said = "✗ a cell takes one number; " if bad else ""
        self.query_one("#preview", Static).update(one_line(f"{said}{self.text} · {_HELP}"))

    async def action_send(self) -> None:
        """Send the matrix."""
        answer = self.text
        await self.clear()
        send(self, answer)

    async def action_resize(self, rows: int, columns: int) -> None:
        """Add or remove rows or columns."""
        await self.shape(self._shape[0] + rows, self._shape[1] + columns)
        self.begin()

    def action_go(self, by: int) -> None:
        """Go to the cell below or above."""
        cells = list(self.query(Input))
        at = next((n for n, cell in enumerate(cells) if cell.has_focus), 0)
        to = at + by * self._shape[1]
        if 0 <= to < len(cells):
            cells[to].focus()


def size_in(text: str, rows: int | None) -> tuple[int, int]:
    """The size of the requested matrix: `3x2` in the text, a matrix in the text, or 2 by 2."""
    named = _SIZE.search(text)
    if named:
        return int(named[1] or named[3]), int(named[2] or named[4])
    shown = re.search(r"\[\s*\[.*?\]\s*\]", text, re.S)
    if shown:
        found = _ROW.findall(shown[0][1:-1])
        return len(found), found[0].count(",") + 1
    return rows or 2, rows or 2


def _cell(value: str) -> Input:
    cell = LineField(value, placeholder="0", select_on_focus=False)
    cell.cursor_blink = False
    return cell


def _at(cells: list[list[str]], row: int, column: int) -> str:
    return cells[row][column] if row < len(cells) and column < len(cells[row]) else ""


def fits_grid(kind: InputType, text: str) -> bool:
    """Whether the grid has room for the matrix that a question asks for."""
    return max(size_in(text, kind.rows)) <= _MOST


def holds_matrix(answer: str) -> bool:
    """Whether a grid can show the whole answer: empty, or a small matrix and nothing else."""
    found = _rows_in(answer)
    if not found:
        return not answer.strip()
    even = len({len(row) for row in found}) == 1
    text = "[" + ",".join("[" + ",".join(row) + "]" for row in found) + "]"
    return even and max(len(found), len(found[0])) <= _MOST and text == "".join(answer.split())


def _rows_in(answer: str) -> list[list[str]]:
    return [[cell.strip() for cell in row.split(",")] for row in _ROW.findall(answer)]
