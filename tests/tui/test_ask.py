"""Asking models on the screen: the vote grows, and one accepts, overrides or goes on by itself."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from textual.pilot import Pilot

from quizlog_tui.paths import shipped
from quizlog_tui.solver.decision_file import decisions_path, read_decisions
from quizlog_tui.tui.app import QuizlogApp
from quizlog_tui.tui.clock import FrozenClock
from quizlog_tui.tui.screens.ask import AskModelsScreen
from quizlog_tui.tui.screenshot import screen_text
from tests.support.build import Build
from tests.support.screens import idle, settled, shows


@pytest.fixture
def record(tmp_path: Path) -> Path:
    """An example with recorded replies of three models."""
    shutil.copytree(shipped("records") / "linear-algebra", tmp_path / "linear-algebra")
    return tmp_path / "linear-algebra" / "record.yaml"


def inputs(record: Path) -> list[str]:
    found: list[str] = yaml.safe_load(record.read_text())["inputs"]
    return found


async def ask_models(pilot: Pilot[Any], words: str) -> AskModelsScreen:
    """Open the screen and wait until it says so."""
    await settled(pilot)
    await pilot.press("escape", "m")
    await shows(pilot, words)
    screen = pilot.app.screen
    assert isinstance(screen, AskModelsScreen)
    return screen


async def test_a_decision_is_shown_kept_and_accepted(record: Path) -> None:
    app = QuizlogApp(record, clock=FrozenClock())
    async with app.run_test(size=(110, 40), notifications=True) as pilot:
        await ask_models(pilot, "a takes it")
        text = screen_text(app)
        assert "Votes" in text and "Chosen by rule majority" in text
        assert len(read_decisions(decisions_path(record)).decisions) == 1 and inputs(record) == []
        await pilot.press("a")
        await settled(pilot)
        await idle(pilot)
    assert inputs(record) == ["yes"]


async def test_a_decision_is_changed_before_it_is_given(record: Path) -> None:
    app = QuizlogApp(record)
    async with app.run_test(size=(110, 40)) as pilot:
        await ask_models(pilot, "a takes it")
        await pilot.press("o")
        await settled(pilot)
        await idle(pilot)
        await pilot.press("!", "enter")
        await settled(pilot)
        await idle(pilot)
    assert inputs(record) == ["yes!"]


async def test_the_autopilot_goes_on_to_the_end(record: Path) -> None:
    app = QuizlogApp(record)
    async with app.run_test(size=(110, 40)) as pilot:
        screen = await ask_models(pilot, "a takes it")
        await pilot.press("p")
        while screen.session.transcript.status == "in_progress" or screen._asking:
            await pilot.pause(0.02)
        assert screen.session.transcript.status == "success"
        await pilot.press("q")
        player = await settled(pilot)
        assert player.shown.status == "success"
    assert len(inputs(record)) == 4


async def test_without_models_one_is_told_what_to_do(build: Build) -> None:
    app = QuizlogApp(build.record("input('q? ')"))
    async with app.run_test(size=(110, 40), notifications=True) as pilot:
        await ask_models(pilot, "no models are configured")
        await pilot.press("q")
        await settled(pilot)
