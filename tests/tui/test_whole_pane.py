"""The focused pane as the whole screen, and back."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot

from quizlog_tui.tui.screenshot import screen_text
from quizlog_tui.tui.widgets.text_fields import TextLine
from tests.support.build import Build
from tests.support.screens import playing, press

QUIZ = """
first = input("First question? ")
second = input("Second question? ")
if second != "b":
    raise Exception("not b")  #score = 0.5
"""
SIZES = [(60, 20), (80, 24), (120, 40), (200, 60)]
every_size = pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")


@pytest.fixture
def record(build: Build) -> Path:
    return build.record(QUIZ, "a", "c")


def panes(pilot: Pilot[None]) -> list[str]:
    """The titles of the panes on the screen."""
    names = ("Output", "Answers", "Source", "Error", "Try again")
    text = screen_text(pilot.app)
    return [name for name in names if f"─ {name}" in text]


@every_size
@pytest.mark.parametrize(("key", "title"), [("1", "Output"), ("2", "Answers"), ("3", "Source")])
async def test_the_focused_pane_fills_the_screen_below_the_status(
    size: tuple[int, int], key: str, title: str, record: Path
) -> None:
    async with playing(record, size=size) as pilot:
        await press(pilot, "escape", key)
        before = screen_text(pilot.app)
        screen = await press(pilot, "f10")
        assert panes(pilot) == [title]
        assert screen.focused is not None
        assert screen.focused.region.size.height == size[1] - 2
        assert screen.focused.region.size.width == size[0]
        assert "error, score 0.5" in screen_text(pilot.app).splitlines()[0]
        await press(pilot, "f10")
        assert screen_text(pilot.app) == before


async def test_escape_gives_the_others_their_places_back(record: Path) -> None:
    async with playing(record) as pilot:
        await press(pilot, "escape", "1", "f10", "escape")
        assert len(panes(pilot)) > 1


async def test_another_pane_that_is_focused_fills_the_screen_then(record: Path) -> None:
    async with playing(record) as pilot:
        await press(pilot, "escape", "1", "f10", "2")
        assert panes(pilot) == ["Answers"]
        await press(pilot, "h")
        assert "step 1 of 2" in screen_text(pilot.app)


async def test_the_question_is_given_its_place_back_where_it_is_to_be_answered(
    record: Path,
) -> None:
    async with playing(record) as pilot:
        screen = await press(pilot, "escape", "1", "f10", "i")
        assert isinstance(screen.focused, TextLine)
        assert "Try again" in panes(pilot)
        await press(pilot, "f10")
        assert panes(pilot) == ["Try again"]
        await press(pilot, *"b", "enter")
        assert screen.session.record.inputs == ["a", "b"]


async def test_other_screens_have_it_too(record: Path) -> None:
    async with playing(record) as pilot:
        await pilot.press("escape", "b")
        await pilot.pause()
        before = screen_text(pilot.app)
        await pilot.press("f10")
        await pilot.pause()
        assert screen_text(pilot.app).count("╭") == 1 < before.count("╭")
