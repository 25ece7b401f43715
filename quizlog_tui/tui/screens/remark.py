"""The small window in which one writes a remark on a step: a verdict, and a text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Label

from ...record.feedback import VERDICTS
from ...text import one_line
from ..draw.notes import verdict_line
from ..widgets.documents import Table
from ..widgets.editors.answered import Answered
from ..widgets.editors.text_box import TextBox
from ..widgets.row_list import RowList

_CHOICES: tuple[str | None, ...] = (None, *VERDICTS)


@dataclass(frozen=True)
class Remark:
    """What somebody has to say of a step."""

    verdict: str | None
    text: str


class RemarkScreen(ModalScreen[Remark | None]):
    """Dismisses with a remark, or None.

    Args:
        about: What it is about.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Back"),
        Binding("ctrl+s,f5", "send", "Write", priority=True),
    ]
    DEFAULT_CSS = """
    RemarkScreen {
        align: center middle;
        & > Vertical {
            width: 90%; max-width: 80; height: auto; max-height: 90%;
            border: round $primary; background: $surface; padding: 0 1;
        }
        & Label { width: 100%; color: $primary; text-style: bold; }
        & #verdicts { height: 4; border: none; }
        & #verdicts:focus { border: none; background: $panel; }
    }
    """

    def __init__(self, about: str) -> None:
        super().__init__()
        self._about = about

    def compose(self) -> ComposeResult:
        """The text first, then the verdicts."""
        with Vertical():
            yield Label(one_line(self._about), markup=False)
            yield TextBox()
            yield Label("Verdict (tab, then up and down; enter writes)", markup=False)
            yield RowList(id="verdicts")

    def on_mount(self) -> None:
        """Type at once."""
        self.query_one("#verdicts", RowList).show(
            Table(len(_CHOICES), lambda index: verdict_line(_CHOICES[index])), cursor=0
        )
        self.query_one(TextBox).begin()

    def action_send(self) -> None:
        """Send text and verdict."""
        self.query_one(TextBox).action_send()

    def on_row_list_chosen(self, event: RowList.Chosen) -> None:
        """Enter on a verdict: that is all there is to say."""
        event.stop()
        self.action_send()

    def on_answered(self, event: Answered) -> None:
        """The text is complete."""
        event.stop()
        verdict = _CHOICES[self.query_one("#verdicts", RowList).index or 0]
        text = event.answer.strip()
        if text or verdict:
            self.dismiss(Remark(verdict, text))
        else:
            self.notify("write something, or choose a verdict", markup=False)
