"""Opens the screens and dialogs about the record: tree, notes, grants, the next record.

It applies the result of a screen to the player.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ....config import QUESTION, keep_author
from ....record.given_here import given_lines
from ....session.session import allow, not_given_here
from ....text import clipped
from ...messages import Neighbour
from ...toasts import tell
from ...widgets.lines.documents import line
from ..base import DIALOG
from ..dialogs import AskScreen, ChooseScreen
from ..export import Export, ReportExport, report_name
from ..view import in_worker
from .context import PlayerContext
from .locked import writes
from .moves import Moves
from .unreadable_script import needs_script

if TYPE_CHECKING:
    from .remark import Remark

_MOST_LINES = 5
"""Maximum number of arguments and answers that are shown before something is allowed."""


def _cut(lines: list[str]) -> list[str]:
    """Lines that leave room for the choice below them; the timeline shows all of each."""
    return [clipped(each, 80) for each in lines]


class Dialogs:
    """Opens the screens and dialogs about the record.

    Args:
        context: What the parts of the player share.
        moves: Applies changes made on other screens.
        author: Default author of notes.
    """

    def __init__(self, context: PlayerContext, moves: Moves, author: str) -> None:
        self.view, self.session = context.view, context.session
        self._context = context
        self._moves = moves
        self._author = author
        self._drafts: dict[tuple[str, int], Remark] = {}

    @in_worker(DIALOG)
    async def tree(self) -> None:
        """Show the tree of branches, then its changes."""
        from ..tree import TreeScreen

        tree = TreeScreen(self.session, self._context.replayer, self._context.clock)
        if await self.view.app.push_screen_wait(tree):
            self._moves.move(self.session.reply)

    def switch(self, branch: str) -> None:
        """Switch to a branch."""
        self._moves.move(lambda: self.session.switch(branch))

    @in_worker(DIALOG)
    async def offer_grants(self) -> None:
        """Ask whether to grant the script what it asks for."""
        source, unknown = self.session.source, not_given_here(self.session)
        question = f"{source.path.name} asks for {' and '.join(source.refused)}."
        details = [source.withheld] if source.withheld else []
        if unknown is not None:
            details += ["The record is from elsewhere:", *_cut(given_lines(unknown, _MOST_LINES))]
        lines = [line("run it without", cut=True), line("allow it, for what is here now", cut=True)]
        screen = ChooseScreen(question, lines, details=details)
        if await self.view.app.push_screen_wait(screen) == 1:
            self._moves.move(lambda: allow(self.session, source.refused, unknown))

    @writes("a note or verdict at this step", "notes")
    @needs_script
    @in_worker(DIALOG)
    async def note(self) -> None:
        """Write a note on the step shown."""
        from .remark import Remark, RemarkScreen

        state, session = self._context.holder.state, self.session
        at, recorded = state.step, state.recorded
        place = (session.record.branch, at)
        given = f", answer {recorded!r}" if recorded is not None else ""
        about = f"Note on step {at} of {session.record.branch}{given}"
        draft = self._drafts.pop(place, Remark())
        said = await self.view.app.push_screen_wait(RemarkScreen(about, draft))
        self._drafts[place] = said
        if not said.sent or not await self._ask_author():
            if not said.empty:
                tell(self.view, f"saved as a draft; {self.view.key('player.note')} continues it")
            return
        author = self._author
        done = await self.view.slow_work.run(
            lambda: session.comment(at, said.text, said.verdict, author), "writing"
        )
        if done is not None:
            del self._drafts[place]
            self.view.draw()
            tell(self.view, f"noted at step {at}; F lists all notes")

    async def _ask_author(self) -> bool:
        """Ask for the author's name unless it is known; returns whether it is known now."""
        if not self._author:
            name = await self.view.app.push_screen_wait(AskScreen(QUESTION))
            self._author = "" if name is None else keep_author(name)
        return bool(self._author)

    @in_worker(DIALOG)
    async def notes(self) -> None:
        """Show all notes; go to the step of the chosen one."""
        from ..notes import NotesScreen

        place = await self.view.app.push_screen_wait(NotesScreen(self.session, self._context.clock))
        if place is None:
            return
        branch = place.branch
        if branch is not None:
            await self._moves.move(lambda: self.session.switch(branch)).wait()
        if branch in (None, self.session.record.branch):
            self._context.holder.become(self._context.holder.state.to(place.step))

    def exports(self) -> list[Export]:
        """Exports of the whole record with all its branches."""
        name = report_name(self.session.path)
        report = ReportExport(self.session, self.view.slow_work.tell_progress)
        played = partial(report.write, player=True)
        return [
            Export("the whole record as HTML", f"{name}.html", report.write, report),
            Export("the whole record as HTML with a player", f"{name}.html", played, report),
            Export("the whole record as Markdown", f"{name}.md", report.write, report),
        ]

    def neighbour(self, by: int) -> None:
        """Open the next or previous record of the library."""
        self.view.post_message(Neighbour(self.session.path, by))
