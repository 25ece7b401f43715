"""Draws the timeline: a row for each recorded answer, one for the state after the last, sums."""

from __future__ import annotations

from itertools import islice
from math import isnan

from ...replay.transcript import Transcript
from ...session.timeline import Effort, Timeline, TimelineRow
from ...terminal_text import plain
from ...text import one_line, plural
from ..clock import Clock
from ..widgets.columns import GAP, Grid, Layout, cells_line, layout, widest
from ..widgets.documents import Line, line
from .status import MARKS, STYLES, outcome

NOTE, FORK, DECISION, CODE, TAMPERED = "✎", "┬", "◆", "code", "tampered"
"""The signs of a step with remarks, with other branches, with a decision of models, with an answer
that ran as code, and where a run was found to be tampered with."""
ALERT = "!"
"""Replaces the last two if there is only one cell."""
_ANSWER, _TIME = (6, 16), 6
"""Cells of answers at least and at most, and of a time."""
_PROMPT = 10
"""Cells below which a question is left out."""
_MOST_SIGNS = 12
_MEASURED = 200
"""Number of steps used to measure columns; wider cells in other steps are cut."""


def timeline_grid(
    timeline: Timeline, whole: Transcript, pointer: int, decided: frozenset[int], clock: Clock
) -> Grid:
    """The rows of a run through all recorded answers; those after the pointer are not in use."""
    marked = (at for at in (*timeline.marked, *decided) if at < len(timeline))
    found = (_signs(timeline[at], at in decided) for at in islice(marked, _MEASURED))
    signs = min(widest(found), _MOST_SIGNS)
    answers = widest(step.input for step in islice(whole.steps, _MEASURED))
    answer = max(_ANSWER[0], min(answers, _ANSWER[1]))

    digits = max(3, len(str(len(timeline) - 1)))

    def make(index: int, columns: Layout) -> Line:
        row = timeline[index]
        mark = f"{'▸' if index == pointer else ' '}{index:{digits}} "
        signed = _signs(row, index in decided)
        if row.answer is None:
            state = (outcome(whole.status, whole.score), STYLES[whole.status])
            return line((mark, "dim"), state, (f" {signed}", "warn"), cut=True)
        return _row(row, mark, signed, columns, clock)

    def text(index: int) -> str:
        row = timeline[index]
        return f"{index} {row.answer} {plain(row.question or '')}"

    def lay_out(width: int) -> Layout:
        return _columns(max(0, width - digits - 2), answer, signs)

    return Grid(len(timeline), lay_out, make, text)


def _columns(width: int, answer: int, signs: int) -> Layout:
    """The columns after the number. The question gets the remaining width and is dropped first."""
    fixed = {"signs": signs} if signs else {}
    columns = {"answer": answer, **fixed, "prompt": max(_PROMPT, width), "time": _TIME}
    found = layout(width, columns, {"answer": _ANSWER[0], "time": _TIME, "prompt": _PROMPT})
    spare = width - sum(found.values()) - GAP * (len(found) - 1)
    return found | {"answer": found["answer"] + max(0, spare)}


def _row(row: TimelineRow, mark: str, signs: str, columns: Layout, clock: Clock) -> Line:
    answer = one_line(row.answer or "") or "(empty)"
    time = "" if isnan(row.seconds) else clock.duration(row.seconds)
    cells = {
        "answer": (answer, "answer" if row.used else "dim"),
        "signs": (signs, "warn"),
        "prompt": (one_line(plain(row.question or "").strip()) or "(no prompt)", "dim"),
        "time": (f"{time:>{_TIME}}", "dim"),
    }
    return line((mark, "dim"), *cells_line(columns, cells).pieces, cut=True)


def _signs(row: TimelineRow, decided: bool) -> str:
    """The signs of a step: decision, notes, and outcomes of other attempts."""
    found = [TAMPERED] if row.step.tampered else []
    found += [CODE] if row.code else []
    found += [DECISION] if decided else []
    found += [f"{NOTE}{len(row.notes)}"] if row.notes else []
    found += [f"{FORK}{MARKS[one.status]}{_score(one.score)}" for one in row.tries[:3]]
    found += ["…"] if len(row.tries) > 3 else []
    return " ".join(found)


def _score(score: float | None) -> str:
    return "" if score is None else f"{score:g}"


_MOST_GIVERS = 3


def effort_text(effort: Effort, clock: Clock) -> str:
    """The sums in a line; who gave answers only as far as somebody is known."""
    said = [f"script {clock.duration(effort.script)}"]
    if effort.waited is not None:
        said.append(f"waited {clock.duration(effort.waited)}")
    if effort.requests:
        said.append(plural(effort.requests, "model request"))
    givers = [f"{one_line(name)} {count}" for name, count in effort.givers.items()]
    more = ["…"] if len(givers) > _MOST_GIVERS else []
    return " · ".join([*said, *givers[:_MOST_GIVERS], *more])
