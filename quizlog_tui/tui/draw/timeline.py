"""The timeline: a row for each recorded answer, and one for where the run stands after the last."""

from __future__ import annotations

from ...replay.transcript import Transcript
from ...text import one_line
from ...timeline import Moment, Timeline
from ..clock import Clock
from ..widgets.documents import Line, Table, line
from .words import MARKS, STYLES, outcome

NOTE, FORK, DECISION = "✎", "┬", "◆"
"""The signs of a step with remarks, with other branches, and with a decision of models."""


def timeline_table(
    moments: Timeline, whole: Transcript, pointer: int, decided: frozenset[int], clock: Clock
) -> Table:
    """Rows for a run through all recorded answers; those from the pointer on are not in use.

    Args:
        moments: The steps.
        whole: The run, for where it stands at its end.
        pointer: The record's pointer.
        decided: Steps whose answer several models decided.
        clock: How durations are told.
    """

    def make(index: int) -> Line:
        moment = moments[index]
        mark = ("▸" if index == pointer else " ") + f"{index:3} "
        signs = (_signs(moment, index in decided), "warn")
        if moment.answer is None:
            style = STYLES[whole.status]
            return line((mark, "dim"), (outcome(whole.status, whole.score), style), signs, cut=True)
        return _row(moment, mark, signs, clock)

    return Table(len(moments), make)


def _row(moment: Moment, mark: str, signs: tuple[str, str], clock: Clock) -> Line:
    answer = one_line(moment.answer or "") or "(empty)"
    asked = one_line((moment.prompt or "").strip()) or "(no prompt)"
    return line(
        (mark, "dim"),
        (answer, "answer" if moment.used else "dim"),
        signs,
        (f"  {asked}  {clock.duration(moment.seconds)}", "dim"),
        cut=True,
    )


def _signs(moment: Moment, decided: bool) -> str:
    """What there is at a step besides its answer: a decision, remarks, other tries' outcomes."""
    found = [DECISION] if decided else []
    found += [f"{NOTE}{len(moment.notes)}"] if moment.notes else []
    found += [f"{FORK}{MARKS[one.status]}{_score(one.score)}" for one in moment.tries[:3]]
    return " " + " ".join(found) if found else ""


def _score(score: float | None) -> str:
    return "" if score is None else f"{score:g}"
