"""Documents: what is measured is what is drawn, also of long lines and wide tables."""

from __future__ import annotations

from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from quizlog_tui.record.append_only_list import AppendOnlyList
from quizlog_tui.record.model import LastError, Record
from quizlog_tui.replay.transcript import Step, Transcript
from quizlog_tui.session.timeline import timeline
from quizlog_tui.text import visible
from quizlog_tui.tui.clock import Clock, FrozenClock
from quizlog_tui.tui.draw.output import OutputForm, RunOutput, events, tail
from quizlog_tui.tui.draw.timeline import timeline_grid
from quizlog_tui.tui.screenshot import screen_text
from quizlog_tui.tui.widgets import documents
from quizlog_tui.tui.widgets.documents import (
    LONG,
    Paragraphs,
    Rows,
    Table,
    first_column,
    height,
    is_table_row,
    line,
    rows,
)
from tests.support.build import Build
from tests.support.screens import SIZE, check, playing, press

TEXT = st.text("ab 日é\n\t\x1b\x9b-\u202e", max_size=60)


@given(TEXT, st.integers(2, 30))
def test_height_is_what_rows_take(text: str, width: int) -> None:
    item = line(text)
    assert height(item.text, width) == len(rows(item, width))


@given(st.lists(TEXT, max_size=5), st.integers(2, 20))
def test_a_paragraph_starts_where_the_one_before_ends(texts: list[str], width: int) -> None:
    document = Paragraphs([line(text) for text in texts])
    starts = document.starts(width)
    assert starts[0] == 0 and len(starts) == len(document) + 1
    for index in range(len(document)):
        assert starts[index + 1] - starts[index] == len(rows(document[index], width))


@given(TEXT, st.integers(1, 20))
def test_a_cut_line_is_one_row(text: str, width: int) -> None:
    found = rows(line(text, cut=True), width)
    assert len(found) == 1 and "\n" not in "".join(part for part, _ in found[0])


@given(TEXT)
def test_no_line_holds_what_steers_a_terminal(text: str) -> None:
    assert visible(line(text).text) == line(text).text


STEPS = st.lists(
    st.tuples(st.lists(TEXT.map(lambda t: t + "\n"), max_size=3), TEXT, TEXT), max_size=4
)


@given(STEPS, st.integers(2, 30))
def test_a_runs_output_is_measured_as_it_is_drawn(
    steps: list[tuple[list[str], str, str]], width: int
) -> None:
    run = Transcript(
        AppendOnlyList(
            Step(prompt, tuple(written), "", 1, answer) for written, prompt, answer in steps
        ),
        Step("last? ", ("text\n",), "", 2),
        "in_progress",
    )
    output = RunOutput(run)
    for count in (len(steps), 0, len(steps) // 2):
        document = output.at(run.upto(count))
        starts = document.starts(width)
        assert len(document) == count + 1
        for index in range(len(document)):
            assert starts[index + 1] - starts[index] == len(rows(document[index], width)), index


def test_events_of_a_step_are_shown_one_by_one() -> None:
    step = Step("q? ", ("one\n", "two\n"), "", 1)
    assert events(step) == 3
    assert [tail(step, hidden).text for hidden in (2, 1, 0)] == [
        "one",
        "one\ntwo",
        "one\ntwo\nq? ▏",
    ]
    assert tail(Step(None, (), "", None)).pieces == ()


def test_a_table_makes_only_what_is_looked_at() -> None:
    made: list[int] = []

    def make(index: int):  # type: ignore[no-untyped-def]
        made.append(index)
        return line(str(index), cut=True)

    table = Table(100_000, make)
    assert table.starts(80)[100_000] == 100_000 and not made


@given(st.text("a日é ", max_size=40), st.integers(2, 12))
def test_no_row_is_wider_than_the_pane(text: str, width: int) -> None:
    for row in rows(line(text), width):
        assert cell_len("".join(part for part, _ in row).removesuffix(" ")) <= width


@pytest.mark.parametrize("count", [3, 20_000])
def test_the_times_of_the_timeline_are_whole_however_many_steps(count: int) -> None:
    step = Step("what? ", (), "", 1, "answer", seconds=0.0)
    run = Transcript(AppendOnlyList([step] * count), Step("last? ", (), "", 2), "in_progress")
    moments = timeline(run, Record("quiz.py", 7, AppendOnlyList(["answer"] * count), count))
    document = timeline_grid(moments, run, count, frozenset(), Clock())
    for width in (28, 34, 60):
        document.starts(width)
        for index in (0, count - 1):
            shown = document[index].text.rstrip()
            assert shown.endswith("0 ms") and cell_len(shown) <= width and f"{index} " in shown


def test_the_last_row_of_the_timeline_shows_the_error_on_one_line() -> None:
    error = LastError("no\nlamp \x1b]0;x\x07" + "dark " * 20, 3, 0.5)
    run = Transcript(AppendOnlyList(), Step(None, (), "", None), "error", error, "ValueError")
    rows = timeline(run, Record("quiz.py", 7))
    document = timeline_grid(rows, run, 0, frozenset(), Clock())
    shown = document[0].text
    assert "✗ error, score 0.5" in shown and "  ValueError: no⏎lamp dark" in shown
    assert document[0].cut and "\n" not in shown
    assert "ValueError: no⏎lamp" in document.text(0)  # a search finds it too


PARTS = st.lists(st.text("ab 日é\n─", max_size=30), max_size=4)


@given(PARTS, st.integers(2, 20), st.sampled_from([4, LONG]))
def test_rows_hold_each_character_once_and_know_where_it_stands(
    parts: list[str], width: int, long: int
) -> None:
    text = "".join(parts)
    with mock.patch.object(documents, "LONG", long):
        found = Rows([(part, "") for part in parts], width)
        assert len(found) == (height(text, width) if parts else 0)
        at = 0
        for number, row in enumerate(found):
            shown = "".join(part for part, _ in row)
            assert found.begin(number) == at and text.startswith(shown, at)
            assert all(found.row_of(at + inside) == number for inside in range(len(shown)))
            assert cell_len(shown.removesuffix(" ")) <= width
            at += len(shown) + (text[at + len(shown) : at + len(shown) + 1] == "\n")
        assert at == len(text)


def row_ends(text: str, width: int) -> list[int]:
    """Where rows of narrow characters end, one after the other, by the words of the rule."""
    found, at = [], 0
    while len(text) - at > width:
        last_space = text.rfind(" ", at, at + width) + 1 - at
        if text[at + width] == " ":
            at += width + 1
        else:
            at += last_space if last_space > width // 2 else width
        found.append(at)
    return [at for at in found if at < len(text)]


@given(st.text("ab   é─", max_size=80), st.integers(1, 20))
def test_rows_end_behind_a_space_in_their_second_half(text: str, width: int) -> None:
    assert documents._breaks(text, width, narrow=True) == row_ends(text, width)


@pytest.mark.parametrize(("sign", "rows"), [("x", 100), ("é", 100), ("日", 200)])
def test_the_rows_of_a_long_line_are_not_searched_for(
    sign: str, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents, "_breaks", None)
    assert len(Rows([(sign * LONG * 2, "")], LONG // 50)) == rows


QUIZ = """
names = [f"column{i:02}" for i in range(20)]
print("| " + " | ".join(names) + " |")
print("|" + "|".join("-" * 10 for _ in names) + "|")
for row in range(3):
    print("| " + " | ".join(f"{row * 20 + i:8}" for i in range(20)) + " |")
print("   ".join(names))
print("a sentence that is long enough " * 9)
input("Ready? ")
"""


@pytest.fixture
def record(build: Build) -> Path:
    folder = build.folder / "audit"
    folder.mkdir()
    return Build(folder, build.dedent).record(QUIZ)


@pytest.mark.parametrize(
    ("line", "table"),
    [
        ("| a | b |", True),
        ("│ a │ b │", True),
        ("+----+----+", True),
        ("├────┼────┤", True),
        ("name   age   town   street", True),
        ("0  1.5  2.5  3.5", True),
        ("a sentence of words", False),
        ("two sentences.  The second one.", False),
        ("a | b", False),
        ("", False),
        ("[1, 2, 3]", False),
    ],
)
def test_rows_of_tables_are_known(line: str, table: bool) -> None:
    assert is_table_row(line) is table


def test_a_line_too_long_to_draw_at_once_is_wrapped_all_the_same() -> None:
    assert len(Rows([("a   b   c   d" * LONG, "")], 80, unwrapped="all")) > 1


@given(
    st.lists(st.text(st.sampled_from([*"ab  |│+-\t\x1b[31m\r\x08\n中é"]), max_size=60), max_size=4),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["", "o"]),
    st.booleans(),
    st.integers(5, 40),
)
def test_heights_are_those_of_the_rows(
    texts: list[str], raw: bool, wraps: bool, opens: str, ruled: bool, width: int
) -> None:
    texts = [*texts, "a line\n" * 300]
    steps = [Step("a | b? ", (text,), text, 1, "") for text in texts]
    run = Transcript(steps, Step(None, ("| end |",), "", None, ""), "success")
    document = RunOutput(run, OutputForm(raw, wraps, opens), str if ruled else None).at(run)
    starts = document.starts(width)
    found = [starts[at + 1] - starts[at] for at in range(len(document))]
    assert found == [len(rows(document[at], width)) for at in range(len(document))]


async def test_a_wide_table_is_cut_and_scrolls_sideways(record: Path) -> None:
    async with playing(record, size=(80, 40)) as pilot:
        await press(pilot, "escape")
        text = screen_text(pilot.app)
        assert text.count("| column00") == 1 and "column19" not in text
        assert text.count("a sentence that") > 2  # wrapped
        await press(pilot, *["ctrl+right"] * 40)
        text = screen_text(pilot.app)
        assert "column19 |" in text and "59 |" in text and "column01" not in text
        await press(pilot, *["ctrl+left"] * 40)
        assert "| column00" in screen_text(pilot.app)


async def test_wrapping_can_be_switched_off(record: Path) -> None:
    async with playing(record, size=(80, 40)) as pilot:
        await press(pilot, "escape", "W")
        output = [row for row in screen_text(pilot.app).splitlines() if "sentence" in row]
        assert len(output) == 1
        await press(pilot, "W")
        output = [row for row in screen_text(pilot.app).splitlines() if "sentence" in row]
        assert len(output) > 2


async def test_golden_wide_table(record: Path) -> None:
    async with playing(record, clock=FrozenClock()) as pilot:
        await press(pilot, "escape", "ctrl+right", "ctrl+right")
        check("table", SIZE, screen_text(pilot.app))


@pytest.mark.parametrize(
    ("table", "cells"),
    [
        ("| a | bb | c |\n|---|----|---|\n| x | y  | z |", 5),
        ("┏━━━━┳━━━┓\n┃ Na ┃ b ┃\n┡━━━━╇━━━┩\n│ é漢│ x │\n└────┴───┘", 6),
        (
            "           name     age  city\n0        Alice      30  Oslo\n10   Bob Smith       3  Rome",
            4,
        ),
        ("name      age   city   x\nAnn Lee     3   Oslo   1\nBob        14   Rome   1", 9),
        ("| only |", 0),
        ("======", 0),
    ],
)
def test_the_first_column_of_a_table_is_measured(table: str, cells: int) -> None:
    assert first_column(table.split("\n")) == cells


TABLE_STEPS = """
for step in range(4):
    names = [f"column{i:02}" for i in range(20)]
    print("| key" + str(step) + " | " + " | ".join(names) + " |")
    print("|------|" + "|".join("-" * 10 for _ in names) + "|")
    print("| word | " + " | ".join(f"{i:8}" for i in range(20)) + " |")
    print("a sentence that is long enough " * 9)
    input(f"Go on to {step}? ")  # a comment that is longer than the pane of the source is wide
"""


async def test_a_step_is_shown_from_its_first_column(build: Build) -> None:
    async with playing(build.record(TABLE_STEPS, "a", "b", "c"), size=(120, 40)) as pilot:
        await press(pilot, "escape", "1", *["ctrl+right"] * 3)
        shown = screen_text(pilot.app)
        assert "column00" not in shown and "column04" in shown
        assert "| key3 |…" in shown and "| word |…" in shown  # the first column stays
        assert "Go on to 3?" in shown and "a sentence that" in shown  # and what is no table
        await press(pilot, "h")
        assert "| key2 | column00" in screen_text(pilot.app)
        await press(pilot, "ctrl+right", "w")
        shown = screen_text(pilot.app)
        assert "column00" not in shown  # another view of the same step keeps its place


async def test_the_focused_pane_is_the_one_that_scrolls(build: Build) -> None:
    async with playing(build.record(TABLE_STEPS, "a"), size=(120, 40)) as pilot:
        await press(pilot, "escape", "3", *["ctrl+right"] * 4)
        shown = screen_text(pilot.app)
        assert "| key1 | column00" in shown and "1 for step" not in shown
        await press(pilot, *["ctrl+left"] * 4)
        assert "for step in range" in screen_text(pilot.app)
        await press(pilot, *["ctrl+right"] * 4, "h")
        assert "for step in range" in screen_text(pilot.app)
