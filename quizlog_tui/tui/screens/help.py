"""The keys of the player, on one page."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static


class HelpScreen(ModalScreen[None]):
    """Shows keys and what they do, made from bindings."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark", "dismiss(None)", "Back"),
    ]
    DEFAULT_CSS = """
    HelpScreen { align: center middle; }
    HelpScreen > Vertical {
        width: auto; height: auto; max-height: 90%; overflow-y: auto;
        border: round $primary; background: $surface; padding: 0 2;
    }
    HelpScreen Static { width: auto; }
    """

    def __init__(self, bindings: list[Binding]) -> None:
        super().__init__()
        self._bindings_shown = bindings

    def compose(self) -> ComposeResult:
        """A table of keys."""
        rows = [
            f"{binding.key_display or binding.key:<12} {binding.tooltip or binding.description}"
            for binding in self._bindings_shown
        ]
        with Vertical():
            yield Static("\n".join([*rows, "", "Escape goes back"]), markup=False)
