"""A defect in drawing shows an error panel; it ends neither the program nor harms the record."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from textual.pilot import Pilot

from quizlog_tui.session.session import Session
from quizlog_tui.tui.app import QuizlogApp
from quizlog_tui.tui.picture import picture
from quizlog_tui.tui.player import panes
from quizlog_tui.tui.player.editing import Editing
from quizlog_tui.tui.player.panes import Panes
from quizlog_tui.tui.player.player import PlayerScreen
from quizlog_tui.tui.screens.dialogs import FaultScreen
from quizlog_tui.tui.screens.library import LibraryScreen
from quizlog_tui.tui.screens.tree import TreeScreen
from quizlog_tui.tui.widgets.line_view import LineView
from quizlog_tui.tui.widgets.prompt_panel import PromptPanel
from quizlog_tui.tui.widgets.row_list import RowList
from quizlog_tui.tui.widgets.scrubber import Scrubber
from tests.support.build import Build
from tests.support.long_runs import few
from tests.support.screens import opened, patiently, press, settled, shows

QUIZ = "for i in range(4): input(f'number {i}? ')\n"
PLACES: list[tuple[type | ModuleType, str]] = [
    (LineView, "render_line"),
    (LineView, "_measured"),
    (RowList, "mark"),
    (Scrubber, "render_line"),
    (PromptPanel, "ask"),
    (PromptPanel, "on_input_changed"),
    (Panes, "draw"),
    (panes, "_status_text"),
    (PlayerScreen, "on_resize"),
]


@pytest.fixture
def record(build: Build) -> Path:
    return build.record(QUIZ, "1", "2")


def broken(*args: Any, **options: Any) -> None:
    raise IndexError("tuple index out of range")


@pytest.fixture(autouse=True)
def wanted(faults: list[Exception]) -> Iterator[None]:
    yield
    assert faults, "no error panel was shown"
    faults.clear()


async def panel(pilot: Pilot[None]) -> None:
    """Wait for the error panel; it says what happened and how to go on."""
    for _ in patiently():
        if isinstance(pilot.app.screen, FaultScreen):
            break
        await pilot.pause()
    await shows(pilot, "✗ IndexError: tuple index out of range (test_faults.py, line")
    await shows(pilot, "Enter closes this panel")


@pytest.mark.parametrize("place", few(PLACES), ids=lambda place: f"{place[0].__name__}.{place[1]}")
async def test_a_defect_in_drawing_shows_an_error_panel(
    place: tuple[type | ModuleType, str], record: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = record.read_bytes()
    app = QuizlogApp(record)
    async with app.run_test(notifications=True) as pilot:
        await settled(pilot)
        with monkeypatch.context() as patch:
            patch.setattr(*place, broken, raising=False)
            await pilot.press("7", "escape", "h")
            await pilot.resize_terminal(100, 30)
            await panel(pilot)
        await pilot.press("enter")
        await settled(pilot)
        assert record.read_bytes() == before
        screen = await press(pilot, "i", "5", "enter")
        assert screen.session.record.inputs[2].endswith("5")
    assert app.return_code != 1


@pytest.mark.parametrize("name", ["content", "on_mount"])
async def test_a_screen_that_cannot_be_opened_gives_way_to_the_one_before(
    name: str, record: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = QuizlogApp(record)
    async with app.run_test() as pilot:
        await settled(pilot)
        monkeypatch.setattr(TreeScreen, name, broken)
        await pilot.press("escape", "b")
        await panel(pilot)
        await pilot.press("enter")
        screen = await settled(pilot)
        assert (await press(pilot, "h")).state.step == 1
        assert screen is app.screen


async def test_a_player_that_cannot_be_drawn_gives_way_to_the_library(
    record: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = QuizlogApp(record.parent)
    async with app.run_test() as pilot:
        await shows(pilot, "record.yaml")
        monkeypatch.setattr(Panes, "draw", broken)
        await pilot.press("enter")
        await panel(pilot)
        await pilot.press("q")
        await opened(pilot, LibraryScreen)
        monkeypatch.undo()
        await pilot.press("enter")
        await settled(pilot)


async def test_a_defect_while_nothing_is_pressed_is_told_once(
    record: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = QuizlogApp(record)
    async with app.run_test() as pilot:
        await settled(pilot)
        with monkeypatch.context() as patch:
            patch.setattr(Editing, "_look_for_changes", broken)
            await app._close_broken(None)  # the one opened anew watches the record with what fails
            while len(app.faults) < 3:
                await pilot.pause(0.02)
            await panel(pilot)
        await pilot.press("enter")
        await settled(pilot)


async def test_what_a_move_has_written_stays_where_its_drawing_fails(
    record: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = QuizlogApp(record)
    async with app.run_test() as pilot:
        await settled(pilot)
        with monkeypatch.context() as patch:
            patch.setattr(Panes, "_measured", broken)
            await pilot.press("9", "enter")
            await panel(pilot)
        await pilot.press("enter")
        screen = await settled(pilot)
        assert screen.state.step == 3
    with Session(record) as session:
        assert list(session.record.inputs) == ["1", "2", "9"]


def test_a_picture_is_never_one_of_an_error_panel(
    record: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Panes, "draw", broken)
    with pytest.raises(IndexError, match="out of range"):
        picture(record)
