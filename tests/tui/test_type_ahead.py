"""Keys that come in a burst act in their order, and none acts on what is not painted yet."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import yaml
from textual import events
from textual.pilot import Pilot
from textual.widgets import Input

from quizlog_tui.session.session import Session
from quizlog_tui.tui.app import QuizlogApp
from quizlog_tui.tui.player.player import PlayerScreen
from quizlog_tui.tui.screens import library
from quizlog_tui.tui.screens.dialogs import ConfirmScreen
from quizlog_tui.tui.screenshot import screen_text
from quizlog_tui.tui.shelf import ReadRecords, read_some
from quizlog_tui.tui.state import State
from quizlog_tui.tui.widgets.prompt_panel import PromptPanel
from tests.support.build import Build
from tests.support.screens import SIZES, idle, playing, press, settled, shows

pytestmark = pytest.mark.core

QUIZ = """
for i in range(3):
    answer = input(f"word {i}? ")
    print("got", answer)
print("end")
"""


@pytest.fixture
def record(build: Build) -> Path:
    return build.record(QUIZ)


def data(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(path.read_text())
    return found


def draft(app: QuizlogApp) -> str:
    return app.screen.query_one(PromptPanel).draft


async def burst(pilot: Pilot[None], *keys: str) -> PlayerScreen:
    """Keys that all arrive at once, as a slow line delivers them."""
    for key in keys:
        pilot.app.simulate_key(key)
    await idle(pilot)
    return await settled(pilot)


async def give(pilot: Pilot[None], *answers: str) -> None:
    """Answers to the first questions, each when its question is there."""
    await settled(pilot)
    for answer in answers:
        await press(pilot, answer, "enter")


async def test_what_is_typed_ahead_waits_for_its_question(record: Path) -> None:
    app = QuizlogApp(record)
    async with app.run_test() as pilot:
        await settled(pilot)
        screen = await burst(pilot, "5", "enter", "6", "7", "backspace", "enter", "q", "b", "z")
        assert (data(record)["inputs"], draft(app)) == (["5"], "6")
        assert screen is app.screen and screen.state.step == 1
        await press(pilot, "enter")
        assert data(record)["inputs"] == ["5", "6"]


async def test_what_is_typed_while_the_script_runs_is_no_command(build: Build) -> None:
    slow = build.record("input('first? ')\nsum(range(10_000_000))\ninput('second? ')\n")
    app = QuizlogApp(slow)
    async with app.run_test() as pilot:
        await settled(pilot)
        screen = await burst(pilot, *"5", "enter", *"bq", "tab", "q", "b")
        assert screen is app.screen and not data(slow).get("branches")
        assert (data(slow)["inputs"], draft(app)) == (["5"], "bq")


async def test_what_is_typed_before_the_end_is_painted_is_nothing(record: Path) -> None:
    async with playing(record) as pilot:
        await press(pilot, "1", "enter")
        await press(pilot, "2", "enter")
        screen = await burst(pilot, "3", "enter", "q", "r", "b", "h")
        assert screen is pilot.app.screen and screen.state.shown.status == "success"
        assert data(record)["inputs"] == ["1", "2", "3"] and pilot.app.return_code is None
        assert (await press(pilot, "h")).state.step == 2


async def test_what_is_typed_before_the_first_question_is_painted_is_no_command(
    record: Path,
) -> None:
    app = QuizlogApp(record)
    async with app.run_test() as pilot:
        screen = await burst(pilot, "q", "b", "enter")
        assert draft(app) == "qb"
        screen.query_one("#output").focus()
        screen.gate.shut()
        await burst(pilot, "q", "b", "i", "enter")
        screen.gate.open()
        assert screen is app.screen and not isinstance(app.focused, Input)
        await press(pilot, "i", "b", "enter")
    assert data(record)["inputs"] == ["qbb"]


async def test_a_fork_and_its_answer_in_one_burst(record: Path) -> None:
    app = QuizlogApp(record)
    async with app.run_test() as pilot:
        await give(pilot, "1")
        await press(pilot, "escape")
        await burst(pilot, "0", "f", "ctrl+u", "b", "a", "r", "enter")
        await shows(pilot, "branch fork-1")
    assert data(record)["inputs"] == ["bar"]


@pytest.mark.parametrize(
    ("line", "keys", "answer"),
    [
        ("input('A: ')  #matrix", ("1", "tab", "2", "tab", "3", "tab", "4", "enter"), None),
        ("input('Essay: ')  #textarea", ("a", "enter", "b", "f5", "x"), "a\nb"),
        ("input('pick (red/blue) ')", ("down", "down", "enter", "q"), "blue"),
    ],
)
async def test_a_burst_fills_every_kind_of_input_in_order(
    line: str, keys: tuple[str, ...], answer: str | None, build: Build
) -> None:
    path = build.record(f"{line}\ninput('next? ')\n")
    async with playing(path) as pilot:
        await burst(pilot, *keys)
        await shows(pilot, "next?")
    assert data(path)["inputs"] == [answer or "[[1,2],[3,4]]"]


async def test_pasted_text_stands_before_the_enter_that_follows(record: Path) -> None:
    async with playing(record) as pilot:
        pilot.app.post_message(events.Paste("pasted"))
        await burst(pilot, "enter")
        await shows(pilot, "got pasted")


async def test_nobody_agrees_to_a_branch_that_was_not_painted(record: Path) -> None:
    app = QuizlogApp(record)
    async with app.run_test() as pilot:
        await give(pilot, "1")
        await press(pilot, "escape", "h")
        for key in ("i", "9", "enter", "enter", "enter"):
            app.simulate_key(key)
        await shows(pilot, "This starts a branch")
        assert isinstance(app.screen, ConfirmScreen)
    assert data(record)["inputs"] == ["1"]


async def test_two_changes_in_one_burst_are_both_made(record: Path) -> None:
    app = QuizlogApp(record)
    async with app.run_test() as pilot:
        await give(pilot, "1", "2")
        await press(pilot, "escape")
        screen = await burst(pilot, "z", "z")
        await pilot.app.workers.wait_for_complete()
        assert screen.session.pointer == 0


@pytest.mark.parametrize(
    ("keys", "step", "pane"),
    [
        (("0", "number_sign", "2", "enter"), 2, "output"),
        (("0", "number_sign", "1", "enter", "l"), 2, "output"),
        (("0", "number_sign", "1", "enter", "enter", "escape", "l"), 2, "output"),
        (("0", "number_sign", "2", "escape", "l"), 1, "output"),
        (("0", "number_sign", "2", "enter", "number_sign", "1", "enter", "2"), 1, "timeline"),
    ],
)
async def test_what_follows_a_key_that_asks_is_for_its_dialog(
    build: Build, keys: tuple[str, ...], step: int, pane: str
) -> None:
    async with playing(build.record(QUIZ, *"123")) as pilot:
        screen = await burst(pilot, *keys)
        assert (screen.state.step, pilot.app.focused and pilot.app.focused.id) == (step, pane)


async def test_pasted_text_waits_for_its_dialog_too(record: Path) -> None:
    async with playing(record) as pilot:
        await press(pilot, "1", "enter")
        await press(pilot, "escape")
        pilot.app.simulate_key("number_sign")
        pilot.app.post_message(events.Paste("0"))
        screen = await burst(pilot, "enter")
        assert screen.state.step == 0


async def test_what_is_typed_before_the_library_is_there_acts_in_it(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a.yaml", "b.yaml", "c.yaml"):
        build.record(QUIZ, name=name)
    let_go = threading.Event()

    def late(*args: Any) -> ReadRecords:
        assert let_go.wait(60)
        return read_some(*args)

    monkeypatch.setattr(library, "read_some", late)
    state = State(build.outside / "state.json")
    state.sorting = "name"
    app = QuizlogApp(build.folder, state=state)
    async with app.run_test() as pilot:
        for key in ("j", "j", "enter"):
            app.simulate_key(key)
        await pilot.pause()
        let_go.set()
        assert (await settled(pilot)).session.path.name == "c.yaml"


async def test_one_can_quit_before_the_library_is_there(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    let_go = threading.Event()
    monkeypatch.setattr(library, "read_some", lambda *args: let_go.wait(60))
    app = QuizlogApp(build.folder)
    async with app.run_test() as pilot:
        for key in ("j", "ctrl+q"):
            app.simulate_key(key)
        await pilot.pause()
        let_go.set()
    assert app.return_code == 0


async def test_keys_act_though_the_terminal_said_that_it_lost_the_focus(record: Path) -> None:
    async with playing(record) as pilot:
        pilot.app.post_message(events.AppBlur())
        await idle(pilot)
        assert pilot.app.screen.focused is None
        pilot.app.simulate_key("a")
        pilot.app.simulate_key("enter")
        await shows(pilot, "got a")
    assert data(record)["inputs"] == ["a"]


STEPS = 42
ROOMS = f"""
for i in range({STEPS}):
    print("room", i)
    if i % 3 == 0:
        input("Where to? (walk/museum/up/down/left) ")
    elif i % 3 == 1:
        input("Which letter (a/b) ")
    else:
        input(f"How many steps {{i}}? ")
print("done")
"""
ANSWERS = [("walk", "b", str(i))[i % 3] for i in range(STEPS)]


@pytest.fixture
def rooms(build: Build) -> Path:
    path = build.record(ROOMS)
    with Session(path) as session:
        for answer in ANSWERS:
            session.answer(answer)
    return path


def _walks() -> Iterator[object]:
    """Every size with every turn; in a plain run the smallest without one."""
    for (columns, rows), turn in product(SIZES, range(8)):
        marks = () if ((columns, rows), turn) == (SIZES[0], 0) else pytest.mark.long
        yield pytest.param((columns, rows), turn, marks=marks, id=f"{columns}x{rows}-{turn}")


@pytest.mark.parametrize(("size", "turn"), list(_walks()))
async def test_a_walk_both_ways_without_pauses(
    size: tuple[int, int], turn: int, rooms: Path
) -> None:
    before = rooms.read_bytes()
    async with playing(rooms, size=size) as pilot:
        screen = await settled(pilot)
        for key in ["h"] * STEPS + ["l"] * STEPS + ["h"] * turn:
            pilot.app.simulate_key(key)
            await asyncio.sleep(0)
        await settled(pilot)
        while screen.state.step != STEPS - turn:
            await pilot.pause()
        assert f"step {STEPS - turn} of {STEPS}" in screen_text(pilot.app)
    assert rooms.read_bytes() == before


@pytest.mark.long
async def test_playing_and_stepping_by_events_at_once(rooms: Path) -> None:
    async with playing(rooms) as pilot:
        screen = await settled(pilot)
        for key in ["space", "0", *["full_stop"] * 9, *["comma"] * 4] * 8:
            pilot.app.simulate_key(key)
            await asyncio.sleep(0)
        await press(pilot, "0", "full_stop", "full_stop")
        assert screen.state.step == 1
