"""Goes to hits in all branches of the record, and on from one to the next in the player."""

from __future__ import annotations

from dataclasses import replace

from ...replay.replayer import Replayer
from ...session.find import Hit, excerpt
from ...terminal_text import plain
from ...text import plural
from ..messages import ChosenHit, Query
from ..screens.dialogs import switch_dialog
from ..toasts import tell
from ..widgets.documents import safe
from ..widgets.finding import Finding, Place
from .editing import Editing
from .panes import Panes

_SHOWN = 80
"""Characters of a hit's line that are told."""


class FindAll:
    """Finds in all branches of the record."""

    def __init__(self, panes: Panes, editing: Editing, replayer: Replayer) -> None:
        self.session = panes.session
        self._screen = panes.screen
        self._panes = panes
        self._editing = editing
        self._replayer = replayer
        self._query = Query()
        self._chosen: ChosenHit | None = None
        self._marked: Finding | None = None
        """The search of the output that marks the hit one is at; another one ends going on."""

    async def open(self) -> None:
        """List what is found, and go to the hit that is chosen."""
        from ..screens.find import FindScreen, RunTexts

        state = self._panes.state
        texts = RunTexts(self.session, self._replayer, state.whole)
        chosen = await self._screen.app.push_screen_wait(FindScreen(texts, self._query))
        if chosen is not None:
            self._query = chosen.query
            await self._go(chosen)

    async def start(self, chosen: ChosenHit) -> None:
        """Go to a hit that was found in the library, also behind the pointer."""
        if len(self.session.record.inputs) > len(self._panes.state.whole.steps):
            await self._editing.take_tail(chosen.hits[chosen.index].passage.at).wait()
        await self._go(chosen)

    def go_on(self, by: int) -> bool:
        """Go to the next hit of this branch, or the one before; False if none was chosen."""
        chosen = self._chosen
        if chosen is None or self._marked is not self._panes.output.search.finding:
            return False
        here = [at for at, hit in enumerate(chosen.hits) if self._elsewhere(hit) is None]
        ahead = [at for at in here if (at - chosen.index) * by > 0] or here
        if ahead:
            self._look(replace(chosen, index=ahead[0 if by > 0 else -1]))
        return bool(ahead)

    async def _go(self, chosen: ChosenHit) -> None:
        """Go to a hit; asks before it switches to another branch."""
        hit = chosen.hits[chosen.index]
        branch = self._elsewhere(hit)
        if branch is not None:
            ask = switch_dialog(hit.passage.at, branch)
            if await self._screen.app.push_screen_wait(ask) != 0:
                return
            await self._editing.switch(branch).wait()
        if self._elsewhere(hit) is None:
            self._look(chosen)

    def _elsewhere(self, hit: Hit) -> str | None:
        """The branch to switch to; None if the active one has that step."""
        return self.session.branch_with(hit.passage.branch, hit.passage.at)

    def _look(self, chosen: ChosenHit) -> None:
        self._chosen = chosen
        hit = chosen.hits[chosen.index]
        self._panes.open_folds()
        self._panes.show(self._panes.state.to(hit.passage.at))
        output = self._panes.output
        output.find(hit.matched)
        if hit.passage.part in ("output", "question"):
            output.find_from(self._place(hit))
        self._marked = output.search.finding
        self._tell_place(chosen)

    def _place(self, hit: Hit) -> Place:
        """Where a hit in what was printed or asked stands in the output."""
        passage, state = hit.passage, self._panes.state
        stop = state.whole.upto(passage.at).last
        before = plain("".join(stop.written)) if passage.part == "question" else ""
        before += passage.text[: hit.start + hit.spans[0][0]]
        return Place(passage.at, len(safe(before)))

    def _tell_place(self, chosen: ChosenHit) -> None:
        """Say which hit it is and where, in words of its own: not all stands in the output."""
        hit = chosen.hits[chosen.index]
        count = f"{chosen.index + 1} of {plural(len(chosen.hits), 'hit')}"
        text = "".join(piece for piece, _ in excerpt(hit, _SHOWN)).strip()
        tell(self._screen, f"{count}, {hit.passage.part} of step {hit.passage.at}: {text}")
