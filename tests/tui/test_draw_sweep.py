"""The table of a sweep: order, words for what came of each, columns that fit."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from quizlog_tui.errors import LimitError
from quizlog_tui.record.append_only_list import AppendOnlyList
from quizlog_tui.record.model import LastError
from quizlog_tui.replay.script.source import Source
from quizlog_tui.replay.transcript import Step, Transcript
from quizlog_tui.tui.draw.sweep import (
    SweepAttempt,
    attempt_document,
    best_first,
    count_text,
    summary,
    sweep_grid,
)
from tests.support.build import Build
from tests.support.player_quizzes import EVIL


def tried(
    answer: str, status: str, score: float = 0.0, steps: int = 1, kept: str = ""
) -> SweepAttempt:
    made = AppendOnlyList([Step("q? ", ("hello\n",), "", 1, answer)] * steps)
    last = Step("next? " if status == "in_progress" else None, (), "", 1)
    error = LastError(f"not {answer}", 1, score) if status == "error" else None
    return SweepAttempt(answer, Transcript(made, last, status, error), kept)  # type: ignore[arg-type]


STOPPED = SweepAttempt("loop", LimitError("ran 30 seconds"))
ALL = [
    STOPPED,
    tried("low", "error", 0.1),
    tried("high", "error", 0.9),
    tried("far", "error", 0.1, steps=3),
    tried("on", "in_progress"),
    tried("done", "success"),
]


def test_the_best_come_first() -> None:
    names = [attempt.answer for attempt in best_first(ALL)]
    assert names == ["done", "on", "high", "far", "low", "loop"]


@given(st.permutations(ALL))
def test_the_order_of_trying_decides_only_between_equals(attempts: list[SweepAttempt]) -> None:
    assert best_first(attempts) == best_first(ALL)


def test_the_summary_counts_each_outcome() -> None:
    assert summary([]) == "nothing tried yet"
    assert summary(ALL) == "6 tried, 1 ✓ finished, 1 ● waiting, 3 ✗ error, 1 ! stopped"


def test_files_are_counted_apart() -> None:
    assert count_text([]) == "0 answers"
    assert count_text(["a", "@b", "@@c"]) == "2 answers and 1 file"


@given(st.integers(20, 130), st.booleans())
def test_rows_fit(width: int, kept: bool) -> None:
    grid = sweep_grid([*ALL, tried(EVIL, "error", kept="fork-1" if kept else "")])
    grid.starts(width)
    for index in range(len(grid)):
        assert cell_len(grid[index].text) <= width + 2  # the gap after the last column


def test_rows_say_what_came_of_it() -> None:
    grid = sweep_grid([*ALL, tried("", "success", kept="fork-1")])
    grid.starts(120)
    rows = [" ".join(grid[index].text.split()) for index in range(len(grid))]
    assert rows[0] == "loop ! stopped ran 30 seconds"
    assert rows[1] == "low ✗ error 0.1 1 not low"
    assert rows[4] == "on ● waiting 1 next?"
    assert rows[6] == "(empty) ✓ finished 1 1 fork-1"
    assert "fork-1" in grid.text(6)


def test_an_attempt_in_full(build: Build) -> None:
    source = Source(build.script("raise Exception('no')\n"), b"raise Exception('no')\n")
    document = attempt_document(tried(EVIL, "error", 0.5), source)
    text = "\n".join(document[index].text for index in range(len(document)))
    assert "hello" in text and "score 0.5" in text
    assert not set(text) & set("\x1b\x07\x9b\u202e\u2028\x85\x00")
    assert "ran 30 seconds" in attempt_document(STOPPED, source)[0].text
