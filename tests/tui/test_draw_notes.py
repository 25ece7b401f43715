"""Remarks: rows, filters, signs."""

from __future__ import annotations

import pytest

from quizlog_tui.record.feedback import Feedback
from quizlog_tui.tui.clock import FrozenClock
from quizlog_tui.tui.draw.notes import (
    authors_in,
    filtered_notes,
    no_notes_lines,
    note_grid,
    note_lines,
    note_sign,
    verdict_line,
    verdicts_in,
)

TIME = "2026-01-01T00:00:00+00:00"
WRONG = Feedback(3, "main", "ann", TIME, "wrong", "the sign is off")
PLAIN = Feedback(4, "fork-1", "bob", TIME, None, "two\nlines")
BARE = Feedback(None, None, None, None, "superb", "", {"model": "x"})


@pytest.mark.parametrize(
    ("notes", "sign"),
    [([], ""), ([PLAIN], "✎"), ([WRONG], "✎✗"), ([WRONG, PLAIN], "✎✗"), ([BARE], "✎")],
)
def test_a_step_with_remarks_has_a_sign(notes: list[Feedback], sign: str) -> None:
    assert note_sign(notes) == sign


def test_filters_know_what_is_there() -> None:
    notes = [PLAIN, WRONG, BARE]
    assert verdicts_in(notes) == ["wrong", "superb", "none"]
    assert authors_in(notes) == ["", "ann", "bob"]
    assert filtered_notes(notes, verdict="none") == [PLAIN]
    assert filtered_notes(notes, author="") == [BARE]
    assert filtered_notes(notes, verdict="wrong", author="bob") == []
    assert filtered_notes(notes) == notes


def rows(width: int, *notes: Feedback) -> list[str]:
    grid = note_grid(notes, FrozenClock())
    grid.starts(width)
    return [grid[index].text.rstrip() for index in range(len(grid))]


def test_a_row_says_all_that_the_width_allows() -> None:
    assert rows(80, WRONG, PLAIN, BARE) == [
        "   3  ✗ wrong    the sign is off       ann     main    just now",
        "   4             two⏎lines             bob     fork-1  just now",
        "      superb",
    ]
    assert rows(40, WRONG) == ["   3  ✗ wrong    the sign is off"]


def test_a_remark_in_full() -> None:
    assert [each.text for each in note_lines(WRONG, FrozenClock())] == [
        "✗ wrong · step 3 of main · ann · just now",
        "the sign is off",
    ]
    assert [each.text for each in note_lines(BARE, FrozenClock())] == [
        "superb · on the whole record",
        "model: x",
    ]


def test_no_remarks_say_how_to_write_one() -> None:
    assert "a in the player" in no_notes_lines(0, "a")[-1].text
    assert no_notes_lines(2, "a")[0].text == "None of the 2 notes matches."
    assert [verdict_line(each).text for each in (None, "right")] == ["– none", "✓ right"]


def test_foreign_text_is_made_visible() -> None:
    evil = "\x1b]0;x\x07\x9b31m\u202e"
    said = Feedback(1, evil, evil, evil, evil, evil, {evil: evil})
    text = "".join(rows(120, said)) + "".join(x.text for x in note_lines(said, FrozenClock()))
    assert not set(text) & set("\x1b\x07\x9b\u202e") and note_sign([said]) == "✎"
