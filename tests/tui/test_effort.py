"""Who answered, when, and how long it took: in the timeline's title, and on a key."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from quizlog_tui.record.who import Giver
from quizlog_tui.session.session import Session
from quizlog_tui.tui.clock import FrozenClock
from quizlog_tui.tui.widgets.row_list import RowList
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


async def test_a_key_shows_the_answers_of_one_giver_after_the_other(record: Path) -> None:
    async with playing(record, clock=StillClock(), size=(120, 30)) as pilot:
        screen = await press(pilot, "escape", "at")
        answers = screen.query_one("#timeline", RowList)

        def listed() -> list[str]:
            return [answers.document[row].text.split()[0] for row in range(len(answers.document))]

        assert listed() == ["1", "3"]
        await shows(pilot, "Answers by ann ·")
        await shows(pilot, "of 4 answers the timeline shows those by ann")
        assert (screen.state.step, answers.index) == (4, 1)  # the nearest one before
        await press(pilot, "2", "k")
        assert (screen.state.step, answers.index) == (1, 0)
        await press(pilot, "l")
        assert (screen.state.step, answers.index) == (2, 0)
        await press(pilot, "at")
        await shows(pilot, "Answers by unknown ·")
        assert listed() == ["0"]
        await press(pilot, "at")
        await shows(pilot, "Answers by bob [b] ·")
        assert (listed(), answers.index) == (["2"], 0)
        await press(pilot, "at")
        await shows(pilot, "of 4 answers the timeline shows all")
        assert (len(listed()), answers.index, screen.state.step) == (5, 2, 2)


async def test_answers_that_come_and_other_branches_are_shown_by_the_same_giver(
    record: Path,
) -> None:
    with Session(record) as session:
        session.fork(2, "other", "other", giver=BOB)
        session.fork(0, "his", "his", giver=BOB)
        session.switch("main")
    async with playing(record, clock=StillClock(), size=(120, 30)) as pilot:
        screen = await press(pilot, "escape", "at")
        answers = screen.query_one("#timeline", RowList)
        screen.editing.switch("other")
        await settled(pilot)
        assert len(answers.document) == 1
        with Session(record) as session:
            session.answer("mine", giver=ANN)
        await press(pilot, "R")
        assert [answers.document[row].text.split()[1] for row in range(2)] == ["two", "mine"]
        screen.editing.switch("his")
        await settled(pilot)
        assert len(answers.document) == 0
        await press(pilot, "2", "j", "enter", "escape", "at")
        assert len(answers.document) == 2
