"""Controls the panes of the player: focus, visibility, and when keys act."""

from __future__ import annotations

from ....session.session import Session
from ...widgets.lines.block_view import BlockView
from ...widgets.prompt_panel import PromptPanel
from ..base import QuizlogScreen, in_worker
from .locked import writes
from .unreadable_script import needs_script


class Panes:
    """Focuses and shows panes.

    Args:
        view: The screen they are on.
        session: The open record.
        browsing: Whether the user goes from record to record; the focus then stays on the screen.
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
    def output(self) -> BlockView:
        """The output."""
        return self.view.query_one("#output", BlockView)

    def focus_output(self) -> None:
        """Give the output the focus."""
        self.view.query_one("#output").focus()

    def focus_pending(self) -> None:
        """Focus and show a pending question, else the output.

        While browsing records, the focus stays on the screen.
        """
        if self._browsing:
            self.focus_output()
            return
        self.view.remove_class("-aside")
        if not self.prompt.focus_input():
            self.focus_output()

    def stay(self) -> None:
        """End browsing: the question may have the focus."""
        self._browsing = False

    def focus_answer(self) -> None:
        """Focus the input and end browsing."""
        self.stay()
        self._type()

    @writes("an answer")
    @needs_script
    def _type(self) -> None:
        self.focus_pending()

    def plain(self) -> None:
        """Switch between a plain line and the fitting input."""
        self.prompt.toggle_plain()
        self.focus_pending()

    def scroll_sideways(self, cells: int) -> None:
        """Scroll the focused pane to what is cut at the right edge, or back."""
        pane = self.view.pane()
        if pane is not None:
            pane.action_sideways(cells)

    def source(self) -> None:
        """Show the source instead of the timeline, or back; both if there is room."""
        self.view.toggle_class("-source")
        if self.view.has_class("-narrow"):
            self.view.set_class(self.view.has_class("-source"), "-aside")

    def panel(self, name: str) -> None:
        """Focus a pane and show it."""
        self.view.set_class(name != "output", "-aside")
        if name != "output":
            self.view.set_class(name == "source", "-source")
        if name != "output" and self.view.has_class("-narrow"):
            self.view.remove_class("-recorded")
        self.view.query_one(f"#{name}").focus()

    @in_worker("paint", exclusive=True)
    async def take_keys_when_painted(self) -> None:
        """Let keys act again when their target is painted."""
        await self.prompt.arranged()
        await self.view.wait_for_refresh()
        self.view.gate.open()
