"""A line of text with suggestions from earlier answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType

from ..text_fields import LineField
from .editor import send


class TextLine(LineField):
    """An input in which up and down step through suggestions."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "suggest(1)", show=False),
        Binding("up", "suggest(-1)", show=False),
    ]
    DEFAULT_CSS = """
    TextLine { border: none; height: 1; padding: 0; background: $surface; }
    TextLine:focus { border: none; background: $panel; }
    """

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id, select_on_focus=False)
        self.cursor_blink = False
        self.suggestions: Sequence[str] = ()
        """Answers to step through."""

    def fill(self, answer: str) -> None:
        """Insert a text, ready to edit or send."""
        self.value = answer
        self.cursor_position = len(answer)

    def action_suggest(self, by: int) -> None:
        """Insert the next or previous suggestion; after the last one, an empty line."""
        ring = ["", *filter(None, self.suggestions)]
        at = ring.index(self.value) if self.value in ring else 0
        self.fill(ring[(at + by) % len(ring)])

    async def action_submit(self) -> None:
        """Send the answer and clear the line before the next key is processed."""
        answer = self.value
        self.clear()
        send(self, answer)
