"""The player holds its record: programs that answer it wait, and one sees who."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from quizlog_tui.record.hold import join
from quizlog_tui.session.audit import Audit
from quizlog_tui.session.session import Session
from tests.support.build import Build
from tests.support.screens import playing, press, screen_text, shows

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs abstract socket names")
QUIZ = """
    for name in "abc":
        print("got", input(name + "? "))
"""


@pytest.fixture
def path(build: Build) -> Path:
    return build.record(QUIZ, "1")


async def test_a_record_is_held_and_given_back(path: Path) -> None:
    async with playing(path, notifications=True) as pilot:
        assert join(path, "agent") is None
        await press(pilot, "escape", "I")
        await shows(pilot, "held: programs that answer this record wait; I gives it back")
        waiting = join(path, "claude-code 2.1")
        assert waiting is not None
        with waiting:
            await shows(pilot, "held, claude-code 2.1 waits · ● waiting · step 1 of 1")
            await press(pilot, "i", "2", "enter")
            await shows(pilot, "held, claude-code 2.1 waits · ● waiting · step 2 of 2")
            await press(pilot, "escape", "I")
            await shows(pilot, "given back: programs go on")
            assert waiting.recv(1) == b""
        assert screen_text(pilot.app).lstrip().startswith("● waiting")
    with Session(path) as after:
        assert list(after.record.inputs) == ["1", "2"]


async def test_a_hold_ends_with_the_screen(path: Path) -> None:
    async with playing(path) as pilot:
        await press(pilot, "ctrl+o")  # while one types
        await shows(pilot, "held")
    assert join(path, "agent") is None


async def test_what_another_screen_holds_is_not_held_again(path: Path) -> None:
    async with playing(path) as pilot, playing(path, notifications=True) as other:
        await press(pilot, "escape", "I")
        await press(other, "escape", "I")
        await shows(other, "is held already")


async def test_audit_mode_holds_nothing(path: Path) -> None:
    async with playing(path, audit=Audit("--read-only"), notifications=True) as pilot:
        await press(pilot, "escape", "I")
        await shows(pilot, "a hold")
        assert join(path, "agent") is None
