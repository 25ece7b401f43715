"""The dialog for a note on a step: a verdict and a text."""

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
from ...widgets.documents import Table
from ...widgets.editors import TextBox
from ...widgets.row_list import RowList
from ...widgets.text_fields import Answered
from ..dialogs import DIALOG_STYLE

_CHOICES: tuple[str | None, ...] = (None, *VERDICTS)


@dataclass(frozen=True)
class Remark:
    """A note on a step."""

    verdict: str | None = None
    text: str = ""
    sent: bool = False
    """Whether to write it; otherwise it is a draft, possibly empty."""

    @property
    def empty(self) -> bool:
        """Whether there is neither text nor verdict."""
        return not (self.verdict or self.text.strip())


class RemarkScreen(ModalScreen[Remark]):
    """Dismisses with a note, or with its draft if the user goes back.

    Args:
        about: The step that it is about.
        draft: The initial content.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Back"),
        Binding("ctrl+s,f5", "send", "Write", priority=True),
    ]
    DEFAULT_CSS = f"""
    RemarkScreen {{ {DIALOG_STYLE}
        & > Vertical {{ max-width: 80; max-height: 90%; }}
        & #verdicts {{ height: 4; border: none; }}
        & #verdicts:focus {{ border: none; background: $panel; }}
    }}
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
            yield Label("Verdict (Tab, then up and down; Enter saves)", markup=False)
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
        """Go back and keep the text as a draft."""
        self.dismiss(Remark(self._verdict, self.query_one(TextBox).draft))

    def action_send(self) -> None:
        """Send text and verdict."""
        self.query_one(TextBox).action_send()

    def on_row_list_chosen(self, event: RowList.Chosen) -> None:
        """Send when a verdict is chosen with Enter."""
        event.stop()
        self.action_send()

    def on_answered(self, event: Answered) -> None:
        """Send when the text is submitted."""
        event.stop()
        said = Remark(self._verdict, event.answer.strip(), sent=True)
        if not said.empty:
            self.dismiss(said)
        else:
            self.notify("write something, or choose a verdict", markup=False)
