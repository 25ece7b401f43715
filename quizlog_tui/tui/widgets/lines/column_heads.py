"""Column titles above a list; a click asks to sort by the column."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from textual import events
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from .columns import Layout, cells_line, column_at


class Heads(Widget):
    """One row of titles, laid out like the rows of the `RowList` below it."""

    DEFAULT_CSS = """
    Heads { height: 1; padding: 0 2; color: $text-muted; text-style: bold; }
    """

    @dataclass
    class Clicked(Message):
        """A title was clicked."""

        column: str

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._lay_out: Callable[[int], Layout] = lambda width: {}
        self._signs: dict[str, str] = {}

    def show(self, lay_out: Callable[[int], Layout], signs: dict[str, str] | None = None) -> None:
        """Draw the columns of a layout, with a sign after some titles."""
        self._lay_out, self._signs = lay_out, signs or {}
        self.refresh()

    def render(self) -> Content:
        """The row."""
        shown = self._lay_out(self.content_size.width)
        titles = {name: f"{name}{self._signs.get(name, '')}" for name in shown}
        return Content(cells_line(shown, titles).text)

    def on_click(self, event: events.Click) -> None:
        """Report which title was clicked."""
        column = column_at(self._lay_out(self.content_size.width), event.x - self.gutter.left)
        if column is not None:
            self.post_message(self.Clicked(column))
