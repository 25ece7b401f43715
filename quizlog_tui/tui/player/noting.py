"""Writes notes on the steps of the player's record; unsent ones are kept as drafts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...config import QUESTION, keep_author
from ..clock import Clock
from ..toasts import tell
from .editing import Editing
from .panes import Panes

if TYPE_CHECKING:
    from ..screens.notes import Remark


class Noting:
    """Writes a note on the step shown, and goes to the step of one.

    Args:
        panes: Show the step.
        editing: Goes to another branch.
        clock: Formats times.
        author: Who writes; asked for if it is empty.
    """

    def __init__(self, panes: Panes, editing: Editing, clock: Clock, author: str) -> None:
        self._panes = panes
        self._editing = editing
        self._clock = clock
        self._author = author
        self._drafts: dict[tuple[str, int], Remark] = {}

    async def write(self) -> None:
        """Write a note on the step shown."""
        from ..screens.notes import Remark, RemarkScreen

        state, session, screen = self._panes.state, self._panes.session, self._panes.screen
        at, recorded = state.step, state.recorded
        place = (session.record.branch, at)
        given = f", answer {recorded!r}" if recorded is not None else ""
        about = f"Note on step {at} of {session.record.branch}{given}"
        draft = self._drafts.pop(place, Remark())
        said = await screen.app.push_screen_wait(RemarkScreen(about, draft))
        self._drafts[place] = said
        if not said.sent or not await self._ask_author():
            if not said.empty:
                tell(screen, f"saved as a draft; {screen.key('player.note')} continues it")
            return
        author = self._author
        done = await screen.slow_work.run(
            lambda: session.comment(at, said.text, said.verdict, author), "writing"
        )
        if done is not None:
            del self._drafts[place]
            self._panes.draw()
            tell(screen, f"noted at step {at}; {screen.key('player.notes')} lists all notes")

    async def _ask_author(self) -> bool:
        if not self._author:
            name = await self._panes.screen.ask(QUESTION)
            self._author = "" if name is None else keep_author(name)
        return bool(self._author)

    async def choose(self) -> None:
        """Show all notes; go to the step of the chosen one."""
        from ..screens.notes import NotesScreen

        session = self._panes.session
        notes = NotesScreen(session, self._clock)
        place = await self._panes.screen.app.push_screen_wait(notes)
        if place is None:
            return
        if place.branch is not None:
            await self._editing.switch(place.branch).wait()
        if place.branch in (None, session.record.branch):
            self._panes.show(self._panes.state.to(place.step))
