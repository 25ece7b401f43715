"""Two runs side by side on the screen: what it shows, where its keys go, what it leaves alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot

from quizlog_tui.record.who import Giver
from quizlog_tui.session.session import Session
from quizlog_tui.tui.app import QuizlogApp
from quizlog_tui.tui.clock import FrozenClock
from quizlog_tui.tui.screens.compare import CompareScreen
from quizlog_tui.tui.screens.dialogs import ChooseScreen
from quizlog_tui.tui.screenshot import screen_text
from tests.support.build import Build
from tests.support.player_quizzes import QUIZ
from tests.support.screens import check, compare_with, idle, opened, playing, settled, shows, sized


@pytest.fixture
def record(build: Build) -> Path:
    """Four answers, and two branches that left them."""
    folder = build.folder / "audit"
    folder.mkdir()
    path = Build(folder, build.dedent).record(QUIZ, "Ada", "28", "16", "9")
    with Session(path) as session:
        session.keep(2, "17", "worse")
        session.fork(0, "Eve Smith", "eve")
        for answer in ("28", "16", "8"):
            session.answer(answer)
        session.switch("main")
    return path


async def comparing(pilot: Pilot[None], *keys: str) -> CompareScreen:
    """Open the comparison with what the keys choose."""
    await settled(pilot)
    await pilot.press("c")
    await opened(pilot, ChooseScreen)
    await pilot.press(*keys)
    return await opened(pilot, CompareScreen)


@sized()
async def test_golden_comparison(size: tuple[int, int], record: Path) -> None:
    app = QuizlogApp(record, clock=FrozenClock())
    async with app.run_test(size=size) as pilot:
        await comparing(pilot, "j", "enter")
        check("compare", size, screen_text(app))


async def test_its_keys_go_from_difference_to_difference_and_back_to_the_player(
    record: Path,
) -> None:
    before = record.read_bytes()
    app = QuizlogApp(record)
    async with app.run_test(notifications=True) as pilot:
        screen = await comparing(pilot, "j", "enter")
        await pilot.press("left_square_bracket")
        await shows(pilot, "no more differences that way")
        await pilot.press("right_square_bracket", "right_square_bracket")
        await shows(pilot, "difference 3 of 4")
        await pilot.press("left_square_bracket")
        await shows(pilot, "difference 2 of 4")
        await pilot.press("slash", *"not 8", "enter")
        await idle(pilot)
        assert screen._pane.cursor == 4
        await pilot.press("left_square_bracket")
        await shows(pilot, "difference 3 of 4")
        await pilot.press("escape", "enter")
        player = await settled(pilot)
        assert len(player.state.shown.steps) == 3
    assert record.read_bytes() == before


async def test_who_gave_answers_that_differ_is_shown(build: Build) -> None:
    path = build.record("input('only? ')\n")
    with Session(path, giver=Giver("screen", "person", "ann")) as session:
        session.answer("a")
        session.fork(0, "b", "other", giver=Giver("http", "agent", "bob"))
    app = QuizlogApp(path)
    async with app.run_test() as pilot:
        await comparing(pilot, "enter")
        await shows(pilot, "by bob")
        await shows(pilot, "by ann")


WIDE = """
for n in range(2):
    shown = "".join(f"| column{n}{i:02} " for i in range(12)) + "|"
    print(shown.replace("column111", input(f"Step {n}? ")))
"""


@pytest.mark.parametrize("size", [(120, 40), (60, 30)])
async def test_wide_tables_scroll_sideways_in_both_columns(
    size: tuple[int, int], build: Build
) -> None:
    path = build.record(WIDE, "a", "b")
    with Session(path) as session:
        session.fork(1, "c", "other")
    app = QuizlogApp(path)
    async with app.run_test(size=size) as pilot:
        screen = await comparing(pilot, "enter")
        await shows(pilot, "| column000 | column001")
        assert "column011" not in screen_text(app)
        await pilot.press("right_square_bracket")
        await shows(pilot, "| «b» |")  # the words that differ come into sight
        await pilot.press(*["ctrl+left"] * 18)
        await shows(pilot, "| column100 | column101")
        here = screen._pane.scroll_offset
        await pilot.press(*["ctrl+right"] * 18)
        await shows(pilot, "column110 | «b» |")
        text = screen_text(app)
        assert "…" in text and "Step 1? " in text and screen._pane.scroll_offset == here
    async with playing(path, size=size) as pilot:
        await pilot.press("escape", "equals_sign")
        await opened(pilot, ChooseScreen)
        await pilot.press("j", "enter")
        await shows(pilot, "| column100 | column101")
        await pilot.press(*["ctrl+right"] * 18)
        await shows(pilot, "column110 | «b» |")


async def test_another_record_is_compared_and_a_wrong_one_named(
    record: Path, build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    build.record(QUIZ, "Ada", "28", seed=8)
    monkeypatch.chdir(build.folder)
    async with playing(record, size=(120, 30), notifications=True) as pilot:
        await compare_with(pilot, "gone.yaml")
        await shows(pilot, "gone.yaml: the record does not")
        await compare_with(pilot, "")
        await settled(pilot)
        await compare_with(pilot, "record.yaml")
        screen = await opened(pilot, CompareScreen)
        await shows(pilot, "≠ first at step 1, the question: What is 7 * 4? | What is 5 * 7?")
        await compare_with(pilot, "audit/record.yaml@worse")
        await shows(pilot, "≠ first at step 2, the answer: 16 | 17")
        assert screen._found.b.name == "audit/record.yaml@worse"
        pilot.app.clear_notifications()  # the error stands for a minute over what is looked for
        await pilot.press("c")
        await opened(pilot, ChooseScreen)
        await pilot.press("enter")
        await shows(pilot, "main ✓ finished, score 1, 4 answers worse ✗ error")
        await pilot.resize_terminal(60, 20)
        await shows(pilot, "> worse ✗ error, score 0.5, 3 answers")
        await pilot.resize_terminal(1, 1)
        await pilot.press("q")
        await settled(pilot)
