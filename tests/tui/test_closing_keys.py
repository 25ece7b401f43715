"""The key that opens a screen closes it, where it has no other meaning there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.screen import Screen

from quizlog_tui.session.session import Session
from quizlog_tui.tui.app import QuizlogApp
from quizlog_tui.tui.player.player import PlayerScreen
from quizlog_tui.tui.screens.library import LibraryScreen
from tests.support.build import Build
from tests.support.screens import idle, opened, playing, press


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


async def closes_what_it_opens(pilot: Pilot[None], key: str, below: type[Screen[Any]]) -> None:
    await pilot.press(key)
    await idle(pilot)
    assert not isinstance(pilot.app.screen, below), key
    await pilot.press(key)
    await idle(pilot)
    assert isinstance(pilot.app.screen, below), key


async def test_a_key_of_the_player_closes_what_it_opens(record: Path) -> None:
    async with playing(record) as pilot:
        await press(pilot, "escape", "0")
        for key in ("p", "b", "F", "question_mark", "f1", "M", "f2", "ctrl+f", "f3"):
            await closes_what_it_opens(pilot, key, PlayerScreen)
        await press(pilot, "l")
        await closes_what_it_opens(pilot, "equals_sign", PlayerScreen)


async def test_a_key_of_the_library_closes_what_it_opens(record: Path) -> None:
    app = QuizlogApp(record.parent)
    async with app.run_test() as pilot:
        await opened(pilot, LibraryScreen)
        for key in ("question_mark", "M", "f2", "ctrl+f", "f3"):
            await closes_what_it_opens(pilot, key, LibraryScreen)
