"""The output of the run that the player shows: as a terminal would show it, or raw."""

from __future__ import annotations

from collections.abc import Callable

from ....replay.transcript import Transcript
from ...draw.output import RunOutput, next_step_with
from ...toasts import tell
from ...widgets.lines.documents import Document
from .context import PlayerContext
from .panes import Panes


class Output:
    """Measures the output of a run once, and gives the part to show.

    Args:
        context: What the parts of the player share.
        panes: Of the screen.
    """

    def __init__(self, context: PlayerContext, panes: Panes) -> None:
        self._panes = panes
        self._view = context.view
        self._holder = context.holder
        self._raw = False
        self._wraps = True
        self._run = RunOutput(self._holder.state.whole)

    def measure(self) -> None:
        """Measure it anew: the run is another one."""
        self._run = RunOutput(self._holder.state.whole, raw=self._raw, wraps=self._wraps)

    def at(self, shown: Transcript) -> Document:
        """What stands on the screen where `shown`, a part of the run, ends."""
        return self._run.at(shown, self._holder.state.head.hidden)

    def next_step_with(self, count: Callable[[str], int]) -> int | None:
        """The next step at which the output has more of what is counted."""
        whole, head = self._holder.state.whole, self._holder.state.head
        return next_step_with(whole, head.step, head.hidden, count, raw=self._raw)

    def toggle_raw(self) -> None:
        """Show escape sequences as text, or what a terminal makes of them."""
        self._raw = not self._raw
        self._draw_anew()
        tell(self._view, "output as it was written" if self._raw else "output as on a terminal")

    def toggle_wrapping(self) -> None:
        """Cut long lines at the right edge, or wrap them; rows of tables are always cut."""
        self._wraps = not self._wraps
        self._draw_anew()
        sideways = "" if self._wraps else f"; {self._view.key('player.right')} scrolls sideways"
        tell(self._view, f"long lines are {'wrapped' if self._wraps else 'cut'}{sideways}")

    def scroll_sideways(self, cells: int) -> None:
        """Scroll to what is cut at the right edge, or back."""
        self._panes.output.action_sideways(cells)

    def _draw_anew(self) -> None:
        self.measure()
        self._view.draw()
