"""What nobody should believe is said in the player at the step where it is found, and stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from quizlog_tui.replay.replayer import Replayer, replay
from quizlog_tui.session.session import Session
from quizlog_tui.tui.app import QuizlogApp
from quizlog_tui.tui.player.player import PlayerScreen
from tests.support.build import Build
from tests.support.screens import playing, press, settled, shows, sized

EVALUATES = """
import sys
print("hello")
for name in "abc":
    print(name, "is", eval(input(f"{name}? ")))
"""
HIDES = 'setattr(sys.stdout.log, "printed", lambda text: None) or 4'
FOUND = "! tampered at step 2: the script reports output"


@pytest.fixture
def record(build: Build) -> Path:
    return build.record(EVALUATES, "4")


async def answered(app: QuizlogApp, screen: PlayerScreen, answer: str) -> None:
    screen.editing.move(lambda: screen.session.answer(answer))
    await app.workers.wait_for_complete()


async def test_tampering_is_said_when_the_step_is_done_and_stays(record: Path) -> None:
    app = QuizlogApp(record)
    async with app.run_test(size=(100, 30)) as pilot:
        screen = await settled(pilot)
        await answered(app, screen, HIDES)
        await shows(pilot, "! tampered at step 2 · ● waiting · step 2 of 2")
        await shows(pilot, FOUND)
        await shows(pilot, "● waiting tampered")
        await answered(app, screen, "6")
        await shows(pilot, "! tampered at step 2 · ✓ finished")
        await shows(pilot, FOUND)
        assert screen.known.marks(screen.state.whole) == {1: "!", 2: "!"}
        await press(pilot, "escape", "0")
        await shows(pilot, "! tampered at step 2 · ✓ finished, score 1 · step 0 of 3")
        assert not screen.query_one("#error").display
        await press(pilot, "right_square_bracket", "right_square_bracket")
        await shows(pilot, "step 2 of 3")
        assert screen.query_one("#error").display


@sized()
async def test_it_is_said_at_every_size_and_after_opening(
    size: tuple[int, int], record: Path
) -> None:
    with Session(record) as session:
        session.answer(HIDES)
    async with playing(record, size=size) as pilot:
        await shows(pilot, "! tampered at step 2 · ● waiting")
        await shows(pilot, "! tampered at step 2: the script reports")


async def test_an_end_by_an_answer_is_in_the_header_wherever_one_looks(record: Path) -> None:
    app = QuizlogApp(record)
    async with app.run_test(size=(110, 30)) as pilot:
        screen = await settled(pilot)
        await answered(app, screen, "exit(0)")
        await shows(pilot, "! ended by an answer's code · ✗ error, score 0 · step 2 of 2")
        await shows(pilot, "answer 1 ran as code and ended the script")
        assert screen.known.marks(screen.state.whole) == {1: "!", 2: "✗"}
        await press(pilot, "escape", "0")
        await shows(pilot, "! ended by an answer's code · ✗ error, score 0 · step 0 of 2")


def test_the_step_is_the_same_from_a_checkpoint_and_from_the_start(build: Build) -> None:
    script = build.script(EVALUATES)
    with Replayer() as replayer:
        for answers in (["4"], ["4", HIDES], ["4", HIDES, "1"], ["4", HIDES, "2"], ["4", "5", "6"]):
            walked, fresh = replayer.replay(script, 1, answers), replay(script, 1, answers)
            assert walked.tampered_at == fresh.tampered_at == (2 if HIDES in answers else None)
    assert replay(script, 1, ["4", HIDES]).upto(1).tampered_at is None
