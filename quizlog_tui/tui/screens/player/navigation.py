"""Where one looks in the player: steps, events, marks, jumps. Changes no record."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ...draw.output import events
from ...playhead import Playhead
from ...toasts import tell, warn
from ...widgets.lines.line_view import LineView
from ..base import DIALOG
from ..dialogs import AskScreen
from ..view import in_worker
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
        """Look at a step, the nearest there is."""
        self._look(self._head.to(step))

    def step(self, by: int) -> None:
        """Look at another step."""
        whole = 1 if by < 0 and self._head.hidden else 0
        self.look_at(self._head.step + by + whole)

    def go(self, step: int) -> None:
        """Look at a step; -1 is the last."""
        self.look_at(self._head.length if step < 0 else step)

    def event(self, by: int) -> None:
        """One printed text or question on or back."""
        whole = self._holder.state.whole
        self._look(self._head.event(by, lambda step: events(whole.upto(step).last)))

    def mark(self, by: int) -> None:
        """To the next or previous error, note, fork or decision."""
        head = self._head.mark(by, list(self._marks()))
        if head == self._head:
            tell(self.view, "no more marks that way")
        self._look(head)

    @in_worker(DIALOG)
    async def jump(self) -> None:
        """To a step by its number."""
        question = f"Go to which step, 0 to {self._head.length}?"
        text = await self.view.app.push_screen_wait(AskScreen(question))
        if text and text.strip().isdecimal():
            self.look_at(int(text))
        elif text:
            warn(self.view, f"{text!r} is no step")

    # -- searching the output, which goes on behind the step shown

    def next_with_hit(self, pane: LineView) -> int | None:
        """The next step at which the output has more of what is searched for."""
        finding = pane.search.finding
        if pane.id != "output" or finding is None:
            return None
        return self._output.next_step_with(finding.count)

    def find_later(self, pane: LineView) -> bool:
        """Go to a place found at a later step, if the pane shows the last of those before."""
        start = pane.after_last_hit()
        step = self.next_with_hit(pane) if start is not None else None
        if start is None or step is None:
            return False
        self.look_at(step)
        pane.find_from(start)
        return True
