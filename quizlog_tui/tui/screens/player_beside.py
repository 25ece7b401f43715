"""The player's doors to what lies beside the run: comparison, sweep, decisions.

Each screen is imported when it is opened.
"""

from __future__ import annotations

from collections.abc import Sequence

from textual import work

from ...errors import QuizlogError
from ...text import plural
from ..clock import Clock
from .base import DIALOG
from .player_moves import PlayerMoves


class PlayerBeside(PlayerMoves):
    """The part of the player that opens other screens at the step shown."""

    _clock: Clock

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

    @work(group=DIALOG)
    async def action_decision(self) -> None:
        """How several models came to the answer at this step."""
        from ...solver.decision_file import decisions_path, read_decisions
        from ..decided import decided, nearest
        from .consensus import ConsensusScreen

        path = decisions_path(self.session.path)
        kept = await self.work_on(lambda: read_decisions(path), "reading decisions")
        if kept is None:
            return
        self._tell_faults(kept.faults)
        if not kept.decisions:
            self.tell(f"no decisions are kept in {path.name}")
            return
        record = self.session.record
        start = nearest(kept.decisions, record, self._head.step)
        screen = ConsensusScreen(kept.decisions, start, self._clock)
        chosen = await self.app.push_screen_wait(screen)
        if chosen is None:
            return
        steps = decided(kept.decisions, record).items()
        step = next((at for at, indexes in steps if chosen in indexes), None)
        if step is None:
            branch = kept.decisions[chosen].question.branch
            self.tell(f"it was not asked on this branch, but on {branch or 'none'}")
            return
        self._head = self._head.to(step)
        self.draw()

    def _tell_faults(self, faults: Sequence[QuizlogError]) -> None:
        """Say what of a file of decisions cannot be read."""
        if faults:
            self.warn(f"{plural(len(faults), 'line')} cannot be read: {faults[0]}")
