"""A text area for several lines; checks JSON at each change."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Static, TextArea

from ....replay.script.input_kinds import JSON
from ....replay.script.input_type import InputType
from ...draw.answer import json_problem
from ..text_fields import AreaField
from .editor import Editor, send

_SEND = "ctrl+s or F5 sends"


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
