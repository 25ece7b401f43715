"""The library's rows: order, filter, words."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quizlog_tui.record.summary import Preview, Summary
from quizlog_tui.tui.clock import FrozenClock
from quizlog_tui.tui.draw.library import (
    ORDERS,
    STATUSES,
    arranged,
    library_grid,
    nothing_lines,
    record_layout,
    record_line,
)
from quizlog_tui.tui.draw.preview import preview_lines
from quizlog_tui.tui.keys.keymap import shown
from quizlog_tui.tui.widgets.lines.documents import rows as drawn_rows

HERE = Path("/r")
A = Summary(HERE / "a.yaml", "q.py", "success", 1.0, 5, 5, 1, 7, 30.0)
B = Summary(HERE / "b.yaml", "q.py", "error", 0.5, 2, 9, 3, 7, 10.0)
C = Summary(HERE / "c.yaml", "r.py", "in_progress", None, 3, 3, 1, 7, 20.0)
D = Summary(HERE / "d.yaml", changed=40.0, problem="line 2: seed: must be a whole number")
SUMMARIES = st.builds(
    Summary,
    st.sampled_from("abcdefgh").map(lambda name: HERE / f"{name}.yaml"),
    st.text(max_size=9),
    st.sampled_from(["in_progress", "success", "error"]),
    st.none() | st.floats(0, 1),
    st.integers(0, 99),
    st.integers(0, 99),
    changed=st.floats(0, 1e9),
)


@pytest.mark.parametrize(
    ("order", "names", "backwards"),
    [
        ("name", "abcd", "dcba"),
        ("changed", "dacb", "bcad"),
        ("score", "abcd", "bacd"),
        ("steps", "acbd", "bcad"),
    ],
)
def test_orders_both_ways_with_the_unknown_last(order: str, names: str, backwards: str) -> None:
    def stems(*, turned: bool) -> str:
        return "".join(one.path.stem for one in arranged([C, A, D, B], order, backwards=turned))

    assert (stems(turned=False), stems(turned=True)) == (names, backwards)


@given(st.lists(SUMMARIES), st.sampled_from(ORDERS), st.booleans())
def test_no_order_loses_a_record(found: list[Summary], order: str, backwards: bool) -> None:
    shown = arranged(found, order, backwards=backwards)
    assert sorted(map(repr, shown)) == sorted(map(repr, found))


def key(name: str) -> str:
    return shown(name, {"library.new": "F5"})


def test_every_record_has_exactly_one_status() -> None:
    every = [A, B, C, D]
    parts = [arranged(every, status=status) for status in STATUSES if status]
    assert [len(part) for part in parts] == [1, 1, 1, 1]
    assert arranged(every) == every


def rows(width: int, *found: Summary) -> list[str]:
    grid = library_grid(found, HERE, FrozenClock(), record_layout(found, HERE))
    grid.starts(width)
    return [grid[index].text.rstrip() for index in range(len(grid))]


def test_names_that_differ_in_what_shows_nothing_are_told_apart() -> None:
    names = ["a.yaml", "a\u200c.yaml", "✔.yaml", "✔\ufe0f.yaml"]
    found = [replace(A, path=HERE / name) for name in names]
    shown = [row.split()[0] for row in rows(100, *found)]
    assert shown == ["a.yaml", r"a\u200c.yaml", "✔.yaml", r"✔\ufe0f.yaml"]


def test_seeds_take_the_place_of_a_script_that_is_the_same_in_each_row() -> None:
    one, other = Summary(HERE / "a", "x/q.py", seed=71), Summary(HERE / "b", "q.py", seed=82)
    assert [row[-2:] for row in rows(100, one, other)] == ["71", "82"]


def test_a_row_says_all_that_the_width_allows() -> None:
    assert rows(80, A, B, C, D) == [
        "a.yaml            just now    ✓ finished 1   5                  q.py",
        "b.yaml            just now    ✗ error 0.5    2/9      3         q.py",
        "c.yaml            just now    ● waiting      3                  r.py",
        "d.yaml            just now    ! line 2: seed: must be a whole number",
    ]
    assert rows(56, B) == ["b.yaml            just now    ✗ error 0.5    2/9"]


def test_a_long_path_keeps_what_tells_it_apart() -> None:
    one = Summary(HERE / "a-very-long-folder-name/record.yaml", "q.py", "success", 1.0)
    assert rows(56, one)[0].startswith("…y-long-folder-name/  ")
    assert rows(120, one)[0].startswith("a-very-long-folder-name/record.yaml  ")


def test_the_marked_record_in_words() -> None:
    assert record_line(B, HERE, key) == "b.yaml · script q.py · seed 7 · 9 answers · 3 branches"
    assert record_line(A, HERE, key).endswith("5 answers · 1 branch")
    assert record_line(D, HERE, key).startswith("d.yaml: line 2: seed: must be a whole number")
    assert record_line(None, HERE, key) == ""


def test_an_empty_folder_and_an_empty_filter_say_how_to_go_on() -> None:
    empty = "\n".join(each.text for each in nothing_lines(HERE, "", 0, key))
    assert "No records below /r" in empty and "quizlog new SCRIPT" in empty
    assert "f5  makes a record" in empty
    assert nothing_lines(HERE, "error", 3, key)[0].text == "None of 3 records is error."


def test_foreign_text_is_made_visible() -> None:
    one = Summary(HERE / "\x1b]0;x\x07.yaml", "\x9b31m", "success", 1.0)
    bad = Summary(HERE / "x.yaml", problem="\x1b[2J\u202e")
    text = "".join(rows(120, one, bad))
    assert not set(text) & set("\x1b\x07\x9b\u202e")


def test_a_preview_shows_a_progress_bar_as_it_ended_and_a_link_as_its_text() -> None:
    link = "\x1b]8;;https://example.org\x1b\\a link\x1b]8;;\x1b\\"
    shown = preview_lines(A, Preview(printed=("start", " 10 %\r", " 99 %\r", "done", link)))
    assert shown[-1].text == "start\ndone%\na link"


def test_a_preview_has_no_empty_line_after_a_progress_bar() -> None:
    shown = preview_lines(
        A, Preview(printed=("start", "\r 10 %", "\r 99 %", "", "done", "", "end"))
    )
    assert shown[-1].text == "start\n 99 %\ndone\n\nend"


def test_a_preview_draws_output_as_the_player_does() -> None:
    border = f"┌{'─' * 60}┐"
    printed = (*map(str, range(40)), "\x1b[31mred\x1b[0m", border, f"│{'words ' * 10}│")
    output = preview_lines(A, Preview(printed=printed))[-1]
    assert output.text.split("\n") == [
        *map(str, range(13, 40)),
        "red",
        border,
        f"│{'words ' * 10}│",
    ]
    assert [style for text, style in output.pieces if text.strip() == "red"] == ["sgr 31"]
    assert len(drawn_rows(output, 40)) == 30
