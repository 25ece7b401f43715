"""Wide tables keep their rows, on the screen as in their document; other lines wrap."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quizlog_tui.replay.transcript import Step, Transcript
from quizlog_tui.tui.app import QuizlogApp
from quizlog_tui.tui.clock import FrozenClock
from quizlog_tui.tui.draw.output import OutputForm, RunOutput
from quizlog_tui.tui.screenshot import screen_text
from quizlog_tui.tui.widgets.documents import LONG, Rows, first_column, is_table_row, rows
from tests.support.build import Build
from tests.support.screens import check, press, settled, sized

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
    app = QuizlogApp(record)
    async with app.run_test(size=(80, 40)) as pilot:
        await settled(pilot)
        await press(pilot, "escape")
        text = screen_text(app)
        assert text.count("| column00") == 1 and "column19" not in text
        assert text.count("a sentence that") > 2  # wrapped
        await press(pilot, *["ctrl+right"] * 40)
        text = screen_text(app)
        assert "column19 |" in text and "59 |" in text and "column01" not in text
        await press(pilot, *["ctrl+left"] * 40)
        assert "| column00" in screen_text(app)


async def test_wrapping_can_be_switched_off(record: Path) -> None:
    app = QuizlogApp(record)
    async with app.run_test(size=(80, 40)) as pilot:
        await settled(pilot)
        await press(pilot, "escape", "W")
        output = [row for row in screen_text(app).splitlines() if "sentence" in row]
        assert len(output) == 1
        await press(pilot, "W")
        output = [row for row in screen_text(app).splitlines() if "sentence" in row]
        assert len(output) > 2


@sized((200, 60))
async def test_golden_wide_table(size: tuple[int, int], record: Path) -> None:
    app = QuizlogApp(record, clock=FrozenClock())
    async with app.run_test(size=size) as pilot:
        await settled(pilot)
        await press(pilot, "escape", "ctrl+right", "ctrl+right")
        check("table", size, screen_text(app))


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


STEPS = """
for step in range(4):
    names = [f"column{i:02}" for i in range(20)]
    print("| key" + str(step) + " | " + " | ".join(names) + " |")
    print("|------|" + "|".join("-" * 10 for _ in names) + "|")
    print("| word | " + " | ".join(f"{i:8}" for i in range(20)) + " |")
    print("a sentence that is long enough " * 9)
    input(f"Go on to {step}? ")  # a comment that is longer than the pane of the source is wide
"""


async def test_a_step_is_shown_from_its_first_column(build: Build) -> None:
    app = QuizlogApp(build.record(STEPS, "a", "b", "c"))
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        await press(pilot, "escape", "1", *["ctrl+right"] * 3)
        shown = screen_text(app)
        assert "column00" not in shown and "column04" in shown
        assert "| key3 |…" in shown and "| word |…" in shown  # the first column stays
        assert "Go on to 3?" in shown and "a sentence that" in shown  # and what is no table
        await press(pilot, "h")
        assert "| key2 | column00" in screen_text(app)
        await press(pilot, "ctrl+right", "w")
        assert "column00" not in screen_text(app)  # another view of the same step keeps its place


async def test_the_focused_pane_is_the_one_that_scrolls(build: Build) -> None:
    app = QuizlogApp(build.record(STEPS, "a"))
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        await press(pilot, "escape", "3", *["ctrl+right"] * 4)
        shown = screen_text(app)
        assert "| key1 | column00" in shown and "1 for step" not in shown
        await press(pilot, *["ctrl+left"] * 4)
        assert "for step in range" in screen_text(app)
        await press(pilot, *["ctrl+right"] * 4, "h")
        assert "for step in range" in screen_text(app)
