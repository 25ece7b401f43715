"""Who gave each answer of a run, by which door, and how long it took: a list that can be sorted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType

from ...session.timeline import StepEffort, total_effort
from ...text import plural
from ..clock import Clock
from ..draw.effort import ORDERS, arranged_efforts, effort_grid, effort_layout, effort_text
from ..keys.bindings import screen_bindings
from ..widgets.lines.column_heads import Heads
from ..widgets.lines.row_list import RowList
from .base import QuizlogScreen


class EffortScreen(QuizlogScreen[int | None]):
    """Dismisses with the step to go to, or None.

    Args:
        steps: What each answer took.
        answers: The answers.
        step: The step that is marked at first.
        clock: How times are told.
    """

    SCOPE = "effort"
    BINDINGS: ClassVar[list[BindingType]] = screen_bindings("effort")
    DEFAULT_CSS = "EffortScreen #answers { height: 1fr; }"

    def __init__(
        self, steps: Sequence[StepEffort], answers: Sequence[str], step: int, clock: Clock
    ) -> None:
        super().__init__()
        self._every = steps
        self._answers = answers
        self._clock = clock
        self._order = ORDERS[0]
        self._shown = list(steps)
        self._step = step

    def content(self) -> ComposeResult:
        """Titles, and the list."""
        yield Heads(id="heads")
        yield RowList(id="answers")

    def on_mount(self) -> None:
        """Start at the step that one looked at."""
        rows = self.query_one("#answers", RowList)
        rows.border_title = "Who answered, and how long it took"
        self.draw()
        rows.focus()

    def draw(self) -> None:
        """Put the answers on the screen; the mark stays on its answer."""
        self._shown = arranged_efforts(self._every, self._order)
        lay_out = effort_layout(self._every, self._answers)
        self.query_one(Heads).show(lay_out, {self._order: " ▼"})
        places = [step.at for step in self._shown]
        cursor = places.index(self._step) if self._step in places else 0
        grid = effort_grid(self._shown, self._answers, self._clock, lay_out)
        self.query_one("#answers", RowList).show(grid, cursor=cursor)
        count = plural(len(self._every), "answer")
        sums = effort_text(total_effort(self._every), self._clock)
        self.status(f"{count} · by {self._order} · {sums}")

    def on_row_list_moved(self, event: RowList.Moved) -> None:
        """Remember the marked answer, not its row."""
        if event.index < len(self._shown):
            self._step = self._shown[event.index].at

    def on_row_list_chosen(self, event: RowList.Chosen) -> None:
        """Go to the step of the answer."""
        self.action_go()

    def on_heads_clicked(self, event: Heads.Clicked) -> None:
        """Sort by a column."""
        if event.column in ORDERS:
            self._order = event.column
            self.draw()

    def action_sort(self) -> None:
        """Sort by the next column."""
        self._order = ORDERS[(ORDERS.index(self._order) + 1) % len(ORDERS)]
        self.draw()

    def action_go(self) -> None:
        """To the step of the marked answer."""
        if self._shown:
            self.dismiss(self._step)
