"""Where one looks in the player: steps, events, marks, jumps, and playing on by itself.

Changes no record. What is drawn there is the player's.
"""

from __future__ import annotations

from textual import work
from textual.timer import Timer

from ....replay.replayer import Replayer
from ....session.session import Session
from ...clock import Clock
from ...draw.output import events, next_step_with
from ...playhead import Playhead
from ...widgets.lines.line_view import LineView
from ...widgets.lines.row_list import RowList
from ...widgets.scrubber import Scrubber
from ..base import DIALOG
from ..dialogs import AskScreen
from .dialogs import PlayerDialogs

_SPEEDS = (0.5, 1.0, 2.0, 4.0, 8.0)
"""Steps a second of the autoplay."""


class PlayerNavigation(PlayerDialogs):
    """The part of the player that moves the playhead.

    Args:
        session: The open record.
        replayer: Where it runs, to cancel a slow script.
        clock: How times are told.
        author: Who writes remarks here.
    """

    def __init__(self, session: Session, replayer: Replayer, clock: Clock, author: str) -> None:
        super().__init__(session, replayer, clock, author)
        self._player: Timer | None = None
        self._speed = 1

    @property
    def playing(self) -> str:
        """That it plays, and how fast; empty if it does not."""
        return f" · ▶ {_SPEEDS[self._speed]:g} steps/s" if self._player else ""

    # -- looking

    def look(self, head: Playhead) -> None:
        """Look at another place."""
        self.state = self.state.look(head)
        self.draw()

    def action_step(self, by: int) -> None:
        """Look at another step."""
        whole = 1 if by < 0 and self.state.head.hidden else 0
        self.look(self.state.head.to(self.state.step + by + whole))

    def action_go(self, step: int) -> None:
        """Look at a step; -1 is the last."""
        self.look(self.state.head.to(self.state.head.length if step < 0 else step))

    def action_event(self, by: int) -> None:
        """One printed text or question on or back."""
        self.look(self.state.head.event(by, lambda step: events(self.state.whole.upto(step).last)))

    def action_mark(self, by: int) -> None:
        """To the next or previous error, note, fork or decision."""
        head = self.state.head.mark(by, list(self.marks()))
        if head == self.state.head:
            self.tell("no more marks that way")
        self.look(head)

    @work(group=DIALOG)
    async def action_jump(self) -> None:
        """To a step by its number."""
        question = f"Go to which step, 0 to {self.state.head.length}?"
        text = await self.app.push_screen_wait(AskScreen(question))
        if text and text.strip().isdecimal():
            self.look(self.state.head.to(int(text)))
        elif text:
            self.warn(f"{text!r} is no step")

    def on_scrubber_jumped(self, event: Scrubber.Jumped) -> None:
        """The slider was moved."""
        self.look(self.state.head.to(event.step))

    def on_row_list_moved(self, event: RowList.Moved) -> None:
        """The mark moved in the timeline."""
        if event.list.id == "timeline" and event.index != self.state.step:
            self.look(self.state.head.to(event.index))

    def on_row_list_chosen(self, event: RowList.Chosen) -> None:
        """An answer of the timeline was chosen: go and type."""
        if event.list.id == "timeline":
            self.focus_pending()

    # -- searching the output, which goes on behind the step shown

    def _next_with_hit(self, pane: LineView) -> int | None:
        """The next step at which the output has more of what is searched for."""
        if pane.id != "output":
            return None
        return next_step_with(
            self.state.whole, self.state.step, self.state.head.hidden, pane.count_in
        )

    def tell_no_hit(self, pane: LineView) -> None:
        """Say that nothing is found, or where behind the step shown it is."""
        step = self._next_with_hit(pane)
        if step is None:
            super().tell_no_hit(pane)
        else:
            goes = f"{self.key('app.next')} goes on to step {step}"
            self.tell(f"not found up to step {self.state.step}; {goes}")

    def action_find_next(self, by: int) -> None:
        """Go to another place found; in the output also to later steps."""
        pane = self.pane()
        start = pane.after_last_hit() if pane is not None and by > 0 else None
        step = self._next_with_hit(pane) if pane is not None and start is not None else None
        if pane is None or start is None or step is None:
            super().action_find_next(by)
        else:
            self.look(self.state.head.to(step))
            pane.find_from(start)

    # -- playing

    def action_play(self) -> None:
        """Play on by itself, from the start if one is at the end; or stop."""
        if self._player is None:
            if self.state.step == self.state.head.length:
                self.state = self.state.to(0)
            self._player = self.set_interval(1 / _SPEEDS[self._speed], self._play_on)
        else:
            self._stop_playing()
        self.draw()

    def _play_on(self) -> None:
        self.look(self.state.head.to(self.state.step + 1))
        if self.state.step == self.state.head.length:
            self._stop_playing()
            self.draw()

    def _stop_playing(self) -> None:
        if self._player is not None:
            self._player.stop()
            self._player = None

    def action_speed(self, by: int) -> None:
        """Play faster or slower."""
        self._speed = max(0, min(self._speed + by, len(_SPEEDS) - 1))
        if self._player is None:
            self.tell(f"plays {_SPEEDS[self._speed]:g} steps a second")
        else:
            self._stop_playing()
            self.action_play()
