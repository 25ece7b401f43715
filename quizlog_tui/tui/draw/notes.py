"""Draws the notes of a record: one row each, and one note in full."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ...record.feedback import VERDICTS, Feedback
from ..clock import Clock
from ..widgets.columns import Cell, Grid, Layout, cells_line, layout, widest
from ..widgets.documents import Line, line

_NO_VERDICT = "none"
"""The filter for notes without a verdict."""
_MARKS = {"right": "✓", "wrong": "✗", "unsure": "?"}
_STYLES = {"right": "good", "wrong": "error", "unsure": "warn"}


def _verdict_words(verdict: str | None) -> str:
    """Mark and word of a verdict; an unknown verdict as it is."""
    if verdict is None:
        return ""
    return f"{_MARKS[verdict]} {verdict}" if verdict in _MARKS else verdict


def verdict_line(verdict: str | None) -> Line:
    """A verdict to choose."""
    return line((_verdict_words(verdict) or "– none", _STYLES.get(verdict or "", "")), cut=True)


def verdicts_in(notes: Iterable[Feedback]) -> list[str]:
    """The verdicts in use: known ones first, `none` last."""
    there = {said.verdict or _NO_VERDICT for said in notes}
    order = [*VERDICTS, *sorted(there - {*VERDICTS, _NO_VERDICT}), _NO_VERDICT]
    return [verdict for verdict in order if verdict in there]


def authors_in(notes: Iterable[Feedback]) -> list[str]:
    """The authors by name; an empty name stands for notes without an author."""
    return sorted({said.author or "" for said in notes})


def by_step(notes: Iterable[Feedback]) -> list[Feedback]:
    """The notes in the order of their steps; notes about no step come last."""
    return sorted(notes, key=lambda said: (said.at is None, said.at or 0))


def filtered_notes(
    notes: Iterable[Feedback], *, verdict: str | None = None, author: str | None = None
) -> list[Feedback]:
    """The notes with a verdict and by an author; None means any."""
    return [
        said
        for said in notes
        if verdict in (None, said.verdict or _NO_VERDICT) and author in (None, said.author or "")
    ]


def note_grid(notes: Sequence[Feedback], clock: Clock) -> Grid:
    """A row for each note, with the columns that fit."""

    def make(index: int, columns: Layout) -> Line:
        return cells_line(columns, _cells(notes[index], clock))

    def text(index: int) -> str:
        said = notes[index]
        words = (said.text, said.author, said.verdict, said.branch)
        return " ".join(word for word in words if word)

    return Grid(len(notes), note_layout(notes), make, text)


def note_layout(notes: Sequence[Feedback]) -> Callable[[int], Layout]:
    """The columns for a width."""
    columns = {
        "step": 4,
        "verdict": 9,
        "text": max(20, widest(said.text for said in notes)),
        "author": max(6, min(16, widest(said.author for said in notes))),
        "branch": max(6, min(20, widest(said.branch for said in notes))),
        "when": 10,
    }
    least = {"text": 20, "author": 6, "branch": 6, "when": 10}
    return lambda width: layout(width, columns, least)


def _cells(said: Feedback, clock: Clock) -> dict[str, Cell]:
    return {
        "step": "" if said.at is None else f"{said.at:4}",
        "verdict": (_verdict_words(said.verdict), _STYLES.get(said.verdict or "", "")),
        "text": said.text,
        "author": (said.author or "", "answer"),
        "branch": (said.branch or "", "dim"),
        "when": (clock.describe(said.time), "dim"),
    }


def note_lines(said: Feedback, clock: Clock) -> list[Line]:
    """A note in full."""
    place = "on the whole record" if said.at is None else f"step {said.at}"
    branch = f" of {said.branch}" if said.branch else ""
    who = f" · {said.author}" if said.author else ""
    when = f" · {clock.describe(said.time)}" if said.time else ""
    verdict = f"{_verdict_words(said.verdict)} · " if said.verdict else ""
    lines = [
        line((verdict, _STYLES.get(said.verdict or "", "")), (f"{place}{branch}{who}{when}", "dim"))
    ]
    if said.text:
        lines.append(line(said.text))
    lines += [line((f"{key}: {value}", "dim")) for key, value in said.extras.items()]
    return lines


def no_notes_lines(count: int, key: str) -> list[Line]:
    """The text shown if there is no note to show; `key` writes one, empty if none can be."""
    if count:
        return [line((f"None of the {count} notes matches.", "head"))]
    how = [line(""), line((key, "answer"), " in the player writes a note on the step shown.")]
    return [line(("No notes yet.", "head")), *(how if key else ())]
