"""Dialogs: ask for a line of text, a confirmation, a choice, or what to do about private text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Checkbox, Input, Label, Static

from ...text import one_line, visible
from ..keys.typed_keys import KeyGate
from ..toasts import tell
from ..widgets.documents import Line, Table
from ..widgets.row_list import RowList
from ..widgets.text_fields import LineField

_BACK: list[BindingType] = [Binding("escape", "dismiss(None)", "Back")]
DIALOG_STYLE = """
    align: center middle;
    & > Vertical {
        width: 90%; max-width: 100; height: auto; max-height: 80%;
        border: round $primary; background: $surface; padding: 0 1;
    }
    & Label { width: 100%; color: $primary; text-style: bold; }
"""
"""The style rules that all dialogs start from: a box in the middle, its labels as titles."""


class AskScreen(ModalScreen[str | None]):
    """Dismisses with a line of text, or None.

    Args:
        question: The question shown.
        text: The initial content.
    """

    BINDINGS: ClassVar[list[BindingType]] = _BACK
    DEFAULT_CSS = f"""
    AskScreen {{ {DIALOG_STYLE}
        & Input {{ border: none; height: 1; padding: 0; background: $panel; }}
        & Input:focus {{ border: none; }}
    }}
    """

    def __init__(self, question: str, text: str = "") -> None:
        super().__init__()
        self._question = question
        self._text = text

    def compose(self) -> ComposeResult:
        """The question and the input."""
        with Vertical():
            yield Label(one_line(self._question), markup=False)
            field = LineField(self._text)
            field.cursor_blink = False
            yield field

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Take the text."""
        self.dismiss(event.value)


class AskTextScreen(AskScreen):
    """Dismisses with a text that may have several lines, or None. It is shown on one line."""

    async def take_lines(self, lines: str) -> None:
        """Insert pasted lines."""
        field = self.query_one(Input)
        field.replace(lines.removesuffix("\n"), *sorted(field.selection))
        tell(self, "the pasted lines are all there: ⏎ shows where one ends")


class ConfirmScreen(ModalScreen[bool]):
    """Dismisses with whether the user agrees.

    Args:
        question: The question to confirm.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "dismiss(True)", "Yes"),
        Binding("escape,q", "dismiss(False)", "No"),
    ]
    DEFAULT_CSS = f"""
    ConfirmScreen {{ {DIALOG_STYLE}
        & #keys {{ color: $text-muted; text-style: none; }}
    }}
    """

    def __init__(self, question: str) -> None:
        super().__init__()
        self._question = question
        self.gate = KeyGate()
        self.gate.shut()

    def compose(self) -> ComposeResult:
        """The question, and the keys that answer it."""
        with Vertical():
            yield Label(visible(self._question), markup=False)
            yield Label("Enter goes on, Escape goes back", markup=False, id="keys")

    def on_mount(self) -> None:
        """Ignore keys until the dialog is painted, so that nobody confirms it unseen."""
        self.call_after_refresh(self.gate.open)


class ChooseScreen(ModalScreen[int | None]):
    """Dismisses with the index of the chosen line, or None.

    Args:
        question: The question shown.
        lines: The choices.
        start: The line selected first.
        details: Lines to be read before choosing.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*_BACK, Binding("q", "dismiss(None)", "Back")]
    DEFAULT_CSS = f"""
    ChooseScreen {{ {DIALOG_STYLE}
        & RowList {{ height: auto; max-height: 20; border: none; }}
        & RowList:focus {{ border: none; }}
    }}
    """

    def __init__(
        self, question: str, lines: Sequence[Line], start: int = 0, details: Sequence[str] = ()
    ) -> None:
        super().__init__()
        self._question = question
        self._details = details
        self._lines = lines
        self._start = start

    def compose(self) -> ComposeResult:
        """The question and the list."""
        with Vertical():
            yield Label(one_line(self._question), markup=False)
            for detail in self._details:
                yield Label(one_line(detail), markup=False)
            yield RowList(id="choices")

    def on_mount(self) -> None:
        """Fill the list."""
        choices = self.query_one(RowList)
        choices.styles.height = min(20, len(self._lines))
        choices.show(Table(len(self._lines), self._lines.__getitem__), cursor=self._start)
        choices.focus()

    def on_row_list_chosen(self, event: RowList.Chosen) -> None:
        """Take the line."""
        event.stop()
        self.dismiss(event.index)


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
