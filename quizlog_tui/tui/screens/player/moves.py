"""Makes the player's changes to its record, one after the other, and follows changes by others.

Each change calls the session in a thread, so that a slow script never freezes the screen.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from ....files.stamp import Watch
from ....replay.transcript import Transcript
from ...toasts import tell, warn
from ..base import in_worker
from .context import PlayerContext
from .panes import Panes
from .player_state import state_of

_FOLLOW_SECONDS = 0.5
"""Seconds between two checks for changes by other programs."""


class Moves:
    """Makes changes and shows their result.

    Args:
        context: What the parts of the player share.
        panes: Of the screen.
    """

    def __init__(self, context: PlayerContext, panes: Panes) -> None:
        self.view = context.view
        self._session = context.session
        self._holder = context.holder
        self._panes = panes
        self._moving = asyncio.Lock()
        self._watch = Watch(self._session.path)

    @in_worker("move")
    async def move(self, call: Callable[[], Any], answer: str | None = None) -> None:
        """Make a change after the running ones, then show its result.

        Args:
            call: The change. A text that it returns is told.
            answer: What was typed for it; stands there again if it could not be made.
        """
        async with self._moving:
            panel = self._panes.prompt
            typing = panel.has_focus_within
            known = [*self._session.warnings]
            done = await self.view.slow_work.run(lambda: (call(), self._whole()))
            if done is not None:
                said, whole = done
                self._warn_of_new(known)
                self._show(whole)
                if isinstance(said, str):
                    tell(self.view, said)
                if typing:
                    self._panes.focus_pending()
            else:
                self.view.draw()
                if answer is not None:
                    panel.fill(answer)
        if answer is not None:
            self._panes.take_keys_when_painted()

    def _warn_of_new(self, known: Sequence[str]) -> None:
        for warning in self._session.warnings:
            if warning not in known:
                warn(self.view, warning)

    @in_worker("move")
    async def take_tail(self, step: int) -> None:
        """Also run the recorded answers after the pointer, and show a step."""
        async with self._moving:
            whole = await self.view.slow_work.run(self._whole)
            if whole is not None:
                self._show(whole, step)

    def _whole(self) -> Transcript:
        """The run through all recorded answers of the active branch."""
        return self._session.transcript_of()

    def _show(self, whole: Transcript, step: int | None = None) -> None:
        """Show the session's present state at its pointer or at a step."""
        finding = self._holder.state.finding
        still = finding if finding and finding.holds(self._session.record) else None
        self._holder.become(state_of(whole, self._session.pointer, step).found(still))

    def follow(self) -> None:
        """Watch the record, and show changes by other programs."""
        self.view.set_interval(_FOLLOW_SECONDS, self._look_for_changes)

    def _look_for_changes(self) -> None:
        if self.view.slow_work.running or self._moving.locked() or not self.view.is_active:
            return
        if self._watch.touched() and self._session.outdated:
            self._catch_up()

    @in_worker("move")
    async def _catch_up(self) -> None:
        """Read changes by other programs; stay at the end if it was shown and nothing is typed."""
        step, before = self._holder.state.step, self._session.pointer
        at_end = step == before and not self._panes.prompt.draft
        async with self._moving:
            done = await self.view.slow_work.run(
                lambda: (self._session.reload(), self._whole()), "reading what changed"
            )
            if done is None:
                return
            self._show(done[1], None if at_end else step)
        moved = f"step {before} → {self._session.pointer}"
        tell(self.view, f"another program changed the record: {moved}")
