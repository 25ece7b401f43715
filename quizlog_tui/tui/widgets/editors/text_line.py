"""One line of text, with the answers that others gave to step through."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widgets import Input

from .answered import send


class TextLine(Input):
    """An input; up and down go through suggestions."""

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
        self._suggestions: Sequence[str] = ()
        self._at = -1

    def suggest(self, answers: Sequence[str]) -> None:
        """Offer answers, none chosen yet."""
        self._suggestions, self._at = answers, -1

    def fill(self, answer: str) -> None:
        """Put a text in, ready to be sent or changed."""
        self.value = answer
        self.cursor_position = len(answer)

    def action_suggest(self, by: int) -> None:
        """The next or previous suggestion; before the first is an empty line."""
        count = len(self._suggestions)
        if count:
            self._at = (self._at + 1 + by) % (count + 1) - 1
            self.fill(self._suggestions[self._at] if self._at >= 0 else "")

    async def action_submit(self) -> None:
        """Send the answer and empty the line, before the next key is looked at."""
        answer, self._at = self.value, -1
        self.clear()
        send(self, answer)
