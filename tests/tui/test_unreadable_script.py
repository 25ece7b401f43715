"""A record whose script is gone opens as what it holds; nothing is run and nothing is written."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

import quizlog_tui as quizlog
from quizlog_tui.errors import ScriptError
from quizlog_tui.session.session import Session
from quizlog_tui.tui.app import QuizlogApp
from quizlog_tui.tui.clock import FrozenClock
from quizlog_tui.tui.picture import picture
from quizlog_tui.tui.screens.library import LibraryScreen
from quizlog_tui.tui.screens.tree import TreeScreen
from quizlog_tui.tui.screenshot import screen_text
from tests.support.build import Build
from tests.support.long_runs import few
from tests.support.player_quizzes import QUIZ
from tests.support.screens import check, idle, opened, playing, press, settled, shows, sized

MISSING = "quiz.py: the script does not exist"


@pytest.fixture
def record(build: Build) -> Path:
    """A record with an error, a branch, and no script any more."""
    folder = build.folder / "audit"
    folder.mkdir()
    path = Build(folder, build.dedent).record(QUIZ)
    with quizlog.open(path) as session:
        for answer in ("Ada", "28", "1"):
            session.answer(answer)
        session.fork(1, "27", "other")
        session.switch("main")
    (folder / "quiz.py").rename(folder / "kept.py")
    return path


def as_folder(script: Path) -> None:
    script.mkdir()


def as_pipe(script: Path) -> None:
    os.mkfifo(script)


def unreadable(script: Path) -> None:
    if not os.geteuid():
        pytest.skip("root reads every file")
    script.write_text("input()\n")
    script.chmod(0)


@sized()
async def test_golden_record_without_its_script(record: Path, size: tuple[int, int]) -> None:
    async with playing(record, clock=FrozenClock(), size=size) as pilot:
        await idle(pilot)
        check("recorded", size, screen_text(pilot.app))


async def test_one_steps_through_what_is_recorded(record: Path) -> None:
    before = record.read_bytes()
    async with playing(record, size=(100, 30)) as pilot:
        screen = await settled(pilot)
        await shows(pilot, "as recorded, not run · ✗ error, score 0.5")
        await shows(pilot, f"Nothing can be run. {MISSING}.")
        await shows(pilot, "8 * 2 is not 1")
        await press(pilot, "h", "h")
        await shows(pilot, "What is 7 * 4?")
        assert list(screen.state.shown.print) == ["Welcome to a short quiz.", "Hello Ada."]
        await pilot.press("b")
        await shows(pilot, "2 branches of record.yaml")
        await pilot.press("j")
        await shows(pilot, "27")
        await pilot.press("escape")
        await settled(pilot)
    assert record.read_bytes() == before


@pytest.mark.parametrize("key", few(["i", "f", "A", "s", "m", "E", "a", "e", "r", "B"]))
async def test_moves_that_need_the_script_are_refused_in_one_line(key: str, record: Path) -> None:
    before = record.read_bytes()
    async with playing(record, size=(100, 30)) as pilot:
        await press(pilot, "0", key)
        await shows(pilot, "the script does not exist (put it back, or edit `script:` in")
        await settled(pilot)
    assert record.read_bytes() == before
    assert sorted(path.name for path in record.parent.iterdir()) == ["kept.py", "record.yaml"]


async def test_once_the_script_is_back_the_record_is_run_again(record: Path) -> None:
    async with playing(record, size=(120, 40)) as pilot:
        (record.parent / "kept.py").rename(record.parent / "quiz.py")
        screen = await press(pilot, "R")
        assert screen.session.missing is None
        await shows(pilot, "Try again at step 2")
        await shows(pilot, "import random")
        await press(pilot, "i", *"16", "enter")
        assert screen.session.pointer == 3 and screen.session.transcript.status == "in_progress"


async def test_a_record_may_name_another_script_before_it_is_read_again(record: Path) -> None:
    async with playing(record, size=(100, 30)) as pilot:
        record.write_text(record.read_text().replace('"quiz.py"', '"kept.py"'))
        screen = await press(pilot, "R")
        assert screen.session.source.path.name == "kept.py"


@pytest.mark.parametrize("spoil", [as_folder, as_pipe, unreadable])
def test_whatever_stands_in_the_scripts_place(spoil: Callable[[Path], None], record: Path) -> None:
    spoil(record.parent / "quiz.py")
    with pytest.raises(ScriptError, match=r"quiz.py: .*\(put it back, or edit `script:` in"):
        Session(record)
    shown = picture(record, size=(100, 30)).text
    assert "Nothing can be run. " in shown and "8 * 2 is not 1" in shown


async def test_it_opens_from_the_library_and_a_long_one_too(
    record: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for long in (1 << 20, 0):
        monkeypatch.setattr("quizlog_tui.tui.app._LONG", long)
        app = QuizlogApp(record.parent)
        async with app.run_test(size=(100, 30)) as pilot:
            await opened(pilot, LibraryScreen)
            await shows(pilot, "record.yaml")
            await pilot.press("enter")
            await shows(pilot, "as recorded, not run")


async def test_the_tree_asks_nothing_that_it_would_refuse(record: Path) -> None:
    async with playing(record, size=(100, 30), notifications=True) as pilot:
        await pilot.press("b")
        tree = await opened(pilot, TreeScreen)
        for key in "fra":
            await pilot.press(key)
            await shows(pilot, MISSING)
            assert pilot.app.screen is tree
            pilot.app.clear_notifications()
            await idle(pilot)
            assert MISSING not in screen_text(pilot.app)
