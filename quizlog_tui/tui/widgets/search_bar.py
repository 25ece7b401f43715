"""The search line at the bottom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import Input

from .text_fields import LineField


class SearchBar(LineField):
    """A search line, hidden until it is opened; it searches while the user types."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "close", show=False)]
    DEFAULT_CSS = """
    SearchBar { dock: bottom; height: 1; border: none; padding: 0 1; display: none;
        background: $panel; margin-bottom: 1; }
    SearchBar:focus { border: none; }
    SearchBar.-open { display: block; }
    """

    @dataclass
    class Finding(Message):
        """The words have changed."""

        words: str

    @dataclass
    class Closed(Message):
        """The search line was closed: kept with Enter, or cancelled."""

        keep: bool

    def __init__(self) -> None:
        super().__init__(placeholder="find; Enter keeps the hits for n N &; Escape cancels")
        self.cursor_blink = False

    def open(self) -> None:
        """Open the line."""
        self.add_class("-open")
        self.clear()
        self.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Search while the user types."""
        event.stop()
        if self.has_class("-open"):
            self.post_message(self.Finding(event.value))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Keep the hits."""
        event.stop()
        self._close(keep=bool(event.value))

    def action_close(self) -> None:
        """Cancel the search."""
        self._close(keep=False)

    def _close(self, *, keep: bool) -> None:
        self.remove_class("-open")
        self.post_message(self.Closed(keep))
