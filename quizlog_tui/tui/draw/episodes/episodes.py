"""Draws the episodes of a file, one row each, made on demand."""

from __future__ import annotations

from collections.abc import Sequence

from ....episodes.read.index import BROKEN, UNVERIFIED, VERIFIED, EpisodeFile, Head
from ....text import plural
from ...widgets.columns import Cell, Grid, Layout, cells_line, layout
from ...widgets.documents import Line, line

MARKS = {VERIFIED: ("✓", "good"), UNVERIFIED: ("✗", "warn"), BROKEN: ("!", "error")}
"""A sign for each state, and its style."""
_COLUMNS = {"line": 6, "ok": 2, "agree": 6, "steps": 5, "difficulty": 10, "question": 200}
_LEAST = {"question": 20, "steps": 5, "difficulty": 10}


def episode_layout(width: int) -> Layout:
    """The columns for a width."""
    return layout(width, _COLUMNS, _LEAST)


def episode_grid(file: EpisodeFile, shown: Sequence[int]) -> Grid:
    """A row for each of some lines of a file."""

    def make(index: int, columns: Layout) -> Line:
        return _row(file.number(shown[index]), file.head(shown[index]), columns)

    def text(index: int) -> str:
        return file.searched(shown[index])

    return Grid(len(shown), episode_layout, make, text)


def _row(number: int, head: Head, columns: Layout) -> Line:
    style = "error" if head.state == BROKEN else ""
    cells: dict[str, Cell] = {
        "line": (f"{number:>{columns['line']}}", "dim"),
        "ok": MARKS[head.state],
        "agree": head.agreed,
        "steps": "" if head.steps is None else f"{head.steps:>5}",
        "difficulty": (head.difficulty, "dim"),
        "question": (head.text, style),
    }
    return cells_line(columns, cells)


def count_words(file: EpisodeFile, state: str) -> str:
    """How many episodes there are, and how many of them are verified or shown."""
    every = f"{len(file):,} episode{'' if len(file) == 1 else 's'}"
    if state:
        return f"{file.count(state):,} of {every}: {state}"
    broken = file.count(BROKEN)
    words = [every, f"{file.count(VERIFIED):,} {VERIFIED}"]
    return ", ".join([*words, f"{broken:,} {BROKEN}"] if broken else words)


def no_episode_lines(file: EpisodeFile, state: str) -> list[Line]:
    """The text shown if no episode is selected."""
    if state and len(file):
        return [
            line((f"None of {plural(len(file), 'episode')} is {state}.", "head")),
            line(""),
            line(("f", "answer"), " shows others, or all."),
        ]
    return [
        line(("There are no episodes in this file.", "head")),
        line(""),
        line("In a shell: quizlog episodes build RECORD... -o FILE"),
    ]
