"""The pane with the whole recorded answer of the step shown."""

from __future__ import annotations

from collections.abc import Callable

from ....session.timeline import Timeline
from ...draw.answer import answer_lines
from ...draw.status import error_lines
from ...widgets.documents import Paragraphs
from ...widgets.line_view import LineView
from .context import PlayerContext
from .panes import Panes
from .player_state import PlayerState
from .unreadable_script import source_to_draw


class AnswerPane:
    """Shows and hides the pane, and draws it while it is shown.

    Args:
        context: What the parts of the player share.
        panes: Of the screen.
    """

    def __init__(self, context: PlayerContext, panes: Panes) -> None:
        self._context = context
        self._panes = panes

    def toggle(self) -> None:
        """Show it beside the output, or take it away again."""
        screen = self._panes.view
        shown = not screen.has_class("-recorded")
        screen.set_class(shown, "-recorded").set_class(shown, "-aside")
        if shown:
            screen.query_one("#recorded").focus()
        else:
            self._panes.focus_output()
        self._context.view.draw()

    def draw(self, state: PlayerState, moments: Timeline, given: Callable[[int], str]) -> None:
        """Show the answer recorded at the step.

        Args:
            state: What the player shows.
            moments: The steps of the run.
            given: Tells who gave the answer at a step, as far as that is known.
        """
        screen = self._panes.view
        if not screen.has_class("-recorded"):
            return
        ended = state.step + 1 == len(state.whole.steps)
        source = source_to_draw(self._context.session)
        error = error_lines(state.whole, source) if ended else []
        lines = answer_lines(moments[state.step], given(state.step), error)
        pane = screen.query_one("#recorded", LineView)
        pane.border_title = f"Answer at step {state.step}"
        pane.show(Paragraphs(lines))
