"""Draws the timeline: a row for each recorded answer, one for the state after the last, sums.

What is watched has a column for each expression.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from math import isnan
from typing import TYPE_CHECKING, NamedTuple

from ...replay.transcript import Transcript
from ...session.timeline import Effort, Timeline, TimelineRow
from ...terminal_text import plain
from ...text import one_line, plural
from ..clock import Clock
from ..widgets.columns import GAP, Cell, Grid, Layout, cells_line, layout, widest
from ..widgets.documents import Line, line
from .status import MARKS, STYLES, outcome

if TYPE_CHECKING:
    from ...debug.watching import Watched

NOTE, FORK, DECISION, TAMPERED = "✎", "┬", "◆", "tampered"
"""The signs of a step with remarks, with other branches, with a decision of models, and where a run
was found to be tampered with. An answer that ran as code has the kinds of its tell-tales."""
ALERT = "!"
"""Stands for tampering and for code if there is only one cell."""
_ANSWER, _TIME = (6, 16), 6
"""Cells of answers at least and at most, and of a time."""
_VALUE = (4, 10)
"""Cells of a watched value at least and at most."""
_PROMPT = 10
"""Cells below which a question is left out."""
_WIDEST = 10_000
"""Cells of a question, which gets all that is left."""
_MOST_SIGNS = 12
_WATCH = "watch "
"""Begins the names of the columns of what is watched."""
_MEASURED = 200
"""Number of steps used to measure columns; wider cells in other steps are cut."""


def timeline_grid(
    timeline: Timeline,
    whole: Transcript,
    pointer: int,
    decided: frozenset[int],
    clock: Clock,
    steps: Sequence[int] | None = None,
    watched: Watched | None = None,
) -> Grid:
    """The rows of a run through all recorded answers; those after the pointer are not in use.

    Args:
        timeline: All rows.
        whole: The run.
        pointer: How many answers are in use.
        decided: The steps whose answer several models decided.
        clock: Formats durations.
        steps: The steps shown; None for all.
        watched: The values of expressions at each step, if there are any.
    """
    values = _values(watched)
    marked = (at for at in (*timeline.marked, *decided) if at < len(timeline))
    found = (_signs(timeline[at], at in decided) for at in islice(marked, _MEASURED))
    signs = min(widest(found), _MOST_SIGNS)
    answers = widest(step.input for step in islice(whole.steps, _MEASURED))
    answer = max(_ANSWER[0], min(answers, _ANSWER[1]))

    digits = max(3, len(str(len(timeline) - 1)))
    columns = _columns(answer, signs, decided, clock, values)

    def make(step: int, shown: Layout) -> Line:
        row = timeline[step]
        mark = (f"{'▸' if step == pointer else ' '}{step:{digits}} ", "dim")
        if row.answer is None:
            known = "".join(f"  {texts[step]}" for texts in values if step < len(texts))
            return line(mark, *_end_pieces(whole, _signs(row, step in decided), known), cut=True)
        cells = {name: columns[name].cell(row) for name in shown}
        return line(mark, *cells_line(shown, cells).pieces, cut=True)

    def text(step: int) -> str:
        row = timeline[step]
        end = whole.error_text() if row.answer is None else ""
        known = "".join(f" {texts[step]}" for texts in values if step < len(texts))
        return f"{step} {row.answer} {plain(row.question or '')}{end}{known}"

    def lay_out(width: int) -> Layout:
        return _laid_out(columns, max(0, width - digits - 2))

    return Grid(len(timeline), lay_out, make, text, steps)


def _end_pieces(whole: Transcript, signs: str, known: str) -> Iterator[tuple[str, str]]:
    """How the run stands after its last answer: state, signs, watched values, and the error."""
    style = STYLES[whole.status]
    yield outcome(whole.status, whole.score), style
    yield f" {signs}", "warn"
    yield known, "dim"
    yield f" {one_line(whole.error_text())}", style


class _Column(NamedTuple):
    """A column behind the number of the step."""

    width: int
    """Cells that it would like to have."""
    cell: Callable[[TimelineRow], Cell]
    least: int = 0
    """Cells below which it is left out; 0 for one that keeps its width."""


def _values(watched: Watched | None) -> list[list[str]]:
    """The text of each value of each expression, or of its error."""
    if watched is None:
        return []
    columns = zip(*(step.values for step in watched.steps), strict=True)
    return [[f"! {one.error}" if one.error else one.text for one in column] for column in columns]


def _columns(
    answer: int,
    signs: int,
    decided: frozenset[int],
    clock: Clock,
    values: Sequence[Sequence[str]],
) -> dict[str, _Column]:
    def answer_cell(row: TimelineRow) -> Cell:
        return one_line(row.answer or "") or "(empty)", "answer" if row.used else "dim"

    def signs_cell(row: TimelineRow) -> Cell:
        return _signs(row, row.at in decided), "warn"

    def prompt_cell(row: TimelineRow) -> Cell:
        return one_line(plain(row.question or "").strip()) or "(no prompt)", "dim"

    def time_cell(row: TimelineRow) -> Cell:
        time = "" if isnan(row.seconds) else clock.duration(row.seconds)
        return f"{time:>{_TIME}}", "dim"

    found = {
        "answer": _Column(answer, answer_cell, least=_ANSWER[0]),
        "signs": _Column(signs, signs_cell),
        **{f"{_WATCH}{at}": _value_column(texts) for at, texts in enumerate(values)},
        "prompt": _Column(_WIDEST, prompt_cell, least=_PROMPT),
        "time": _Column(_TIME, time_cell, least=_TIME),
    }
    return {name: column for name, column in found.items() if column.width}


def _value_column(texts: Sequence[str]) -> _Column:
    def cell(row: TimelineRow) -> Cell:
        return texts[row.at] if row.at < len(texts) else "", "dim"

    width = min(widest(islice(texts, _MEASURED)), _VALUE[1])
    return _Column(width, cell, least=min(width, _VALUE[0]))


def _laid_out(columns: Mapping[str, _Column], width: int) -> Layout:
    """The widths of the columns; the question is left out first, then time, then values."""
    values = [name for name in columns if name.startswith(_WATCH)]
    least = {name: columns[name].least for name in ("answer", *values, "time", "prompt")}
    found = layout(width, {name: column.width for name, column in columns.items()}, least)
    spare = width - sum(found.values()) - GAP * (len(found) - 1)
    return found | {"answer": found["answer"] + max(0, spare)}


def _signs(row: TimelineRow, decided: bool) -> str:
    """The signs of a step: decision, notes, and outcomes of other attempts."""
    found = [TAMPERED] if row.step.tampered else []
    found += [tale.kind for tale in row.tales]
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
