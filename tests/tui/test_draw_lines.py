"""The rows of the lines that ran: loops are folded, and nothing is lost in them."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from quizlog_tui.debug.inspection import LineEvent, Trace, file_of
from quizlog_tui.replay.script.source import Source
from quizlog_tui.tui.draw.lines import line_rows, line_table

QUIZ = Source(Path("/quiz/quiz.py"), b"for a in x:\n    for b in y:\n        c = a * b\ninput()\n")


def ran(*lines: int, depth: int = 0) -> tuple[LineEvent, ...]:
    return tuple(LineEvent("/quiz/quiz.py", at, "f", depth, {}) for at in lines)


def trace(*events: LineEvent) -> Trace:
    return Trace(1, events, truncated=False)


def shown(found: Trace, *opened: int) -> list[str]:
    rows = line_rows(found, opened)
    table = line_table(found, rows, opened, QUIZ)
    return [table[index].text.rstrip() for index in range(len(table))]


def test_a_loop_is_one_row_with_its_count() -> None:
    assert shown(trace(*ran(2, 3, 2, 3, 2, 3, 2, 4))) == [
        "▸   2 for b in y:  3 times",
        "    2 for b in y:",
        "    4 input()",
    ]


def test_two_runs_of_a_line_are_no_loop() -> None:
    assert [row.times for row in line_rows(trace(*ran(2, 3, 2, 4)), ())] == [0, 0, 0, 0]


def test_an_open_loop_shows_its_rounds_with_the_loops_in_them_folded() -> None:
    inner = (2, 3, 2, 3, 2, 3, 2)
    found = trace(*ran(1, *inner, 1, *inner, 1, *inner, 1, 4))
    assert shown(found) == ["▸   1 for a in x:  3 times", "    1 for a in x:", "    4 input()"]
    assert shown(found, 0)[:5] == [
        "▾   1 for a in x:  3 times",
        "    1   for a in x:",
        "▸   2   for b in y:  3 times",
        "    2   for b in y:",
        "    1   for a in x:",
    ]
    assert shown(found, 0, 1)[2:5] == [
        "▾   2   for b in y:  3 times",
        "    2     for b in y:",
        "    3     c = a * b",
    ]


def test_calls_one_after_the_other_are_no_rounds_of_one_loop() -> None:
    calls = [*ran(1), *ran(3, depth=1)] * 1 + [*ran(2), *ran(3, depth=1), *ran(4), *ran(3, depth=1)]
    assert not any(row.times for row in line_rows(trace(*calls), ()))


events = st.lists(st.tuples(st.integers(1, 4), st.integers(0, 2)), max_size=60).map(
    lambda found: trace(*(LineEvent("/quiz/quiz.py", at, "f", depth, {}) for at, depth in found))
)


@given(events)
def test_with_all_loops_open_every_line_stands_once_in_its_order(found: Trace) -> None:
    opened = range(len(found.events))
    rows = [row.at for row in line_rows(found, opened) if not row.times]
    assert rows == list(opened)


@given(events)
def test_a_row_without_its_loop_open_stands_for_all_up_to_the_next(found: Trace) -> None:
    rows = [row.at for row in line_rows(found, ())]
    assert rows == sorted(rows) and (not found.events or rows[0] == 0)
    for row, after in zip(line_rows(found, ()), rows[1:], strict=False):
        assert row.times or after == row.at + 1


def test_what_a_line_changed_stands_beside_as_much_of_it_as_there_is_room_for() -> None:
    found = trace(LineEvent("/quiz/quiz.py", 3, "f", 0, {"c": "1234567"}))
    table = line_table(found, line_rows(found, ()), (), QUIZ)
    table.starts(28)
    assert table[0].text == "    3 c = a * b  c = 1234567"
    table.starts(24)
    assert table[0].text == "    3 c = a *…  c = 1234567"


def test_the_count_of_a_loop_is_seen_beside_a_long_line() -> None:
    found = trace(*ran(2, 3, 2, 3, 2, 3, 2))
    table = line_table(found, line_rows(found, ()), (), QUIZ)
    table.starts(24)
    assert table[0].text == "▸   2 for b in…  3 times"


def test_a_file_that_is_none_of_the_scripts_has_no_source() -> None:
    assert file_of("/quiz/quiz.py", QUIZ) is QUIZ
    assert file_of("/etc/passwd", QUIZ) is None
    foreign = trace(LineEvent("/lib/other.py", 7, "g", 0, {"x": "1"}))
    assert shown(foreign) == ["    7 (other.py, g)  x = 1"]
