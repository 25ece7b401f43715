"""What is typed belongs to its question, is never lost, and never sent where it was not meant."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
import yaml
from textual.widgets import Input

from quizlog_tui.config import Config
from quizlog_tui.errors import QuizlogError
from quizlog_tui.session.session import Session
from quizlog_tui.tui.app import QuizlogApp
from quizlog_tui.tui.screenshot import screen_text
from quizlog_tui.tui.state import State
from quizlog_tui.tui.widgets.prompt_panel import PromptPanel
from quizlog_tui.tui.widgets.row_list import RowList
from tests.support.build import Build
from tests.support.screens import idle, playing, press, settled, shows

QUIZ = """
name = input("name? ")
grid = input("A: ")  #matrix
text = input("tell: ")  #textarea
last = input("pick (red/green) ")
"""
MATRIX = "[[1,2],[3,4]]"


@pytest.fixture
def record(build: Build) -> Path:
    return build.record(QUIZ, "Ada", MATRIX, "a\nb")


def inputs(path: Path) -> list[str]:
    found: list[str] = yaml.safe_load(path.read_text())["inputs"]
    return found


def draft(app: QuizlogApp) -> str:
    return app.screen.query_one(PromptPanel).draft


async def test_what_is_typed_stays_with_its_question(record: Path) -> None:
    app = QuizlogApp(record)
    async with app.run_test() as pilot:
        await settled(pilot)
        await press(pilot, *"gre", "escape", "h")
        assert draft(app) == ""
        await press(pilot, "f", *"some", "escape", "h", "A")
        assert draft(app) == MATRIX
        await press(pilot, "escape", "l", "f")
        assert draft(app) == "a\nbsome"
        await press(pilot, "escape", "dollar_sign", "i", *"en", "enter")
    assert inputs(record)[-1] == "green"


async def test_an_amended_matrix_keeps_the_focus(record: Path) -> None:
    async with playing(record) as pilot:
        await press(pilot, "escape", "h", "h", "A", "9", "enter")
    assert inputs(record)[:2] == ["Ada", "[[19,2],[3,4]]"]


async def test_a_matrix_too_big_for_a_grid_is_amended_whole(build: Build) -> None:
    big = "[" + ",".join("[" + ",".join("1" * 10) + "]" for _ in range(10)) + "]"
    path = build.record(QUIZ, "Ada", big)
    app = QuizlogApp(path)
    async with app.run_test() as pilot:
        await settled(pilot)
        await press(pilot, "escape", "h", "A")
        assert draft(app) == big
        await press(pilot, "end", "backspace", " ", "]", "enter")
    assert inputs(path) == ["Ada", big[:-1] + " ]"]


async def test_no_choice_is_marked_before_one_moves(record: Path) -> None:
    async with playing(record) as pilot:
        assert "›  red" not in screen_text(pilot.app)
        await press(pilot, "shift+tab", "j")
        assert "›  red" in screen_text(pilot.app)
        await press(pilot, "enter", "enter")
    assert inputs(record)[-1] == "red"


async def test_beside_an_error_one_reads_what_each_option_means(build: Build) -> None:
    path = build.record(
        """
        for name in ("walk", "swim"):
            print(f"a) {name}\\nb) museum\\nc) stay")
            if input() != "b":
                raise Exception("no, " + "and that at length " * 20)
        """,
        "b",
        "a",
    )
    async with playing(path, size=(60, 20)) as pilot:
        for row in ("a) swim", "b) museum", "c) stay"):
            assert row in screen_text(pilot.app)
        await press(pilot, "down", "enter")
        assert inputs(path) == ["b", "a"]
        await press(pilot, "escape", "0")
        assert "a) walk" in screen_text(pilot.app)


async def test_the_mark_and_the_input_agree_on_an_option(build: Build) -> None:
    path = build.record("input('Where to? (walk/museum/up) ')\n")
    with Session(path) as session:
        session.keep(0, "fly")
    app = QuizlogApp(path)
    async with app.run_test(size=(100, 30)) as pilot:
        screen = await settled(pilot)
        await shows(pilot, "↑↓ options · other branches: fly")
        marks = screen.query_one("#options", RowList)

        def seen() -> tuple[str, int | None]:
            return draft(app), marks.index

        assert seen() == ("", None)
        await press(pilot, "down", "down")
        assert seen() == ("museum", 1)
        await press(pilot, "shift+tab", "j", "k", "k")
        assert seen() == ("walk", 0)
        await press(pilot, "tab", "down")
        assert seen() == ("museum", 1)
        await press(pilot, "x")
        assert seen() == ("museumx", None)
        await press(pilot, "up")
        assert seen() == ("fly", None)
        await press(pilot, *["backspace"] * 3, *"up")
        assert seen() == ("up", 2)
        await press(pilot, "ctrl+u")
        assert seen() == ("", None)


async def test_others_do_not_move_the_question_under_ones_hands(record: Path) -> None:
    app = QuizlogApp(record)
    async with app.run_test(notifications=True) as pilot:
        screen = await settled(pilot)
        await press(pilot, *"gre")
        with Session(record) as session:
            session.answer("red")
        await shows(pilot, "another program changed")
        assert (draft(app), screen.state.step) == ("gre", 3)
        await shows(pilot, "recorded: red")


async def test_an_answer_that_cannot_be_kept_stands_there_again(
    record: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: Session, answer: str) -> None:
        raise QuizlogError("the disk is full")

    app = QuizlogApp(record)
    async with app.run_test(notifications=True) as pilot:
        await settled(pilot)
        monkeypatch.setattr(Session, "answer", refuse)
        await press(pilot, *"green", "enter")
        await shows(pilot, "the disk is full")
        assert draft(app) == "green"


async def test_a_full_disk_is_told_and_the_screen_goes_on(
    record: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(fd: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    before = inputs(record)
    app = QuizlogApp(record)
    async with app.run_test(notifications=True) as pilot:
        await settled(pilot)
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", full)
            await pilot.press(*"red", "enter")
            await shows(pilot, "No space left")
            await idle(pilot)
        assert inputs(record) == before and draft(app) == "red"
        await press(pilot, "enter")
        assert inputs(record) == [*before, "red"]


async def test_what_a_write_leaves_open_is_told_once(
    record: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = record.with_name("other.yaml")
    os.link(record, other)
    async with playing(record, notifications=True) as pilot:
        await pilot.press(*"red", "enter")
        await shows(pilot, "its other hard link")
    assert inputs(record)[-1] == "red" and inputs(other) != inputs(record)


async def test_several_changes_are_undone_key_by_key(record: Path) -> None:
    app = QuizlogApp(record)
    async with app.run_test() as pilot:
        screen = await settled(pilot)
        await press(pilot, *"red", "enter")
        await press(pilot, "escape", "h", "r")
        await press(pilot, "z")
        await press(pilot, "z")
        assert (screen.session.pointer, draft(app)) == (3, "")


async def test_an_input_that_is_wanted_comes_into_sight(record: Path) -> None:
    async with playing(record, size=(60, 20)) as pilot:
        await press(pilot, "escape", "2")
        assert "pick" not in screen_text(pilot.app)
        await press(pilot, "f")
        await shows(pilot, "Fork at step 3")
        assert isinstance(pilot.app.focused, Input) and pilot.app.focused.region.height == 1


@pytest.fixture
def finished(build: Build) -> Path:
    return build.record("for i in range(3): input(f'number {i}? ')\n", "1", "2", "3")


async def test_a_finished_record_takes_no_focus_into_an_input(
    finished: Path, tmp_path: Path
) -> None:
    for keys in (("h", "h", "q"), ("b", "enter", "escape")):
        async with playing(finished, state=State(tmp_path / "state.json")) as pilot:
            before = finished.read_bytes()
            assert not isinstance(pilot.app.focused, Input)
            await pilot.press(*keys)
            await pilot.pause()
    assert finished.read_bytes() == before


async def test_an_answer_at_an_earlier_step_asks_and_is_one_undo(finished: Path) -> None:
    app = QuizlogApp(finished)
    async with app.run_test() as pilot:
        await settled(pilot)
        before = inputs(finished)
        await press(pilot, "h", "h")
        await pilot.press("i", "9", "enter")
        await shows(pilot, "This starts a branch at step 1: 2 recorded answers")
        await shows(pilot, "Your answer: 9")
        await press(pilot, "escape")
        assert (draft(app), inputs(finished)) == ("9", before)
        await pilot.press("enter")
        await shows(pilot, "This starts a branch at step 1: 2 recorded answers")
        await press(pilot, "enter")
        assert inputs(finished) == ["1", "9"]
        screen = await press(pilot, "escape", "z")
        assert (inputs(finished), screen.session.pointer) == (before, 3)
        assert screen.session.can_undo is None


async def test_a_setting_lets_an_answer_start_a_branch_at_once(finished: Path) -> None:
    async with playing(finished, Config(confirm_branches=False)) as pilot:
        await press(pilot, "h", "h", "i", "9", "enter")
    assert inputs(finished) == ["1", "9"]


async def test_the_recorded_answer_at_an_earlier_step_only_steps_on(finished: Path) -> None:
    before = finished.read_bytes()
    async with playing(finished) as pilot:
        screen = await press(pilot, "h", "h", "i", "2", "enter")
        assert screen.state.step == 2
        assert (await press(pilot, "escape", "l")).state.step == 3
    assert finished.read_bytes() == before


async def test_the_place_is_remembered_however_one_leaves(record: Path, tmp_path: Path) -> None:
    with Session(record) as session:
        session.rewind(2)
    for keys in (("ctrl+q",), ("q",)):
        state = State(tmp_path / "state.json")
        async with playing(record, state=state) as pilot:
            await press(pilot, "escape", "0")
            await pilot.press("l", *keys)
        async with playing(record, state=State(tmp_path / "state.json")) as pilot:
            screen = await settled(pilot)
            assert (screen.state.step, screen.state.head.length) == (1, 3)


@pytest.mark.parametrize("key", ["f", "A"])
@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_what_is_typed_after_a_long_line_is_seen(
    key: str, size: tuple[int, int], build: Build
) -> None:
    async with playing(
        build.record('input("tell: ")  #textarea\ninput("go? ")', "word " * 60), size=size
    ) as pilot:
        await press(pilot, "escape", "0", key, *"ZZZ")
        await shows(pilot, "word ZZZ")
        await pilot.resize_terminal(60, 20)
        await shows(pilot, "word ZZZ")
