"""The output of the run that the player shows: drawn or raw, folded or in full."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ....replay.transcript import Transcript
from ...draw.output import OutputForm, RunOutput, is_too_long, next_step_with
from ...toasts import tell
from ...widgets.documents import Document
from .context import PlayerContext
from .panes import Panes


class Output:
    """Measures the output of a run once, and gives the part to show.

    Args:
        context: What the parts of the player share.
        panes: Of the screen.
        about: Tells who gave the answer at a step and when, as far as that is known.
    """

    def __init__(self, context: PlayerContext, panes: Panes, about: Callable[[int], str]) -> None:
        self._panes = panes
        self._view = context.view
        self._holder = context.holder
        self._about = about
        self._form = OutputForm()
        self._folds = True
        self._run: RunOutput | None = None

    def measure(self) -> None:
        """Measure it anew: the run is another one."""
        self._run = None

    @property
    def _drawn(self) -> RunOutput:
        if self._run is None:
            opens = self._view.key("player.fold") if self._folds else ""
            form = replace(self._form, opens=opens)
            self._run = RunOutput(self._holder.state.whole, form, self._about)
        return self._run

    def at(self, shown: Transcript) -> Document:
        """What stands on the screen where `shown`, a part of the run, ends."""
        return self._drawn.at(shown, self._holder.state.head.hidden)

    def next_step_with(self, count: Callable[[str], int]) -> int | None:
        """The next step at which the output has more of what is counted."""
        whole, head = self._holder.state.whole, self._holder.state.head
        return next_step_with(whole, head.step, head.hidden, count, self._drawn.form)

    def toggle_raw(self) -> None:
        """Show escape sequences as text, or what a terminal makes of them."""
        self._form = replace(self._form, raw=not self._form.raw)
        self._draw_anew()
        tell(
            self._view, "output as it was written" if self._form.raw else "output as on a terminal"
        )

    def toggle_wrapping(self) -> None:
        """Cut long lines at the right edge, or wrap them; rows of tables are always cut."""
        self._form = replace(self._form, wraps=not self._form.wraps)
        self._draw_anew()
        wraps = self._form.wraps
        sideways = "" if wraps else f"; {self._view.key('player.right')} scrolls sideways"
        tell(self._view, f"long lines are {'wrapped' if wraps else 'cut'}{sideways}")

    def toggle_stderr(self) -> None:
        """Show what the script wrote to stderr, or hide it."""
        self._form = replace(self._form, stderr=not self._form.stderr)
        self._draw_anew()
        tell(self._view, f"the script's stderr is {'shown' if self._form.stderr else 'hidden'}")

    def toggle_folds(self) -> None:
        """Show the first and last lines of long outputs, or all; folding them ends a search."""
        self._folds = not self._folds
        if self._folds:
            self._panes.output.find("")
        self._draw_anew()
        raw = not self._folds and is_too_long(self._holder.state.shown.last)
        about = ": more than 4 MB is shown with its escape sequences as text" if raw else ""
        shown = "folded" if self._folds else "shown in full"
        tell(self._view, f"long outputs are {shown}{about}")

    def open_folds(self) -> None:
        """Show all of long outputs, so that a search finds everything."""
        if self._folds:
            self._folds = False
            self._draw_anew()

    def go_to_block(self, by: int) -> None:
        """Scroll to the next block, or to the one before."""
        self._panes.output.go_to_block(by)

    def _draw_anew(self) -> None:
        self.measure()
        self._panes.output.keep_place(self._view.draw)
