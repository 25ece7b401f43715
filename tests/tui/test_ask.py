"""Asking models on the screen: the vote grows, and one accepts, overrides or goes on by itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from textual.pilot import Pilot

from quizlog_tui.files.paths import decisions_path
from quizlog_tui.solver.decision_text import read_decisions
from quizlog_tui.solver.models.models import default_models
from quizlog_tui.tui.app import QuizlogApp
from quizlog_tui.tui.clock import FrozenClock
from quizlog_tui.tui.player.ask import AskModelsScreen
from quizlog_tui.tui.screens.dialogs import ConfirmScreen
from quizlog_tui.tui.screenshot import screen_text
from tests.support.build import Build
from tests.support.examples import fresh_example
from tests.support.fake_models import Fake, fake_models
from tests.support.screens import idle, opened, settled, shows


@pytest.fixture
def record(tmp_path: Path) -> Path:
    """An example with recorded replies of three models."""
    return fresh_example("linear-algebra", tmp_path)


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
        await ask_models(pilot, "a accepts")
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
        await ask_models(pilot, "a accepts")
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
        screen = await ask_models(pilot, "a accepts")
        await pilot.press("p")
        while screen.session.transcript.status == "in_progress" or screen._asking:
            await pilot.pause(0.02)
        assert screen.session.transcript.status == "success"
        await pilot.press("q")
        player = await settled(pilot)
        assert player.state.shown.status == "success"
    assert len(inputs(record)) == 4


async def test_without_models_one_is_told_what_to_do(build: Build) -> None:
    app = QuizlogApp(build.record("input('q? ')"))
    async with app.run_test(size=(110, 40), notifications=True) as pilot:
        await ask_models(pilot, "no models are configured")
        await pilot.press("q")
        await settled(pilot)


# -- models that may be billed


def configured(fake: Fake, *names: str) -> None:
    """Models behind endpoints, in the user's settings."""
    default_models().parent.mkdir(parents=True, exist_ok=True)
    models = [{"name": name, "base_url": fake.url, "model": name} for name in names]
    default_models().write_text(json.dumps({"models": models}))


def answers(value: str) -> list[str]:
    return [json.dumps({"answer": value, "code": None})]


TWO = "input('one? ')\ninput('two? ')\n"


async def test_models_that_may_be_billed_are_asked_once_the_user_agrees(build: Build) -> None:
    path = build.record(TWO)
    app = QuizlogApp(path)
    async with fake_models(One=answers("x"), two=answers("x")) as fake:
        configured(fake, "One", "two")
        async with app.run_test(size=(80, 24)) as pilot:
            await settled(pilot)
            await pilot.press("escape", "m")
            await opened(pilot, ConfirmScreen)
            await shows(pilot, "Ask the models: each question is sent to One, two, again")
            await shows(pilot, "their providers may bill it")
            await pilot.press("escape")
            await settled(pilot)
            assert not fake.calls
            await pilot.press("m")
            await opened(pilot, ConfirmScreen)
            await pilot.press("enter")
            await shows(pilot, "2 requests sent to One, two: quizlog does not know what")
            assert fake.calls == {"One": 1, "two": 1}
            await pilot.press("q")
            await settled(pilot)
            await ask_models(pilot, "a accepts")
            assert fake.calls == {"One": 2, "two": 2}


async def test_what_was_agreed_to_holds_for_other_records_but_not_for_other_models(
    build: Build,
) -> None:
    build.record(TWO, name="a.yaml")
    build.record(TWO, name="b.yaml")
    app = QuizlogApp(build.folder)
    async with fake_models(one=answers("x"), two=answers("x")) as fake:
        configured(fake, "one")
        async with app.run_test(size=(80, 24)) as pilot:
            await shows(pilot, "2 records")
            await idle(pilot)
            await pilot.press("enter")
            await settled(pilot)
            await pilot.press("escape", "m")
            await opened(pilot, ConfirmScreen)
            await pilot.press("enter")
            await shows(pilot, "a accepts")
            await pilot.press("q")
            await settled(pilot)
            await pilot.press("L")
            await settled(pilot)
            await pilot.press("m")
            await shows(pilot, "a accepts")
            assert fake.calls == {"one": 2}
            configured(fake, "one", "two")
            await pilot.press("m")
            await opened(pilot, ConfirmScreen)
            assert fake.calls == {"one": 2}


async def test_nobody_is_asked_to_agree_to_recorded_replies_or_models_of_ones_own(
    record: Path, build: Build
) -> None:
    async with fake_models(one=answers("x")) as fake:
        configured(fake, "one")
        app = QuizlogApp(record)
        async with app.run_test(size=(110, 40)) as pilot:
            await ask_models(pilot, "a accepts")
            assert "may bill" not in screen_text(app) and "requests" not in screen_text(app)
        own = {"name": "own", "command": ["echo", '{"answer": 1, "code": null}']}
        keyless = {"name": "one", "base_url": fake.url, "model": "one", "api_key_env": "NO_KEY"}
        default_models().write_text(json.dumps({"models": [own, keyless]}))
        app = QuizlogApp(build.record(TWO))
        async with app.run_test(size=(110, 40)) as pilot:
            await ask_models(pilot, "a accepts")
        assert not fake.calls


# -- the autopilot at the end


async def test_the_autopilot_on_the_last_question_takes_the_answer_and_asks_no_more(
    build: Build,
) -> None:
    path = build.record("input('one? ')\ninput('last? ')\n", "1")
    default_models().parent.mkdir(parents=True, exist_ok=True)
    own = {"name": "own", "command": ["echo", '{"answer": "2", "code": null}']}
    default_models().write_text(json.dumps({"models": [own]}))
    app = QuizlogApp(path)
    async with app.run_test(size=(110, 40), notifications=True) as pilot:
        await ask_models(pilot, "a accepts")
        await pilot.press("p")
        await shows(pilot, "the questionnaire has ended: success; q goes back")
        await idle(pilot)
        assert inputs(path) == ["1", "2"] and not app._notifications
        assert len(read_decisions(decisions_path(path)).decisions) == 1
        await pilot.press("a")
        await shows(pilot, "nothing has been decided")
        await pilot.press("q")
        assert (await settled(pilot)).state.shown.status == "success"


async def test_the_autopilot_asks_nobody_again_where_models_do_not_agree(build: Build) -> None:
    path = build.record(TWO)
    default_models().parent.mkdir(parents=True, exist_ok=True)
    models = [
        {
            "name": name,
            "command": ["echo", json.dumps({"answer": name, "code": None})],
            "primary": name == "yes",
        }
        for name in ("yes", "no")
    ]
    default_models().write_text(json.dumps({"models": models}))
    app = QuizlogApp(path)
    async with app.run_test(size=(110, 40)) as pilot:
        await ask_models(pilot, "a accepts")
        await pilot.press("p")
        await shows(pilot, "paused: the models do not agree")
        await idle(pilot)
        assert inputs(path) == [] and len(read_decisions(decisions_path(path)).decisions) == 1
