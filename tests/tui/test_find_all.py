"""Finding in the whole run, and in all records: live, with context, and going on from there."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from quizlog_tui.errors import LimitError
from quizlog_tui.session.find import match_limit
from quizlog_tui.session.session import Session
from quizlog_tui.tui.app import QuizlogApp
from quizlog_tui.tui.clock import FrozenClock
from quizlog_tui.tui.screens.find import FindScreen
from quizlog_tui.tui.screens.library import LibraryScreen
from quizlog_tui.tui.screenshot import screen_text
from tests.support.build import Build
from tests.support.screens import SIZE, check, idle, opened, playing, press, settled, shows

QUIZ = """
for n in range(4):
    print(f"Room {n} holds a brass lamp")
    print("and dust")
    if input(f"Take the lamp in room {n}? ") == "drop":
        raise Exception("the lamp broke")  #score = 0.5
"""


@pytest.fixture
def record(build: Build) -> Path:
    folder = build.folder / "audit"
    folder.mkdir()
    path = Build(folder, build.dedent).record(QUIZ, "yes", "no lamp", "yes")
    with Session(path, clock=lambda: "1970-01-01T00:00:00+00:00") as session:
        session.comment(1, "which lamp is meant?", "unsure", "ann")
        session.fork(1, "drop", "broken")
        session.switch("main")
    return path


async def finding(pilot: Pilot[Any], words: str) -> FindScreen:
    """Open the search from the player, and type what to find."""
    await settled(pilot)
    await pilot.press("escape", "ctrl+f")
    screen = await opened(pilot, FindScreen)
    await pilot.press(*words)
    await idle(pilot)
    return screen


async def test_golden_screens(record: Path) -> None:
    app = QuizlogApp(record, clock=FrozenClock())
    async with app.run_test(size=SIZE) as pilot:
        await finding(pilot, "lamp")
        await shows(pilot, "11 found")
        await pilot.press("enter", *"jjj")
        await idle(pilot)
        check("find", SIZE, screen_text(app))


async def test_it_finds_while_one_types_in_all_parts_and_branches(record: Path) -> None:
    app = QuizlogApp(record, clock=FrozenClock())
    async with app.run_test(size=(100, 30)) as pilot:
        screen = await finding(pilot, "lamp")
        await shows(pilot, "11 found")
        found = [one.hit.passage for one in screen._found]
        assert {passage.part for passage in found} == {
            "output",
            "question",
            "answer",
            "note",
            "error",
        }
        assert {passage.branch for passage in found} == {"main", "broken"}
        await pilot.press(*" broke")
        await shows(pilot, "1 found")
        await pilot.press(
            "backspace", "backspace", "backspace", "backspace", "backspace", "backspace"
        )
        await shows(pilot, "11 found")


async def test_a_chosen_hit_is_gone_to_and_next_goes_on(record: Path) -> None:
    app = QuizlogApp(record, clock=FrozenClock())
    async with app.run_test(size=(100, 30)) as pilot:
        await finding(pilot, "lamp in room")
        await shows(pilot, "4 found")
        await press(pilot, "enter", "enter")
        player = await settled(pilot)
        assert player.state.step == 0 and player.panes.output.search.here is not None
        await shows(pilot, "1 of 4 hits, question of step 0: Take the lamp in room 0?")
        await press(pilot, "n")
        assert player.state.step == 1
        await press(pilot, "n", "n", "n")
        assert player.state.step == 0  # round the end
        await press(pilot, "N")
        assert player.state.step == 3
        await press(pilot, "escape")
        await press(pilot, "n")
        assert player.state.step == 3
        await shows(pilot, "no search yet")


async def test_a_hit_on_another_branch_asks_before_it_switches(record: Path) -> None:
    app = QuizlogApp(record, clock=FrozenClock())
    async with app.run_test(size=(100, 30)) as pilot:
        await finding(pilot, "the lamp broke")
        await shows(pilot, "1 found")
        await pilot.press("enter", "G", "enter")
        await shows(pilot, "Step 2 is on branch broken. Switch to it?")
        player = await press(pilot, "escape")
        assert player.session.record.branch == "main"
        await finding(pilot, "")
        await shows(pilot, "1 found")
        await pilot.press("enter", "G", "enter")
        await shows(pilot, "Switch to it?")
        player = await press(pilot, "enter")
        assert player.session.record.branch == "broken" and player.state.step == 2


async def test_a_regular_expression_can_be_found_and_a_wrong_one_is_told(record: Path) -> None:
    app = QuizlogApp(record, clock=FrozenClock())
    async with app.run_test(size=(100, 30)) as pilot:
        await finding(pilot, "room [02]")
        await shows(pilot, "0 found")
        await pilot.press("ctrl+r")
        await shows(pilot, "4 found")
        await pilot.press("(")
        await shows(pilot, "not a regular expression: missing )")
        await pilot.press("backspace")
        await shows(pilot, "4 found")


async def test_an_endless_expression_does_not_stop_the_screen(build: Build) -> None:
    record = build.record(f"print('{'a' * 60}!')\ninput('? ')\n")
    async with playing(record, clock=FrozenClock(), size=(100, 30)) as pilot:
        await pilot.press("escape", "ctrl+f")
        await opened(pilot, FindScreen)
        await pilot.press("ctrl+r", *"(a+)+$")
        await shows(pilot, "this expression takes too long")


def test_the_limit_on_a_match_ends_with_it() -> None:
    with match_limit(on=True, seconds=0.05):
        pass
    time.sleep(0.1)
    with pytest.raises(LimitError, match="takes too long"), match_limit(on=True, seconds=0.05):
        while True:
            pass


async def test_all_records_are_searched_from_the_library(
    record: Path, build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = build.folder / "other"
    other.mkdir()
    Build(other, build.dedent).record(QUIZ, "a lamp of mine")
    (build.folder / "broken.yaml").write_text("script: [seed", encoding="utf-8")
    app = QuizlogApp(build.folder, clock=FrozenClock())
    async with app.run_test(size=(100, 30)) as pilot:
        await opened(pilot, LibraryScreen)
        await shows(pilot, "3 records")
        await pilot.press("ctrl+f")
        await opened(pilot, FindScreen)
        await shows(pilot, "words to find, but not in output and errors of other branches")
        await pilot.press(*"broke")
        await shows(pilot, "0 found · not in output and errors of other branches")
        await pilot.press("ctrl+u", *"of mine")
        await shows(pilot, "1 found · 3 records")
        await shows(pilot, "other/record.yaml")
        await pilot.press("enter", "enter")
        player = await settled(pilot)
        assert player.session.path.parent == other and player.state.step == 0
        await shows(pilot, "1 of 1 hit, answer of step 0: a lamp of mine")


async def test_a_record_without_its_script_is_searched_as_recorded(record: Path) -> None:
    (record.parent / "quiz.py").unlink()
    app = QuizlogApp(record, clock=FrozenClock())
    async with app.run_test(size=(100, 30)) as pilot:
        await finding(pilot, "no lamp")
        await shows(pilot, "1 found")
