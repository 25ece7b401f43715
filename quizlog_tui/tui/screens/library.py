"""The records to choose from: those below a folder."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import Footer, Label, OptionList

from ...text import one_line
from ..widgets.menu import Menu


class LibraryScreen(Screen[Path | None]):
    """Dismisses with the chosen record, or None.

    Args:
        folder: What the paths are shown relative to.
        records: The record files.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "choose", "Open", show=True),
        Binding("q,escape", "dismiss(None)", "Quit"),
    ]
    DEFAULT_CSS = """
    LibraryScreen > Label { padding: 0 1; color: $primary; text-style: bold; width: 100%; }
    LibraryScreen > Menu { height: 1fr; border: round $panel; }
    """

    def __init__(self, folder: Path, records: list[Path]) -> None:
        super().__init__()
        self._folder = folder
        self._records = records

    def compose(self) -> ComposeResult:
        """A title and the list."""
        yield Label(f"Records in {one_line(str(self._folder))}", markup=False)
        yield Menu(one_line(str(path.relative_to(self._folder))) for path in self._records)
        yield Footer(show_command_palette=False)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Open the chosen record."""
        self.dismiss(self._records[event.option_index])
