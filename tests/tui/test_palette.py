"""What the palette finds, in which order, and that choosing it shows it."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot

from quizlog_tui.session.session import Session
from quizlog_tui.tui.app import QuizlogApp
from quizlog_tui.tui.keys.palette import rank
from quizlog_tui.tui.player.player import PlayerScreen
from quizlog_tui.tui.state import State
from tests.support.build import Build
from tests.support.screens import found, idle, patiently, playing, settled

QUIZ = """
for i in range(12):
    input(f"number {i}? ")
"""


@pytest.fixture
def record(build: Build) -> Path:
    return build.record(QUIZ, *"12345")


async def choose(pilot: Pilot[None], words: str, shown: str) -> None:
    """Choose the first entry of the palette for some words."""
    await pilot.press("ctrl+p", *words)
    await found(pilot, shown)
    await idle(pilot)
    await pilot.press("enter")
    await idle(pilot)


def test_a_match_in_the_label_comes_before_any_in_a_description() -> None:
    assert rank(0.1, 0.1) > rank(0, 50) > rank(0, 0.1) > rank(0, 0)


async def test_a_step_is_found_by_its_number(record: Path) -> None:
    async with playing(record, size=(100, 30)) as pilot:
        screen = await settled(pilot)
        await choose(pilot, "step 2", "Step 2: number 2? 3")
        for _ in patiently():
            if screen.state.step == 2:
                break
            await pilot.pause()
        assert screen.state.step == 2


async def test_a_branch_is_found_by_its_name(record: Path) -> None:
    with Session(record) as session:
        session.fork(1, "55")
        other = session.record.branch
        session.switch("main")
    async with playing(record, size=(100, 30)) as pilot:
        screen = await settled(pilot)
        await choose(pilot, f"branch {other}", f"Branch {other}")
        for _ in patiently():
            if screen.session.record.branch == other:
                break
            await pilot.pause()
        assert screen.session.record.branch == other


async def test_a_theme_is_found_applied_and_remembered(record: Path, tmp_path: Path) -> None:
    state = State(tmp_path / "state.json")
    async with playing(record, state=state, size=(100, 30)) as pilot:
        await choose(pilot, "theme quizlog-paper", "Theme quizlog-paper")
        for _ in patiently():
            if pilot.app.theme == "quizlog-paper":
                break
            await pilot.pause()
    assert State(tmp_path / "state.json").theme == "quizlog-paper"


async def test_a_record_shown_before_is_found_and_takes_the_place(
    record: Path, build: Build, tmp_path: Path
) -> None:
    state = State(tmp_path / "state.json")
    other = tmp_path / "elsewhere.yaml"
    other.write_bytes(record.read_bytes())
    (tmp_path / "quiz.py").write_text(QUIZ)
    state.remember(other, 1, 5)
    app = QuizlogApp(record, state=state)
    async with app.run_test(size=(100, 30)) as pilot:
        first = await settled(pilot)
        await choose(pilot, "record elsewhere", "Record elsewhere.yaml")
        for _ in patiently():
            if isinstance(app.screen, PlayerScreen) and app.screen is not first:
                break
            await pilot.pause()
        screen = await settled(pilot)
        assert screen.session.path == other.resolve() and first not in app.screen_stack
