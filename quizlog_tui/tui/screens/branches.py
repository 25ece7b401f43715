"""A list of a record's branches to choose from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Label, OptionList

from ...branch_list import BranchInfo
from ..drawing import branch_text
from ..widgets.menu import Menu


class BranchesScreen(ModalScreen[str | None]):
    """Dismisses with the chosen branch's name, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,b", "dismiss(None)", "Back"),
    ]
    DEFAULT_CSS = """
    BranchesScreen { align: center middle; }
    BranchesScreen > Vertical {
        width: 90%; max-width: 100; height: auto; max-height: 80%;
        border: round $primary; background: $surface; padding: 0 1;
    }
    BranchesScreen OptionList { height: auto; max-height: 20; border: none; padding: 0; }
    BranchesScreen OptionList:focus { border: none; }
    """

    def __init__(self, branches: Sequence[BranchInfo]) -> None:
        super().__init__()
        self._branches = branches

    def compose(self) -> ComposeResult:
        """A title and the list."""
        with Vertical():
            yield Label("Branches: Enter switches, Escape goes back", markup=False)
            yield Menu(branch_text(branch) for branch in self._branches)

    def on_mount(self) -> None:
        """Start on the active branch."""
        active = next(i for i, branch in enumerate(self._branches) if branch.active)
        self.query_one(OptionList).highlighted = active

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Take the chosen branch back to the player."""
        self.dismiss(self._branches[event.option_index].name)
