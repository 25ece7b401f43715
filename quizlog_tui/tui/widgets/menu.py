"""A short list to choose from, with the vim keys beside the arrows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option


class Menu(OptionList):
    """Lines of safe text, one highlighted."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "cursor_down", "down", show=False),
        Binding("k", "cursor_up", "up", show=False),
    ]

    def __init__(self, lines: Iterable[str]) -> None:
        super().__init__(*(Option(Content(line)) for line in lines), markup=False)
