"""The key that opens a screen closes it, where it has no other meaning there."""

from __future__ import annotations

from pathlib import Path

import pytest

from quizlog_tui.session.session import Session
from quizlog_tui.tui.app import QuizlogApp
from quizlog_tui.tui.player.player import PlayerScreen
from quizlog_tui.tui.screens.library import LibraryScreen
from tests.support.build import Build
from tests.support.screens import idle, opened, press, settled


@pytest.fixture
def record(build: Build) -> Path:
    source = """
        print('{"a": [1, 2, {"b": 3}]}')
        input("first? ")
        input("second? ")
    """
    path = build.record(source, "a", "b")
    with Session(path) as session:
        session.comment(0, "well", "right", "Ada")
    return path


@pytest.mark.parametrize(
    "key", ["p", "equals_sign", "b", "F", "question_mark", "f1", "M", "f2", "ctrl+f", "f3"]
)
async def test_a_key_of_the_player_closes_what_it_opens(key: str, record: Path) -> None:
    app = QuizlogApp(record)
    async with app.run_test() as pilot:
        await settled(pilot)
        await press(pilot, "escape")
        await pilot.press(
            "1" if key == "equals_sign" else "0", "l" if key == "equals_sign" else "0"
        )
        await idle(pilot)
        await pilot.press(key)
        await idle(pilot)
        assert not isinstance(app.screen, PlayerScreen)
        await pilot.press(key)
        await idle(pilot)
        assert isinstance(app.screen, PlayerScreen)


@pytest.mark.parametrize("key", ["question_mark", "M", "f2", "ctrl+f", "f3"])
async def test_a_key_of_the_library_closes_what_it_opens(key: str, record: Path) -> None:
    app = QuizlogApp(record.parent)
    async with app.run_test() as pilot:
        await opened(pilot, LibraryScreen)
        await pilot.press(key)
        await idle(pilot)
        assert not isinstance(app.screen, LibraryScreen)
        await pilot.press(key)
        await idle(pilot)
        assert isinstance(app.screen, LibraryScreen)
