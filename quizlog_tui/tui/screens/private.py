"""The dialog that lists private text in a file to be written and asks whether to remove it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Checkbox, Label, Static

from ...text import one_line
from .dialogs import DIALOG_STYLE


class PrivateScreen(ModalScreen[bool | None]):
    """Dismisses with whether to remove private text, or None if the user goes back.

    Args:
        found: A line for each private thing.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "go_on", "Go on", priority=True),
        Binding("escape", "dismiss(None)", "Back"),
    ]
    DEFAULT_CSS = f"""
    PrivateScreen {{ {DIALOG_STYLE}
        & > Vertical {{ max-height: 90%; }}
        & VerticalScroll {{ height: auto; max-height: 12; }}
        & VerticalScroll:focus {{ background: $panel; }}
        & Checkbox {{ padding: 0; }}
        & #keys {{ color: $text-muted; text-style: none; }}
    }}
    """

    def __init__(self, found: Sequence[str]) -> None:
        super().__init__()
        self._found = found

    def compose(self) -> ComposeResult:
        """The list, the box to tick, and the keys."""
        with Vertical():
            yield Label("Names this machine or looks like a secret:", markup=False)
            with VerticalScroll():
                yield Static("\n".join(map(one_line, self._found)), markup=False)
            yield Checkbox("replace it with placeholders", value=True, compact=True)
            yield Label("Space toggles, Enter goes on, Escape goes back", markup=False, id="keys")

    def on_mount(self) -> None:
        """The box has the focus."""
        self.query_one(Checkbox).focus()

    def action_go_on(self) -> None:
        """Take the answer."""
        self.dismiss(self.query_one(Checkbox).value)
