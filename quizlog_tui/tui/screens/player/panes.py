"""The panes of the player: which has the focus, which is in sight, and when keys act on them."""

from __future__ import annotations

from ....session.session import Session
from ...widgets.lines.line_view import LineView
from ...widgets.prompt_panel import PromptPanel
from ..base import QuizlogScreen
from ..view import in_worker
from .locked import writes
from .recorded import needs_script


class Panes:
    """Turns to a pane.

    Args:
        view: The screen they are on.
        session: The open record.
        browsing: Whether one goes from record to record: the keys then stay with the screen.
    """

    def __init__(self, view: QuizlogScreen[None], session: Session, browsing: bool) -> None:
        self.view = view
        self.session = session
        self._browsing = browsing

    @property
    def prompt(self) -> PromptPanel:
        """The question and the input below it."""
        return self.view.query_one(PromptPanel)

    @property
    def output(self) -> LineView:
        """The output."""
        return self.view.query_one("#output", LineView)

    def focus_output(self) -> None:
        """Give the output the focus."""
        self.view.query_one("#output").focus()

    def focus_pending(self) -> None:
        """Give a pending question the focus, bringing it into sight; else the output.

        One who only goes by is kept from typing.
        """
        if self._browsing:
            self.focus_output()
            return
        self.view.remove_class("-aside")
        if not self.prompt.focus_input():
            self.focus_output()

    def stay(self) -> None:
        """One does not go by any longer: the question may have the focus."""
        self._browsing = False

    def focus_answer(self) -> None:
        """Go and type: one stays here."""
        self.stay()
        self._type()

    @writes("an answer")
    @needs_script
    def _type(self) -> None:
        self.focus_pending()

    def plain(self) -> None:
        """A plain line for the answer, or the fitting input again."""
        self.prompt.toggle_plain()
        self.focus_pending()

    def source(self) -> None:
        """The source in place of the timeline, or back; both where there is room."""
        self.view.toggle_class("-source")
        if self.view.has_class("-narrow"):
            self.view.set_class(self.view.has_class("-source"), "-aside")

    def panel(self, name: str) -> None:
        """Focus a pane, bringing it into sight."""
        self.view.set_class(name != "output", "-aside")
        if name != "output":
            self.view.set_class(name == "source", "-source")
        if name != "output" and self.view.has_class("-narrow"):
            self.view.remove_class("-recorded")
        self.view.query_one(f"#{name}").focus()

    @in_worker("paint", exclusive=True)
    async def take_keys_when_painted(self) -> None:
        """Let keys act again once what they are to act on can be seen."""
        await self.prompt.arranged()
        await self.view.wait_for_refresh()
        self.view.gate.open()
