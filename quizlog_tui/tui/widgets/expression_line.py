"""A line for expressions: it keeps what was asked before, and completes the names in sight."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message
from textual.suggester import Suggester

from .text_fields import LineField

_MOST_KEPT = 100
"""Expressions that are kept."""
_LAST_NAME = re.compile(r"(?<![\w.'\"])[^\W\d]\w*$")


class NameSuggester(Suggester):
    """Completes the name that a text ends with. The names may change."""

    def __init__(self) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self.names: Sequence[str] = ()

    async def get_suggestion(self, value: str) -> str | None:
        """The text with its last name completed; None if no longer name begins so."""
        begun = _LAST_NAME.search(value)
        if begun is None:
            return None
        longer = (name for name in self.names if name.startswith(begun[0]) and name != begun[0])
        found = next(longer, None)
        return None if found is None else value + found[len(begun[0]) :]


class ExpressionLine(LineField):
    """The line: Enter asks, up and down go through what was asked, right takes a completion."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "earlier(-1)", show=False),
        Binding("down", "earlier(1)", show=False),
    ]
    DEFAULT_CSS = """
    ExpressionLine { border: none; height: 1; padding: 0 1; background: $surface; }
    ExpressionLine:focus { border: none; background: $panel; }
    """

    @dataclass
    class Asked(Message):
        """An expression was asked for; an empty one takes the last away."""

        text: str

    def __init__(self, *, id: str) -> None:
        self._names = NameSuggester()
        hint = "an expression; Enter shows its value"
        super().__init__(id=id, placeholder=hint, suggester=self._names, select_on_focus=False)
        self.cursor_blink = False
        self._asked: list[str] = []
        self._at = 0

    def know(self, names: Sequence[str]) -> None:
        """Complete these names."""
        self._names.names = names

    def action_earlier(self, by: int) -> None:
        """Show the expression that was asked before or after the one shown."""
        self._at = max(0, min(self._at + by, len(self._asked)))
        self.value = self._asked[self._at] if self._at < len(self._asked) else ""
        self.cursor_position = len(self.value)

    async def action_submit(self) -> None:
        """Ask for the value, and keep the expression."""
        text = self.value.strip()
        if text:
            self._asked = [*(each for each in self._asked if each != text), text][-_MOST_KEPT:]
        self._at = len(self._asked)
        self.clear()
        self.post_message(self.Asked(text))
