"""The theme chooser, with the whole program as a preview."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Label

from ..widgets.documents import Table, line
from ..widgets.row_list import RowList


class ThemesScreen(ModalScreen[str | None]):
    """Dismisses with the chosen theme's name, or None after restoring the previous theme."""

    BINDINGS = [Binding("escape,q,f2", "give_up", "Back")]  # noqa: RUF012
    DEFAULT_CSS = """
    ThemesScreen { align: right top; background: $background 0%; }
    ThemesScreen > Vertical {
        width: 40; height: auto; max-height: 90%; margin: 1 2;
        border: round $primary; background: $surface;
    }
    ThemesScreen RowList { border: none; height: auto; max-height: 20; }
    ThemesScreen RowList:focus { border: none; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._before = ""
        self._names: list[str] = []

    def compose(self) -> ComposeResult:
        """The names."""
        with Vertical():
            yield Label("Themes: Enter selects, Escape cancels", markup=False)
            yield RowList(id="themes")

    def on_mount(self) -> None:
        """Select the current theme."""
        self._before = self.app.theme
        self._names = sorted(self.app.available_themes, key=_own_first)
        names = self.query_one(RowList)
        names.styles.height = min(20, len(self._names))
        table = Table(len(self._names), lambda index: line(self._names[index], cut=True))
        names.show(table, cursor=self._names.index(self._before))
        names.focus()

    def on_row_list_moved(self, event: RowList.Moved) -> None:
        """Preview."""
        self.app.theme = self._names[event.index]

    def on_row_list_chosen(self, event: RowList.Chosen) -> None:
        """Keep it."""
        self.dismiss(self._names[event.index])

    def action_give_up(self) -> None:
        """Restore the previous theme."""
        self.app.theme = self._before
        self.dismiss(None)


def _own_first(name: str) -> tuple[bool, str]:
    return not name.startswith("quizlog-"), name
