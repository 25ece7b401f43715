"""The player's doors to what lies beside the run: comparison, sweep, decisions.

Each screen is imported when it is opened.
"""

from __future__ import annotations

from textual import work

from .base import DIALOG
from .player_moves import PlayerMoves


class PlayerBeside(PlayerMoves):
    """The part of the player that opens other screens at the step shown."""

    @work(group=DIALOG)
    async def action_compare(self) -> None:
        """This branch beside another branch or record."""
        from ..draw.compare import Side
        from .compare import CompareScreen, choose

        side = Side(self.session.branch, self._whole)
        found = await choose(self, self.session, self._replayer, side)
        if found is None:
            return
        screen = CompareScreen(self.session, self._replayer, found)
        step = await self.app.push_screen_wait(screen)
        if step is not None:
            self._head = self._head.to(step)
            self.draw()

    @work(group=DIALOG)
    async def action_sweep(self) -> None:
        """Many answers at the step shown, side by side."""
        from .sweep import SweepScreen

        at = self._head.step - (self.shown.status != "in_progress")
        if at < 0:
            self.tell("nothing is asked here")
            return
        screen = SweepScreen(self.session, self._replayer, self._whole.upto(at))
        if await self.app.push_screen_wait(screen):
            self.draw()
