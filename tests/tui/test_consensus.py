"""Decisions on the screen: what is drawn of them, other rules, and what the keys do."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from textual.pilot import Pilot

from quizlog_tui.files.paths import decisions_path
from quizlog_tui.solver.decisions.decision import Decision, Fetched, ModelQuestion, ModelReply
from quizlog_tui.solver.decisions.decision_file import append_decision
from quizlog_tui.solver.voting.decide import decide
from quizlog_tui.tui.app import QuizlogApp
from quizlog_tui.tui.clock import FrozenClock
from quizlog_tui.tui.screens.consensus import ConsensusScreen
from quizlog_tui.tui.screens.dialogs import ChooseScreen
from quizlog_tui.tui.screenshot import screen_text
from tests.support.build import Build
from tests.support.player_quizzes import QUIZ
from tests.support.screens import check, opened, press, settled, shows, sized

DECISIONS = Path(__file__).parent.parent / "data" / "three-models.decisions.jsonl"


@pytest.fixture
def record(build: Build) -> Path:
    """Three answers, and decisions at steps 1, 3 and 1."""
    path = build.record(QUIZ, "Ada", "28", "16")
    shutil.copy(DECISIONS, path.with_suffix(".decisions.jsonl"))
    return path


async def deciding(pilot: Pilot[None]) -> ConsensusScreen:
    await settled(pilot)
    await press(pilot, "escape")
    await pilot.press("d")
    return await opened(pilot, ConsensusScreen)


@sized()
async def test_golden_consensus(size: tuple[int, int], record: Path) -> None:
    app = QuizlogApp(record, clock=FrozenClock())
    async with app.run_test(size=size) as pilot:
        await deciding(pilot)
        check("consensus", size, screen_text(app))
        await pilot.press("left_square_bracket", "r")
        await opened(pilot, ChooseScreen)
        await pilot.press("G", "enter")
        await shows(pilot, "By rule unanimous, not written: nothing")
        check("consensus-again", size, screen_text(app))


async def test_what_a_model_fetched_stands_with_its_reply(build: Build) -> None:
    path = build.record(QUIZ, "Ada", "28", "16")
    got = Fetched("GET", "https://quiz.site/rows", status=200, size=12, begins="[3, 4]")
    reply = ModelReply("ada", "ok", "Ada", fetched=(got,))
    question = ModelQuestion("Your name? ", branch="main", pointer=0)
    append_decision(decisions_path(path), decide(Decision("d", "now", question, (reply,))))
    app = QuizlogApp(path)
    async with app.run_test(size=(80, 30)) as pilot:
        await deciding(pilot)
        await pilot.press("G")
        await shows(pilot, "fetched GET https://quiz.site/rows: HTTP 200, 12 bytes")
        await shows(pilot, "[3, 4]")


async def test_other_rules_are_shown_beside_the_recorded_outcome_and_never_written(
    record: Path,
) -> None:
    kept = record.with_suffix(".decisions.jsonl")
    before = kept.read_bytes(), record.read_bytes()
    app = QuizlogApp(record)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        screen = await deciding(pilot)
        await shows(pilot, "decision 2 of 3 · step 3 of main")
        await pilot.press("right_square_bracket")
        await shows(pilot, "decision 3 of 3 · step 1 of main")
        await pilot.press("right_square_bracket")
        await shows(pilot, "no more decisions that way")
        await pilot.press("r")
        await opened(pilot, ChooseScreen)
        await pilot.press("G", "enter")
        await shows(pilot, "≠ a different outcome")
        await pilot.press("r")
        await opened(pilot, ChooseScreen)
        await pilot.press("g", "enter")
        await shows(pilot, "as recorded")
        assert screen._again is None
        await pilot.press("r")
        await opened(pilot, ChooseScreen)
        await pilot.press("escape")
        await opened(pilot, ConsensusScreen)
        await pilot.press("enter")
        player = await settled(pilot)
        assert len(player.state.shown.steps) == 1
    assert (kept.read_bytes(), record.read_bytes()) == before


async def test_what_cannot_be_read_is_told(record: Path) -> None:
    kept = record.with_suffix(".decisions.jsonl")
    app = QuizlogApp(record)
    async with app.run_test(size=(120, 30), notifications=True) as pilot:
        kept.write_text('{"id": 3}\n' + DECISIONS.read_text())
        await deciding(pilot)
        await shows(pilot, "1 line cannot be read")
        await pilot.press("d")
        await settled(pilot)
        kept.write_text("")
        await pilot.press("d")
        await shows(pilot, "there are no decisions in record.decisions.jsonl")
        kept.unlink()
        kept.mkdir()
        await pilot.press("d")
        await shows(pilot, "cannot read")
        kept.rmdir()


async def test_a_decision_of_another_branch_is_shown_but_has_no_step_here(record: Path) -> None:
    kept = record.with_suffix(".decisions.jsonl")
    kept.write_text(DECISIONS.read_text().replace('"branch": "main"', '"branch": "gone"'))
    app = QuizlogApp(record)
    async with app.run_test(size=(120, 30), notifications=True) as pilot:
        await deciding(pilot)
        await shows(pilot, "decision 1 of 3 · step 1 of gone")
        await pilot.press("enter")
        await shows(pilot, "it was not asked on this branch, but on gone")
