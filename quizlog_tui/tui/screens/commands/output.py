"""The pane that shows what one of the user's own commands wrote."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType

from ...keys.bindings import screen_bindings
from ...widgets.documents import Line, Paragraphs, line, logical_lines, terminal_pieces
from ...widgets.line_view import LineView
from ..base import QuizlogScreen


class CommandOutputScreen(QuizlogScreen[None]):
    """Shows the output of a command that has ended.

    Args:
        about: Which command it was, and how it ended.
        output: What it wrote; may hold anything.
    """

    SCOPE = "command"
    BINDINGS: ClassVar[list[BindingType]] = screen_bindings("command")
    DEFAULT_CSS = "CommandOutputScreen LineView { height: 1fr; }"

    def __init__(self, about: str, output: str) -> None:
        super().__init__()
        self._about = about
        self._output = output

    def content(self) -> ComposeResult:
        """One pane."""
        yield LineView(id="written")

    def on_mount(self) -> None:
        """Show the output."""
        self.status(self._about)
        pane = self.query_one(LineView)
        pane.border_title = "Output"
        pane.show(Paragraphs(_lines(self._output) or [line(("it wrote nothing", "dim"))]))
        pane.focus()


def _lines(output: str) -> list[Line]:
    """The lines of an output as a terminal would show them."""
    pieces = terminal_pieces(output.removesuffix("\n"), "", raw=False)
    return [Line(tuple(row)) for row in logical_lines(pieces)] if output else []
