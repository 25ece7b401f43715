"""The small window in which one writes a remark on a step: a verdict, and a text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Label

from ....record.feedback import VERDICTS
from ....text import one_line
from ...draw.notes import verdict_line
from ...widgets.editors.editor import Answered
from ...widgets.editors.text_box import TextBox
from ...widgets.lines.documents import Table
from ...widgets.lines.row_list import RowList

_CHOICES: tuple[str | None, ...] = (None, *VERDICTS)


@dataclass(frozen=True)
class Remark:
    """What somebody has to say of a step."""

    verdict: str | None = None
    text: str = ""
    sent: bool = False
    """Whether it is to be written; else it is a draft, which may be empty."""

    @property
    def empty(self) -> bool:
        """Whether nothing is said."""
        return not (self.verdict or self.text.strip())


class RemarkScreen(ModalScreen[Remark]):
    """Dismisses with a remark, or the draft of one where the user goes back.

    Args:
        about: What it is about.
        draft: What stands there at first.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Back"),
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

    def __init__(self, about: str, draft: Remark) -> None:
        super().__init__()
        self._about = about
        self._draft = draft

    def compose(self) -> ComposeResult:
        """The text first, then the verdicts."""
        with Vertical():
            yield Label(one_line(self._about), markup=False)
            yield TextBox()
            yield Label("Verdict (tab, then up and down; enter writes)", markup=False)
            yield RowList(id="verdicts")

    async def on_mount(self) -> None:
        """Type at once."""
        self.query_one("#verdicts", RowList).show(
            Table(len(_CHOICES), lambda index: verdict_line(_CHOICES[index])),
            cursor=_CHOICES.index(self._draft.verdict),
        )
        await self.query_one(TextBox).fill(self._draft.text)
        self.query_one(TextBox).begin()

    @property
    def _verdict(self) -> str | None:
        return _CHOICES[self.query_one("#verdicts", RowList).index or 0]

    def action_back(self) -> None:
        """Go back; what is typed stays a draft."""
        self.dismiss(Remark(self._verdict, self.query_one(TextBox).draft))

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
        said = Remark(self._verdict, event.answer.strip(), sent=True)
        if not said.empty:
            self.dismiss(said)
        else:
            self.notify("write something, or choose a verdict", markup=False)
