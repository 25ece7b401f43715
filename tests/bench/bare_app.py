"""Bare Textual programs to measure against: the player's widgets with nothing behind, and nothing."""

from __future__ import annotations

import sys
from typing import ClassVar

from textual.app import App, ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Static

from quizlog_tui.tui.keys.keymap import screen_bindings
from quizlog_tui.tui.screens.base import Program, QuizlogScreen
from quizlog_tui.tui.widgets.documents import Table, line
from quizlog_tui.tui.widgets.footer import KeyLine
from quizlog_tui.tui.widgets.line_view import LineView
from quizlog_tui.tui.widgets.row_list import RowList


class PanesApp(App[None]):
    """The widgets of the player."""

    CSS = (
        "#left { width: 2fr; } #side { width: 1fr; } LineView { height: 1fr; border: round gray; }"
    )

    def compose(self) -> ComposeResult:
        from quizlog_tui.tui.widgets.prompt_panel import PromptPanel
        from quizlog_tui.tui.widgets.scrubber import Scrubber
        from quizlog_tui.tui.widgets.text_fields import SearchBar

        yield Static("status")
        with Horizontal():
            with Vertical(id="left"):
                yield LineView(id="output")
                yield LineView(id="error")
                yield PromptPanel(id="prompt")
            with Vertical(id="side"):
                yield RowList(id="timeline")
                yield RowList(id="source")
        yield Scrubber(id="scrubber")
        yield SearchBar()
        yield KeyLine(lambda binding: binding.description)

    def on_mount(self) -> None:
        self.query_one("#output").border_title = "Output"


class EmptyScreen(QuizlogScreen[None]):
    """Our screen without panes: a line that changes with every key."""

    SCOPE = "player"
    BINDINGS: ClassVar = screen_bindings("player")
    AUTO_FOCUS = ""
    count = 0

    def content(self) -> ComposeResult:
        yield from ()

    def on_mount(self) -> None:
        self.status("pressed 0")

    def leave(self) -> None:
        """Stay: Escape is sent to both programs."""

    def action_step(self, by: int) -> None:
        self.count += 1
        self.status(f"pressed {self.count}")


class EmptyApp(Program):
    """The empty screen, alone."""

    def on_mount(self) -> None:
        self.push_screen(EmptyScreen())


class TimelineApp(App[None]):
    """A list of so many rows."""

    def __init__(self, rows: int) -> None:
        super().__init__()
        self.rows = rows

    def compose(self) -> ComposeResult:
        yield RowList(id="timeline")

    def on_mount(self) -> None:
        def make(index: int):  # type: ignore[no-untyped-def]
            return line((f"{index:6} ", "dim"), ("answer", "answer"), "  question", cut=True)

        self.query_one(RowList).show(Table(self.rows, make))


if __name__ == "__main__":
    {"panes": PanesApp, "empty": EmptyApp}[sys.argv[1]]().run()
