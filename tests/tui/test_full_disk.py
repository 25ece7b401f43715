"""A full disk: every screen that writes says so, leaves the files as they were, and goes on."""

from __future__ import annotations

import errno
import os
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
import yaml
from textual.pilot import Pilot

from quizlog_tui.config import Config
from quizlog_tui.tui.app import QuizlogApp
from quizlog_tui.tui.player.player import PlayerScreen
from quizlog_tui.tui.screens.notes import RemarkScreen
from quizlog_tui.tui.screens.sweep import SweepScreen
from quizlog_tui.tui.screens.tree import TreeScreen
from tests.support.build import Build
from tests.support.long_runs import few
from tests.support.screens import ask, asking, opened, press, settled, shows

QUIZ = "for n in range(4):\n    input(f'number {n}? ')\n"
Pilots = Pilot[None]


async def rewind(pilot: Pilots) -> None:
    await press(pilot, "h", "r")


async def undo(pilot: Pilots) -> None:
    await press(pilot, "z")


async def fork(pilot: Pilots) -> None:
    await press(pilot, "h", "f", "x", "enter")


async def note(pilot: Pilots) -> None:
    await pilot.press("a")
    await opened(pilot, RemarkScreen)
    await pilot.press(*"hm", "f5")


async def keep(pilot: Pilots) -> None:
    await pilot.press("s")
    screen = await opened(pilot, SweepScreen)
    await pilot.press("x", "f5")
    while screen.focused is None or screen.focused.id != "attempts":
        await pilot.pause()
    await pilot.press("f")
    await asking(pilot)
    await pilot.press("enter")


async def rename(pilot: Pilots) -> None:
    await pilot.press("b")
    await opened(pilot, TreeScreen)
    await ask(pilot, "r", "other")


async def export(pilot: Pilots) -> None:
    await pilot.press("x", "enter")
    await asking(pilot)
    await pilot.press("enter")


async def report(pilot: Pilots) -> None:
    await pilot.press("x", "j", "j", "enter")
    await asking(pilot)
    await pilot.press("enter")


async def episode(pilot: Pilots) -> None:
    await pilot.press("E")
    await asking(pilot)
    await pilot.press("enter")


WRITES: list[Callable[[Pilots], Awaitable[None]]] = [
    rewind, undo, fork, note, keep, rename, export, report, episode,
]  # fmt: skip


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def full(*_: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize(
    "write", few(WRITES, rewind, note, export), ids=lambda write: write.__name__
)
async def test_a_full_disk_is_told_and_the_screens_go_on(
    write: Callable[[Pilots], Awaitable[None]], build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = build.folder / "audit"  # short enough for a note of one line
    folder.mkdir()
    monkeypatch.chdir(folder)
    record = Path(Build(folder, build.dedent).record(QUIZ, "1", "2").name)
    app = QuizlogApp(record, Config(author="ann"))
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        await settled(pilot)
        await press(pilot, "3", "enter")
        await press(pilot, "escape")
        before = files(folder)
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", full)
            await write(pilot)
            await shows(pilot, "cannot write: No space left")
        assert files(folder) == before and app.faults == []
        while not isinstance(app.screen, PlayerScreen):
            await pilot.press("escape")
            await pilot.pause()
        await settled(pilot)
        await press(pilot, "escape", "dollar_sign", "i", "ctrl+u", "4", "enter")
        assert yaml.safe_load(record.read_text())["inputs"][:4] == ["1", "2", "3", "4"]


async def test_an_error_of_the_system_that_nobody_expected_is_told(build: Build) -> None:
    app = QuizlogApp(build.record(QUIZ, "1"))
    async with app.run_test(notifications=True) as pilot:
        screen = await settled(pilot)
        screen.run_worker(screen.slow_work.run(full))
        await shows(pilot, "No space left on device")
        assert app.screen is screen and app.faults == []
