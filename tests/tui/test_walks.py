"""Keys that come faster than the screens are drawn: stepping on and back without a pause."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from quizlog_tui.session.session import Session
from quizlog_tui.tui.app import QuizlogApp
from quizlog_tui.tui.screenshot import screen_text
from tests.support.build import Build
from tests.support.screens import SIZES, press, settled

STEPS = 42
QUIZ = f"""
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
def record(build: Build) -> Path:
    path = build.record(QUIZ)
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
    size: tuple[int, int], turn: int, record: Path
) -> None:
    before = record.read_bytes()
    app = QuizlogApp(record)
    async with app.run_test(size=size) as pilot:
        screen = await settled(pilot)
        for key in ["h"] * STEPS + ["l"] * STEPS + ["h"] * turn:
            app.simulate_key(key)
            await asyncio.sleep(0)
        await settled(pilot)
        while screen.state.step != STEPS - turn:
            await pilot.pause()
        assert f"step {STEPS - turn} of {STEPS}" in screen_text(app)
    assert record.read_bytes() == before


@pytest.mark.long
async def test_playing_and_stepping_by_events_at_once(record: Path) -> None:
    app = QuizlogApp(record)
    async with app.run_test() as pilot:
        screen = await settled(pilot)
        for key in ["space", "0", *["full_stop"] * 9, *["comma"] * 4] * 8:
            app.simulate_key(key)
            await asyncio.sleep(0)
        await press(pilot, "0", "full_stop", "full_stop")
        assert screen.state.step == 1
