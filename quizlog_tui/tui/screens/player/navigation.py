"""Moves the view of the player: steps, events, markers, jumps. Changes no record."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ...draw.output import events
from ...playhead import Playhead
from ...toasts import tell, warn
from ...widgets.lines.line_view import LineView
from ..base import DIALOG, in_worker
from ..dialogs import AskScreen
from .context import PlayerContext
from .output import Output


class Navigation:
    """Moves the playhead.

    Args:
        context: What the parts of the player share.
        output: The output of the run.
        marks: Gives the steps worth stopping at.
    """

    def __init__(
        self, context: PlayerContext, output: Output, marks: Callable[[], Iterable[int]]
    ) -> None:
        self.view = context.view
        self._holder = context.holder
        self._output = output
        self._marks = marks

    @property
    def _head(self) -> Playhead:
        return self._holder.state.head

    def _look(self, head: Playhead) -> None:
        self._holder.become(self._holder.state.look(head))

    def look_at(self, step: int) -> None:
        """Show a step; out-of-range steps are clamped."""
        self._look(self._head.to(step))

    def step(self, by: int) -> None:
        """Show another step."""
        whole = 1 if by < 0 and self._head.hidden else 0
        self.look_at(self._head.step + by + whole)

    def go(self, step: int) -> None:
        """Show a step; -1 is the last."""
        self.look_at(self._head.length if step < 0 else step)

    def event(self, by: int) -> None:
        """Go one printed text or question forward or back."""
        whole = self._holder.state.whole
        self._look(self._head.event(by, lambda step: events(whole.upto(step).last)))

    def mark(self, by: int) -> None:
        """Go to the next or previous error, note, fork or decision."""
        head = self._head.mark(by, list(self._marks()))
        if head == self._head:
            tell(self.view, "no more markers that way")
        self._look(head)

    @in_worker(DIALOG)
    async def jump(self) -> None:
        """Ask for a step's number and go there."""
        question = f"Go to which step, 0 to {self._head.length}?"
        text = await self.view.app.push_screen_wait(AskScreen(question))
        if text and text.strip().isdecimal():
            self.look_at(int(text))
        elif text:
            warn(self.view, f"{text!r} is not a step")

    # -- searching the output, which goes on behind the step shown

    def next_with_hit(self, pane: LineView) -> int | None:
        """The next step whose output contains more hits."""
        finding = pane.search.finding
        if pane.id != "output" or finding is None:
            return None
        return self._output.next_step_with(finding.count)

    def find_later(self, pane: LineView) -> bool:
        """Go to a hit at a later step, if the pane is at the last hit before it."""
        start = pane.after_last_hit()
        step = self.next_with_hit(pane) if start is not None else None
        if start is None or step is None:
            return False
        self.look_at(step)
        pane.find_from(start)
        return True
