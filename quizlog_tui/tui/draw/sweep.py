"""Draws the answers tried at a step: one row each with the outcome, and one attempt in full."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from rich.cells import cell_len

from ...errors import QuizlogError
from ...replay.script.source import Source
from ...replay.transcript import Transcript
from ...terminal_text import plain
from ...text import one_line, plural
from ..widgets.columns import Cell, Grid, Layout, cells_line, layout
from ..widgets.documents import Document, Line, Paragraphs, StackedDocuments, line
from .output import RunOutput
from .status import MARKS, STYLES, WORDS, error_lines

_RANKS = {"success": 0, "in_progress": 1, "error": 2}
_STOPPED = "! stopped"


@dataclass(frozen=True)
class SweepAttempt:
    """One answer and its outcome."""

    answer: str
    """The answer tried."""
    result: Transcript | QuizlogError
    """The run, or what stopped it."""
    kept: str = ""
    """The branch it was kept as; empty if none."""
    differs: int | None = None
    """The first step that shows something else than the recorded run; None if none does."""


def best_first(attempts: Iterable[SweepAttempt]) -> list[SweepAttempt]:
    """Sort: finished runs, waiting runs, errors by score, stopped runs."""
    return sorted(attempts, key=_worth)


def _worth(attempt: SweepAttempt) -> tuple[int, float, int]:
    run = attempt.result
    if isinstance(run, QuizlogError):
        return 3, 0.0, 0
    return _RANKS[run.status], -(run.score or 0.0), -len(run.steps)


def summary(attempts: Sequence[SweepAttempt]) -> str:
    """The number of attempts, by outcome."""
    counts = Counter(_state(attempt)[0] for attempt in attempts)
    states = [_state_words(status) for status in _RANKS] + [_STOPPED]
    told = [f"{counts[state]} {state}" for state in states if counts[state]]
    return ", ".join([f"{len(attempts)} tried", *told]) if attempts else "nothing tried yet"


def count_text(lines: Sequence[str]) -> str:
    """The number of answers and answer files in a typed text."""
    files = sum(1 for text in lines if text.startswith("@") and not text.startswith("@@"))
    answers = plural(len(lines) - files, "answer")
    return f"{answers} and {plural(files, 'file')}" if files else answers


def sweep_grid(attempts: Sequence[SweepAttempt]) -> Grid:
    """A row for each attempt, the columns as the width allows."""

    def make(index: int, columns: Layout) -> Line:
        return cells_line(columns, _cells(attempts[index]))

    def text(index: int) -> str:
        attempt = attempts[index]
        return f"{attempt.answer} {_state(attempt)[0]} {_outcome_text(attempt)} {attempt.kept}"

    return Grid(len(attempts), sweep_layout(attempts), make, text)


def sweep_layout(attempts: Sequence[SweepAttempt]) -> Callable[[int], Layout]:
    """The columns for a width."""

    def longest(texts: Iterable[str]) -> int:
        return max((cell_len(one_line(text[:200])) for text in texts), default=0)

    columns = {
        "answer": max(7, min(20, longest(attempt.answer for attempt in attempts))),
        "outcome": 10,
        "score": 5,
        "steps": 5,
        "differs at": 10,
        "asks next, or error": max(20, longest(_outcome_text(attempt) for attempt in attempts)),
        "kept as": max(7, min(16, longest(attempt.kept for attempt in attempts))),
    }
    least = {"answer": 7, "asks next, or error": 12, "score": 5, "kept as": 7, "differs at": 10}
    least["steps"] = 5
    if not any(attempt.kept for attempt in attempts):
        del columns["kept as"], least["kept as"]
    if all(attempt.differs is None for attempt in attempts):
        del columns["differs at"], least["differs at"]
    return lambda width: layout(width, columns, least)


def _cells(attempt: SweepAttempt) -> dict[str, Cell]:
    run = attempt.result if isinstance(attempt.result, Transcript) else None
    return {
        "answer": (attempt.answer or "(empty)", "answer"),
        "outcome": _state(attempt),
        "score": f"{run.score:g}" if run and run.score is not None else "",
        "steps": f"{len(run.steps):5}" if run else "",
        "differs at": "" if attempt.differs is None else f"step {attempt.differs}",
        "asks next, or error": _outcome_text(attempt),
        "kept as": (attempt.kept, "good"),
    }


def _state(attempt: SweepAttempt) -> tuple[str, str]:
    """Mark and word of the outcome, and their style."""
    run = attempt.result
    if isinstance(run, QuizlogError):
        return _STOPPED, "warn"
    return _state_words(run.status), STYLES[run.status]


def _state_words(status: str) -> str:
    return f"{MARKS[status]} {WORDS[status]}"


def _outcome_text(attempt: SweepAttempt) -> str:
    """The next question or the error."""
    run = attempt.result
    if isinstance(run, QuizlogError):
        return run.message
    return run.error_text() or plain(run.next_prompt or "")


def attempt_document(attempt: SweepAttempt, source: Source) -> Document:
    """The output of an attempt from the start, with its error."""
    run = attempt.result
    if isinstance(run, QuizlogError):
        return Paragraphs([line((f"! {run}", "warn"))])
    return StackedDocuments(RunOutput(run).at(run), Paragraphs(error_lines(run, source)))
