"""The ways from the player to the screens beside it: tree, notes, the next record.

What a screen brings back is taken over here; what it shows is its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import work

from ....record.author import QUESTION, keep_author
from ....replay.replayer import Replayer
from ....replay.script.grants import grant
from ....session.session import Session
from ...clock import Clock
from ...messages import Neighbour
from ...widgets.editors.answered import Answered
from ...widgets.lines.documents import line
from ...widgets.prompt_panel import PromptPanel
from ..base import DIALOG
from ..dialogs import AskScreen, ChooseScreen
from ..export import Export, ReportExport, report_name
from .recorded import needs_script
from .tools import PlayerTools

if TYPE_CHECKING:
    from .remark import Remark


class PlayerDialogs(PlayerTools):
    """The third of the player that opens other screens.

    Args:
        session: The open record.
        replayer: Where it runs, to cancel a slow script.
        clock: How times are told.
        author: Who writes remarks here.
    """

    def __init__(self, session: Session, replayer: Replayer, clock: Clock, author: str) -> None:
        super().__init__(session, replayer)
        self._clock = clock
        self._author = author
        self._drafts: dict[tuple[str, int], Remark] = {}
        self.browsing = False
        """Whether one goes from record to record: the keys then stay with the screen."""

    def focus_pending(self) -> None:
        """Give a pending question the focus, unless one only goes by."""
        if self.browsing:
            self.query_one("#output").focus()
        else:
            super().focus_pending()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Whether an action makes sense now: nobody goes and types who is typing."""
        if action != "focus_answer":  # asked of every key there is, whenever the focus moves
            return True
        return not any(panel.has_focus_within for panel in self.query(PromptPanel))

    def action_focus_answer(self) -> None:
        """Go and type: one stays here."""
        self.browsing = False
        super().action_focus_answer()

    def on_answered(self, event: Answered) -> None:
        """One stays here; the answer itself is taken where all moves are."""
        self.browsing = False

    @work(group=DIALOG)
    async def action_tree(self) -> None:
        """The branches; a change made there shows here."""
        from ..tree import TreeScreen

        tree = TreeScreen(self.session, self._replayer, self._clock)
        if await self.app.push_screen_wait(tree):
            self.move(self.session.reply)

    @work(group=DIALOG)
    async def offer_grants(self) -> None:
        """Ask whether the script may have what it asks for, before it is run with it."""
        source = self.session.source
        question = f"{source.path.name} asks for {' and '.join(source.refused)}."
        lines = [line("run it without", cut=True), line("allow this version of it", cut=True)]
        if await self.app.push_screen_wait(ChooseScreen(question, lines)) == 1:
            grant(source.code_hash, source.refused)
            self.move(self.session.reload)

    @needs_script
    @work(group=DIALOG)
    async def action_note(self) -> None:
        """Write a remark on the step shown."""
        from .remark import Remark, RemarkScreen

        at, session = self.state.step, self.session
        place = (session.branch, at)
        recorded = self.state.recorded
        given = f", answer {recorded!r}" if recorded is not None else ""
        about = f"Note on step {at} of {session.branch}{given}"
        draft = self._drafts.pop(place, Remark())
        said = await self.app.push_screen_wait(RemarkScreen(about, draft))
        self._drafts[place] = said
        if not said.sent or not await self._ask_author():
            if not said.empty:
                self.tell(f"kept as a draft; {self.key('player.note')} goes on with it")
            return
        author = self._author
        done = await self.work_on(
            lambda: session.comment(at, said.text, said.verdict, author), "writing"
        )
        if done is not None:
            del self._drafts[place]
            self.draw()
            self.tell(f"noted at step {at}; F lists all notes")

    async def _ask_author(self) -> bool:
        """Ask for the author's name unless it is known; whether it is known now."""
        if not self._author:
            name = await self.app.push_screen_wait(AskScreen(QUESTION))
            self._author = "" if name is None else keep_author(name)
        return bool(self._author)

    @work(group=DIALOG)
    async def action_notes(self) -> None:
        """All remarks; go to the step of the one chosen."""
        from ..notes import NotesScreen

        place = await self.app.push_screen_wait(NotesScreen(self.session, self._clock))
        if place is None:
            return
        branch = place.branch
        if branch is not None:
            await self.move(lambda: self.session.switch(branch)).wait()
        if branch in (None, self.session.branch):
            self.state = self.state.to(place.step)
            self.draw()

    def exports(self) -> list[Export]:
        """The screen, and the whole record with all its branches."""
        name, report = report_name(self.session.path), ReportExport(self.session, self.progress)
        return [
            *super().exports(),
            Export("the whole record as HTML", f"{name}.html", report.write, report),
            Export("the whole record as Markdown", f"{name}.md", report.write, report),
        ]

    def action_neighbour(self, by: int) -> None:
        """The next record of the library, or the one before."""
        self.post_message(Neighbour(self.session.path, by))
