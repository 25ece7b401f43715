"""Who answered, when, and how long it took: in the timeline's title, and on a key."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from quizlog_tui.record.who import Giver
from quizlog_tui.session.session import Session
from quizlog_tui.tui.clock import FrozenClock
from tests.support.build import Build
from tests.support.screens import playing, press, settled, shows

QUIZ = "for n in range(5):\n    input(f'Number {n}? ')\n"
ANN, BOB = Giver("screen", "person", "ann"), Giver("http", "agent", "bob [b]")


class StillClock(FrozenClock):
    """Durations as they are, at the same moment always."""

    def duration(self, seconds: float) -> str:
        return "0 ms" if seconds < 1 else f"{seconds:.0f} s"


def minutes(*lengths: int) -> Callable[[], str]:
    """A clock that tells the same time until the next answer."""
    start = datetime(1970, 1, 1, tzinfo=UTC)
    times = [start + timedelta(seconds=sum(lengths[: n + 1])) for n in range(len(lengths))]
    left = iter(times)
    return lambda: next(left, times[-1]).isoformat()


@pytest.fixture
def record(build: Build) -> Path:
    folder = build.folder / "audit"
    folder.mkdir()
    path = Build(folder, build.dedent).record(QUIZ, "unknown")
    with Session(path, clock=minutes(0, 5, 30)) as session:
        session.answer("two", giver=ANN)
        session.answer("a long answer that is told in full\nhere", giver=BOB)
        session.answer("four", giver=ANN)
    return path


async def test_the_sums_stand_above_the_timeline_and_a_key_tells_them(record: Path) -> None:
    async with playing(record, clock=StillClock(), size=(200, 60)) as pilot:
        await shows(pilot, "Answers · script 0 ms · waited 35 s · ann 2")
        await shows(pilot, "── step 2 · bob [b] · just now ──")
        await press(pilot, "escape", "t")
        await shows(pilot, "4 answers · script 0 ms · waited 35 s · ann 2")
        await shows(pilot, "`quizlog steps RECORD` lists each answer")


async def test_what_a_person_answers_here_is_the_persons(record: Path) -> None:
    async with playing(record, clock=StillClock(), size=(120, 30)) as pilot:
        screen = await press(pilot, *"five", "enter")
        last = screen.session.record.extras["who"][-1]
        assert (last["at"], last["by"], last["door"]) == (4, "person", "screen")
        await press(pilot, "escape", "h", "4")
        await shows(pilot, "person · by screen")


async def test_a_record_that_tells_nobody_shows_no_sums(build: Build) -> None:
    async with playing(build.record(QUIZ, "a"), clock=StillClock(), size=(120, 30)) as pilot:
        screen = await settled(pilot)
        assert screen.query_one("#timeline").border_title == "Answers"
