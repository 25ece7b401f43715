"""Dialogs: ask for a line of text, a confirmation, a choice, a theme, what to do about secrets.

The error panel for a defect in quizlog is here, too.
"""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen, Screen
from textual.widgets import Checkbox, Input, Label, Static
from textual.worker import WorkerFailed

from ...text import one_line, visible
from ..keys.typed_keys import KeyGate
from ..toasts import tell
from ..widgets.documents import Line, Table, line
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
    """Asks for a line of text; dismisses with it, or with None."""

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
    """Dismisses with whether the user agrees."""

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
    """Asks to choose a line, after `details` to be read; dismisses with its index, or None."""

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


def switch_dialog(step: int, branch: str) -> ChooseScreen:
    """Asks whether to switch to the branch of a step; 0 means yes."""
    lines = [line(f"switch to {branch}", cut=True), line("stay here", cut=True)]
    return ChooseScreen(f"Step {step} is on branch {branch}. Switch to it?", lines)


class PrivateScreen(ModalScreen[bool | None]):
    """Dismisses with whether to remove the private text found, or None if the user goes back."""

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


class FaultScreen(Screen[None]):
    """The error panel: shows what went wrong and where; dismisses when the user goes on.

    It replaces the faulty screen. It uses only Textual's own widgets, because any of ours may be
    the one that fails.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter,escape,q", "dismiss", "Go on")]
    DEFAULT_CSS = """
    FaultScreen {
        & VerticalScroll { border: round $error; padding: 0 1; }
        & #what { color: $error; text-style: bold; }
        & #trace { color: $text-muted; margin-top: 1; }
    }
    """

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self._error = error.error if isinstance(error, WorkerFailed) else error

    def compose(self) -> ComposeResult:
        """What happened, what to do, and the traceback for a report."""
        with VerticalScroll() as panel:
            panel.border_title = "Error in quizlog"
            yield Static(_describe_error(self._error), id="what", markup=False)
            yield Static(_MEND, markup=False)
            trace = "".join(traceback.format_exception(self._error))
            yield Static(visible(trace.rstrip()), id="trace", markup=False)


_MEND = (
    "The record was not changed by this; every answer that was given is kept.\n"
    "Enter closes this panel and goes on; Ctrl+Q leaves quizlog.\n"
    "If it happens again, please report it with the lines below."
)


def _describe_error(error: BaseException) -> str:
    """The exception and the line that raised it."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    return f"✗ {type(error).__name__}: {one_line(str(error))}{place}"


class ThemesScreen(ModalScreen[str | None]):
    """Dismisses with the chosen theme's name, or None. The whole program shows the marked theme."""

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
