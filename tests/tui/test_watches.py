"""Watched expressions in the player: their columns and bars, adding and taking away, going to one."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from quizlog_tui.debug import watching
from quizlog_tui.debug.watching import StopWalk, Watched, WatchedStep, WatchedValue, watched
from quizlog_tui.record.feedback import watches
from quizlog_tui.record.store import RecordFile
from quizlog_tui.session.audit import Audit
from quizlog_tui.session.session import Session
from quizlog_tui.tui.clock import FrozenClock
from quizlog_tui.tui.player.player import PlayerScreen
from quizlog_tui.tui.player.watches import series_of, turns_true
from quizlog_tui.tui.screens.dialogs import ChooseScreen
from quizlog_tui.tui.screenshot import screen_text
from quizlog_tui.tui.widgets.scrubber import Scrubber
from tests.support.build import Build
from tests.support.screens import (
    ask,
    asking,
    check,
    give,
    idle,
    opened,
    patiently,
    playing,
    press,
    settled,
    shows,
)

SCRIPT = """\
    items, room = [], "hall"
    for number in range(4):
        word = input(f"word {number}? ")
        items.append(word)
        room = word * 3
        if word == "end":
            items = []
    """
ANSWERS = ("north", "end", "east")


@pytest.fixture
def record(build: Build, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(build.folder / "data"))
    folder = build.folder / "walk"
    folder.mkdir()
    return Build(folder, build.dedent).record(SCRIPT, *ANSWERS)


@pytest.fixture
def kept(record: Path) -> Path:
    with Session(record, clock=lambda: "1970-01-01T00:00:00+00:00") as session:
        session.keep_watch("len(items)", "ann")
        session.keep_watch("room", "ann")
    return record


async def evaluated(pilot: Pilot[Any], *expressions: str) -> PlayerScreen:
    """Wait until the values of these expressions are shown."""
    screen = await settled(pilot)
    for _ in patiently():
        found = screen.panes.watches.found
        stops = len(screen.state.whole.steps) + 1
        if found and found.expressions == expressions and len(found.steps) == stops:
            await idle(pilot)
            return screen
        await pilot.pause()
    raise AssertionError(f"{expressions} were never evaluated:\n{screen_text(pilot.app)}")


async def until(pilot: Pilot[Any], holds: Callable[[], bool]) -> None:
    """Wait until something holds, while something else goes on."""
    for _ in patiently():
        if holds():
            return
        await pilot.pause()
    raise AssertionError(f"it never came:\n{screen_text(pilot.app)}")


def of_numbers(*numbers: float | None) -> Watched:
    steps = [
        WatchedStep(
            step, (WatchedValue(str(number), number, None if number is not None else "no"),)
        )
        for step, number in enumerate(numbers)
    ]
    return Watched(("x",), tuple(steps))


@pytest.mark.parametrize(
    ("numbers", "turns"),
    [([], []), ([0, 0], []), ([1, 1, 0, 1], [0, 3]), ([None, 2, None, None, 0, 1], [1, 5])],
)
def test_the_steps_at_which_something_turns_true(
    numbers: list[float | None], turns: list[int]
) -> None:
    assert turns_true(of_numbers(*numbers)) == turns


def test_numbers_are_drawn_between_their_least_and_their_greatest() -> None:
    [series] = series_of(of_numbers(None, 2, 4, 3))
    assert series == ("x 2..4", [None, 0.0, 1.0, 0.5])
    assert series_of(of_numbers(3, 3))[0].heights == [0.5, 0.5]
    assert series_of(of_numbers(None, 3)) == series_of(None) == []


@pytest.mark.parametrize("size", [(60, 20), (80, 24), (120, 40), (200, 60)], ids=str)
async def test_golden_screens(size: tuple[int, int], kept: Path) -> None:
    async with playing(kept, size=size, clock=FrozenClock()) as pilot:
        await evaluated(pilot, "len(items)", "room")
        await press(pilot, "escape", "2")
        check("watched", size, screen_text(pilot.app))


async def test_an_expression_is_added_and_changed_and_taken_away(record: Path) -> None:
    async with playing(record, size=(120, 40)) as pilot:
        await pilot.press("escape")
        await ask(pilot, "V", "len(items)")
        await evaluated(pilot, "len(items)")
        assert watches(RecordFile(record).read()) == ["len(items)"]
        await shows(pilot, "len(items) 0..1")
        await pilot.press("V")
        await opened(pilot, ChooseScreen)
        await pilot.press("g", "enter")
        assert (await asking(pilot))._text == "len(items)"
        await give(pilot, "len(items")
        await shows(pilot, "never closed")
        assert (await asking(pilot))._text == "len(items"
        await give(pilot, "number")
        screen = await evaluated(pilot, "number")
        await pilot.press("V")
        await opened(pilot, ChooseScreen)
        await pilot.press("g", "enter")
        await give(pilot, "")
        await idle(pilot)
        assert screen.panes.watches.found is None
        assert screen.query_one(Scrubber).size.height == 1
        assert "feedback" not in record.read_text()
        await press(pilot, "z")
        await evaluated(pilot, "number")


async def test_a_new_answer_adds_its_value(kept: Path) -> None:
    async with playing(kept, size=(120, 40)) as pilot:
        screen = await evaluated(pilot, "len(items)", "room")
        await press(pilot, *"up", "enter")
        await evaluated(pilot, "len(items)", "room")
        assert screen.panes.watches.found.steps[-1].values[0].text == "2"  # type: ignore[union-attr]


async def test_where_notes_are_refused_it_is_shown_and_not_kept(kept: Path) -> None:
    before = kept.read_bytes()
    async with playing(kept, size=(120, 40), audit=Audit("--read-only")) as pilot:
        screen = await evaluated(pilot, "len(items)", "room")
        await pilot.press("V")
        await opened(pilot, ChooseScreen)
        await pilot.press("enter")
        await give(pilot, "number")
        await evaluated(pilot, "len(items)", "room", "number")
        await shows(pilot, "locked: it is shown as long as this screen is open")
        await pilot.press("V")
        await opened(pilot, ChooseScreen)
        await pilot.press("g", "enter")
        await give(pilot, "")
        await shows(pilot, "locked; this would write: end of watching len(items)")
        await idle(pilot)
        assert screen.panes.watches.expressions == ["len(items)", "room", "number"]
    assert kept.read_bytes() == before


async def test_until_goes_to_the_next_step_at_which_it_turns_true(record: Path) -> None:
    async with playing(record, notifications=True) as pilot:
        await press(pilot, "escape", "0")
        await ask(pilot, "U", "len(items) == 1")
        screen = await settled(pilot)
        assert screen.state.step == 1
        await pilot.press("U")
        assert (await asking(pilot))._text == "len(items) == 1"
        await pilot.press("enter")
        assert (await settled(pilot)).state.step == 3
        await pilot.press("U")
        await asking(pilot)
        await pilot.press("enter")
        await shows(pilot, "turns true at no later step; from the start: 1")
        assert (await settled(pilot)).state.step == 1
        await ask(pilot, "U", "word == 'nobody'")
        await shows(pilot, "turns true at no step")
        assert (await settled(pilot)).state.step == 1


ENDLESS = """\
    class Clinging:
        def __bool__(self):
            while True:
                try:
                    while True: pass
                except BaseException: pass
    clinging = Clinging()
    input("a? ")
    input("b? ")
    """


async def test_an_endless_expression_is_stopped_by_escape_and_by_leaving(build: Build) -> None:
    async with playing(build.record(ENDLESS, "x")) as pilot:
        screen = await press(pilot, "escape")
        await ask(pilot, "U", "clinging")
        await shows(pilot, "Escape stops it")
        await pilot.press("escape")
        await idle(pilot)
        assert not screen.slow_work.running
        await ask(pilot, "V", "not clinging")
        await until(pilot, lambda: any(worker.group == "watch" for worker in screen.workers))
        await pilot.press("h")  # the screen goes on
        await until(pilot, lambda: screen.state.step == 0)


async def test_what_is_taken_away_while_it_is_evaluated_stays_away(
    record: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, goes_on = threading.Event(), threading.Event()

    def slowly(walk: StopWalk, expressions: list[str]) -> Watched:
        begun.set()
        assert goes_on.wait(60)
        return watched(walk, expressions)

    async with playing(record, size=(120, 40)) as pilot:
        monkeypatch.setattr(watching, "watched", slowly)
        screen = await press(pilot, "escape")
        await ask(pilot, "V", "len(items)")
        await until(pilot, begun.is_set)
        await pilot.press("z")
        await until(pilot, lambda: screen.panes.watches.expressions == [])
        goes_on.set()
        await idle(pilot)
        assert screen.panes.watches.found is None
        assert screen.query_one(Scrubber).size.height == 1
