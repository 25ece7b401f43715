"""The line at the bottom in which one types what to find."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import Input


class SearchBar(Input):
    """Hidden until it is opened; finds while one types."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "close", show=False)]
    DEFAULT_CSS = """
    SearchBar { dock: bottom; height: 1; border: none; padding: 0 1; display: none;
        background: $panel; margin-bottom: 1; }
    SearchBar:focus { border: none; }
    SearchBar.-open { display: block; }
    """

    @dataclass
    class Finding(Message):
        """The words changed."""

        words: str

    @dataclass
    class Closed(Message):
        """The search is done: kept with Enter, or given up."""

        keep: bool

    def __init__(self) -> None:
        super().__init__(placeholder="find; Enter keeps, then n N & ; Escape gives up")
        self.cursor_blink = False

    def open(self) -> None:
        """Begin a search."""
        self.add_class("-open")
        self.clear()
        self.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Find while typing."""
        event.stop()
        if self.has_class("-open"):
            self.post_message(self.Finding(event.value))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Keep what is found."""
        event.stop()
        self._close(keep=bool(event.value))

    def action_close(self) -> None:
        """Give the search up."""
        self._close(keep=False)

    def _close(self, *, keep: bool) -> None:
        self.remove_class("-open")
        self.post_message(self.Closed(keep))
