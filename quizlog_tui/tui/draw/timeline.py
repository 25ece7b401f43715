"""The timeline: a row for each recorded answer, and one for where the run stands after the last."""

from __future__ import annotations

from ...replay.transcript import Step, Transcript
from ...text import one_line
from ..clock import Clock
from ..widgets.documents import Line, Table, line
from .words import STYLES, outcome


def timeline_table(whole: Transcript, pointer: int, clock: Clock) -> Table:
    """Rows for a run through all recorded answers; those from the pointer on are not in use."""
    steps = whole.steps

    def make(index: int) -> Line:
        mark = ("▸" if index == pointer else " ") + f"{index:3} "
        if index == len(steps):
            style = STYLES[whole.status]
            return line((mark, "dim"), (outcome(whole.status, whole.score), style), cut=True)
        return _row(steps[index], mark, clock, used=index < pointer)

    return Table(len(steps) + 1, make)


def _row(step: Step, mark: str, clock: Clock, *, used: bool) -> Line:
    answer = one_line(step.input or "") or "(empty)"
    asked = one_line((step.prompt or "").strip()) or "(no prompt)"
    return line(
        (mark, "dim"),
        (answer, "answer" if used else "dim"),
        (f"  {asked}  {clock.duration(step.seconds)}", "dim"),
        cut=True,
    )
