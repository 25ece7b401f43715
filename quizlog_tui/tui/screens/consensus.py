"""The screen that shows recorded decisions of several models, one at a time.

It asks no model and writes nothing: another rule is only applied to the recorded evidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal

from ...solver.decision import Decision
from ...solver.voting.decide import RULES, decide
from ...text import clipped
from ..clock import Clock
from ..draw.consensus import outcome_text, reply_lines, verdict_lines
from ..keys.keymap import screen_bindings
from ..toasts import tell
from ..widgets.documents import Paragraphs, line
from ..widgets.line_view import LineView
from .base import DIALOG, QuizlogScreen
from .dialogs import ChooseScreen


class ConsensusScreen(QuizlogScreen[int | None]):
    """Shows decisions; dismisses with the index of one whose step is to be shown, or None.

    Args:
        decisions: Those of a record, oldest first; at least one.
        start: The one to begin with.
        clock: Formats durations.
    """

    SCOPE = "consensus"
    BINDINGS: ClassVar[list[BindingType]] = screen_bindings("consensus")
    DEFAULT_CSS = """
    ConsensusScreen {
        & LineView { width: 1fr; height: 1fr; }
        & #replies { display: none; }
        &.-wide #replies { display: block; }
    }
    """

    def __init__(self, decisions: Sequence[Decision], start: int, clock: Clock) -> None:
        super().__init__()
        self._decisions = decisions
        self._at = start
        self._clock = clock
        self._again: Decision | None = None

    def content(self) -> ComposeResult:
        """The verdict, and the replies beside it or below it in the same pane."""
        with Horizontal():
            yield LineView(id="verdict")
            yield LineView(id="replies")

    def on_mount(self) -> None:
        """Draw once the width is known."""
        self.query_one("#verdict").border_title = "Decision"
        self.query_one("#replies").border_title = "Models"
        self.call_after_refresh(self._draw)
        self.query_one("#verdict").focus()

    def on_resize(self) -> None:
        """Choose one pane or two."""
        self.call_after_refresh(self._draw)

    def _draw(self) -> None:
        decision = self._decisions[self._at]
        verdict, replies = verdict_lines(decision, self._again), reply_lines(decision, self._clock)
        if not self.has_class("-wide"):
            verdict = [*verdict, line(""), *replies]
        self.query_one("#verdict", LineView).show(Paragraphs(verdict))
        self.query_one("#replies", LineView).show(Paragraphs(replies))
        self.status(self._status_text(decision))

    def _status_text(self, decision: Decision) -> str:
        asked, count = decision.question, len(self._decisions)
        step = "" if asked.pointer is None else f" · step {asked.pointer}"
        branch = f" of {asked.branch}" if asked.branch else ""
        chosen, when = (
            clipped(outcome_text(decision.verdict), 40),
            self._clock.describe(decision.time),
        )
        return f"◆ decision {self._at + 1} of {count}{step}{branch} · {chosen} · {when}"

    def action_decision(self, by: int) -> None:
        """Go to the next (1) or previous (-1) decision."""
        to = self._at + by
        if not 0 <= to < len(self._decisions):
            tell(self, "no more decisions that way")
            return
        self._at, self._again = to, None
        self._draw()
        for pane in self.query(LineView):
            pane.scroll_home(animate=False)

    @work(group=DIALOG)
    async def action_rule(self) -> None:
        """Decide again by another rule, and show it beside the recorded outcome."""
        decision = self._decisions[self._at]
        used = self._again.verdict.rule if self._again else decision.verdict.rule
        names = list(RULES)
        lines = [line(f"{name:<11} ", (RULES[name].about, "dim"), cut=True) for name in names]
        question = "Decide again by which rule? Nothing is written."
        start = names.index(used) if used in names else 0
        chosen = await self.app.push_screen_wait(ChooseScreen(question, lines, start))
        if chosen is None:
            return
        again = decide(decision, names[chosen])
        self._again = None if again.verdict == decision.verdict else again
        if self._again is None:
            tell(self, "as recorded")
        self._draw()

    def action_look(self) -> None:
        """Go back to the player, at the step of this decision."""
        self.dismiss(self._at)
