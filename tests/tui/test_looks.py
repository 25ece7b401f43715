"""The panes that look into the script: its variables, expressions, the lines that ran."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot

from quizlog_tui.tui.player.player import PlayerScreen
from quizlog_tui.tui.screens.dialogs import ChooseScreen
from quizlog_tui.tui.screenshot import screen_text
from quizlog_tui.tui.widgets.expression_line import ExpressionLine
from quizlog_tui.tui.widgets.row_list import RowList
from tests.support.build import Build
from tests.support.screens import opened, playing, press, shows

QUIZ = """
def ask(question, tries):
    answer = input(question)
    return answer.strip()

seen = []
plan = {"steps": [1, 2], "why": "dark"}
for round in range(3):
    total = 0
    for each in range(5):
        total += each
    seen.append(ask(f"Round {round}? ", total))
raise ValueError("enough")  #score = 0.5
"""
SIZES = [(60, 20), (80, 24), (120, 40), (200, 60)]
every_size = pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")


@pytest.fixture
def record(build: Build) -> Path:
    return build.record(QUIZ, "a", "b")


def rows(screen: PlayerScreen, pane: str) -> list[str]:
    document = screen.query_one(f"#{pane}", RowList).document
    return [document[index].text.rstrip() for index in range(len(document))]


def row(screen: PlayerScreen, pane: str) -> str:
    """The row with the cursor."""
    index = screen.query_one(f"#{pane}", RowList).index
    assert index is not None
    return rows(screen, pane)[index]


async def type_line(pilot: Pilot[None], text: str) -> PlayerScreen:
    """Type an expression and send it."""
    if not isinstance(pilot.app.focused, ExpressionLine):
        await press(pilot, "semicolon")
    return await press(pilot, *({" ": "space"}.get(letter, letter) for letter in text), "enter")


@every_size
async def test_variables_of_the_waiting_call_its_callers_and_the_module(
    size: tuple[int, int], record: Path
) -> None:
    async with playing(record, size=size) as pilot:
        screen = await press(pilot, "escape", "5")
        found = rows(screen, "values")
        assert found[0] == "ask()  quiz.py:2"
        assert "module  quiz.py:11" in found
        assert found.index("+   tries = 10  int") < found.index("module  quiz.py:11")
        assert "Variables at step 2" in screen_text(pilot.app)
        await press(pilot, "5")
        assert "Variables at step" not in screen_text(pilot.app)


async def test_what_changed_since_the_question_before_is_marked(record: Path) -> None:
    async with playing(record) as pilot:
        screen = await press(pilot, "escape", "5")
        found = rows(screen, "values")
        at = found.index("~   round = 2  int")
        assert found[at + 1] == "      was 1"
        assert found.index("~ ▸ seen = ['a', 'b']  list of 2") < found.index(
            "  ▸ plan = {'steps': [1, 2], 'why': 'dark'}  dict of 2"
        )


async def test_a_value_opens_and_stays_open_at_other_steps(record: Path) -> None:
    async with playing(record) as pilot:
        screen = await press(pilot, "escape", "5")
        values = screen.query_one("#values", RowList)
        values.move(rows(screen, "values").index("~ ▸ seen = ['a', 'b']  list of 2"))
        await press(pilot, "enter")
        assert "      [1] = 'b'  str of 1" in rows(screen, "values")
        await press(pilot, "h")
        assert "~ ▾ seen = ['a']  list of 1" in rows(screen, "values")
        assert row(screen, "values") == "~ ▾ seen = ['a']  list of 1"
        await press(pilot, "enter", "l")
        assert "      [1] = 'b'  str of 1" not in rows(screen, "values")


async def test_an_expression_is_shown_and_asked_again_at_other_steps(record: Path) -> None:
    async with playing(record) as pilot:
        screen = await press(pilot, "escape")
        await type_line(pilot, "len(seen) * 100")
        assert rows(screen, "values")[:2] == [">>> len(seen) * 100", "    200  int"]
        await press(pilot, "escape", "h")
        assert rows(screen, "values")[1] == "    100  int"
        await press(pilot, "semicolon", "enter")
        assert rows(screen, "values")[0] == "ask()  quiz.py:2"
        assert screen.session.record.inputs == ["a", "b"]


async def test_an_expression_is_evaluated_in_the_call_of_the_selected_row(record: Path) -> None:
    async with playing(record) as pilot:
        screen = await press(pilot, "escape")
        await type_line(pilot, "tries")
        assert rows(screen, "values")[1] == "    10  int"
        await press(pilot, "escape", "G")
        await type_line(pilot, "tries")
        assert "NameError" in rows(screen, "values")[1]


async def test_what_an_expression_does_reaches_nothing(record: Path) -> None:
    async with playing(record) as pilot:
        screen = await press(pilot, "escape")
        await type_line(pilot, "print(seen.clear() or 7)")
        assert rows(screen, "values")[1] == "  7"
        await type_line(pilot, "input()")
        assert "EOFError" in rows(screen, "values")[1]
        await type_line(pilot, "seen")
        assert rows(screen, "values")[1] == "  ▸ ['a', 'b']  list of 2"
        assert screen.session.transcript.inputs == ("a", "b")


async def test_names_are_completed_and_expressions_come_back(record: Path) -> None:
    async with playing(record) as pilot:
        await press(pilot, "escape")
        await type_line(pilot, "see")
        await press(pilot, *"len(see", "right")
        screen = await press(pilot, ")", "enter")
        assert rows(screen, "values")[0] == ">>> len(seen)"
        await press(pilot, "up", "up", "enter")
        assert rows(screen, "values")[0] == ">>> see"


async def test_after_an_error_the_exception_and_the_call_that_raised(record: Path) -> None:
    async with playing(record) as pilot:
        screen = await press(pilot, "c", "enter", "escape", "5")
        assert rows(screen, "values")[0] == "✗ ValueError: enough"
        assert "module  quiz.py:12" in rows(screen, "values")


@every_size
async def test_the_lines_that_ran_with_loops_folded(size: tuple[int, int], record: Path) -> None:
    async with playing(record, size=size) as pilot:
        screen = await press(pilot, "escape", "6")
        found = rows(screen, "lines")
        assert any(each.endswith("5 times") for each in found)
        assert found[-1].lstrip().startswith("2 ")
        assert "Lines before step 2" in screen_text(pilot.app)


async def test_the_source_follows_the_lines(record: Path) -> None:
    async with playing(record) as pilot:
        screen = await press(pilot, "escape", "6", "k")
        assert row(screen, "lines").lstrip().startswith("11 ")
        assert screen.query_one("#source", RowList).index == 10
        await press(pilot, "6")
        assert screen.query_one("#source", RowList).index == 1


async def test_a_loop_opens_into_its_rounds(record: Path) -> None:
    async with playing(record) as pilot:
        screen = await press(pilot, "escape", "6")
        lines = screen.query_one("#lines", RowList)
        folded = rows(screen, "lines")
        loop = next(at for at, each in enumerate(folded) if each.endswith("5 times"))
        lines.move(loop)
        await press(pilot, "enter")
        unfolded = rows(screen, "lines")
        assert sum("total = 10" in each for each in unfolded) == 1
        assert len(unfolded) == len(folded) + 10
        await press(pilot, "enter")
        assert rows(screen, "lines") == folded


@pytest.mark.parametrize("pane", ["lines", "source"])
async def test_at_which_steps_a_line_ran(pane: str, record: Path) -> None:
    async with playing(record) as pilot:
        screen = await press(pilot, "escape", "6" if pane == "lines" else "3")
        if pane == "source":
            screen.query_one("#source", RowList).move(1)
        await pilot.press("enter")
        await opened(pilot, ChooseScreen)
        assert "ran before the question of 3 steps" in screen_text(pilot.app)
        await press(pilot, "g", "enter")
        assert screen.state.step == 0


async def test_a_line_that_never_ran_says_so(record: Path) -> None:
    async with playing(record, notifications=True) as pilot:
        screen = await press(pilot, "escape", "3")
        screen.query_one("#source", RowList).move(11)
        await pilot.press("enter")
        await shows(pilot, "ran at no step")


async def test_a_record_without_its_script_says_that_nothing_can_be_looked_at(
    record: Path,
) -> None:
    (record.parent / "quiz.py").unlink()
    async with playing(record) as pilot:
        screen = await press(pilot, "5")
        assert rows(screen, "values") == ["the script cannot be read, so nothing can be looked at"]


async def test_steps_that_were_passed_meanwhile_are_left_out(
    record: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with playing(record) as pilot:
        screen = await press(pilot, "escape")
        looked: list[int | None] = []
        inspect = screen.session.inspect

        def counted(at: int | None = None, **more: object) -> object:
            looked.append(at)
            return inspect(at, **more)  # type: ignore[arg-type]

        monkeypatch.setattr(screen.session, "inspect", counted)
        await press(pilot, "5", "h", "h", "l", "h")
        assert looked[-1] == 0
        assert "Variables at step 0" in screen_text(pilot.app)
        assert screen.session.record.pointer == 2
