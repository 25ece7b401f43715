"""The output on the screens as a terminal would show it: colours, progress bars, and raw on demand."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.color import Color
from rich.segment import Segment

from quizlog_tui.tui.app import QuizlogApp
from quizlog_tui.tui.clock import FrozenClock
from quizlog_tui.tui.screenshot import screen_text, take_frame
from quizlog_tui.tui.widgets.line_view import LineView
from tests.support.build import Build
from tests.support.screens import SIZE, check, playing, press, settled, shows

QUIZ = r"""
import sys
print("\033[1;31mred and bold\033[0m then plain")
for share in (10, 50, 100):
    sys.stdout.write(f"\r\033[K{share}% done")
print()
print("\033]0;owned\007\033[2J\033]8;;https://example.org\007link\033]8;;\007")
print("\033[38;2;22;22;30mhidden on dark\033[0m \033[8mconcealed\033[0m")
name = input("\033[32mYour name?\033[0m ")
print(f"Hello \033[4m{name}\033[24m.")
"""


@pytest.fixture
def record(build: Build) -> Path:
    folder = build.folder / "audit"
    folder.mkdir()
    return Build(folder, build.dedent).record(QUIZ)


def segment(app: QuizlogApp, words: str) -> Segment:
    """The drawn segment that begins with some words."""
    pane = app.screen.query_one("#output", LineView)
    found = [part for y in range(pane.size.height) for part in pane.render_line(y)]
    return next(part for part in found if part.text.startswith(words))


async def test_colours_and_styles_are_drawn_and_links_are_their_text(record: Path) -> None:
    app = QuizlogApp(record)
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        red = segment(app, "red and bold").style
        assert red is not None and red.bold
        assert red.color == Color.from_ansi(1)
        text = screen_text(app)
        assert "100% done" in text and "10% done" not in text and "50% done" not in text
        assert " link" in text and "owned" not in text and "example.org" not in text
        assert "concealed" in text
        assert not any("\x1b" in run.text for row in take_frame(app).rows for run in row)


async def test_text_in_the_colour_of_its_ground_can_be_read(record: Path) -> None:
    app = QuizlogApp(record)
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        style = segment(app, "hidden on dark").style
        assert style is not None and style.color is not None and style.bgcolor is not None
        ink, ground = (sum(each.get_truecolor()) for each in (style.color, style.bgcolor))
        assert abs(ink - ground) > 200


async def test_raw_shows_what_was_written(record: Path) -> None:
    async with playing(record, size=(100, 30)) as pilot:
        await press(pilot, "escape", "u")
        await shows(pilot, "␛[1;31mred and bold␛[0m")
        assert "10% done␍" in screen_text(pilot.app)
        await press(pilot, "u")
        assert "␛[1;31m" not in screen_text(pilot.app)


async def test_a_search_finds_what_is_shown(record: Path) -> None:
    async with playing(record, size=(100, 30)) as pilot:
        await press(pilot, "escape", "slash", *"bold then", "enter")
        await shows(pilot, "1 of 1")
        await press(pilot, "escape", "slash", *"1;31m", "enter")
        await shows(pilot, "not found")


async def test_golden_rendered_output(record: Path) -> None:
    async with playing(record, clock=FrozenClock()) as pilot:
        check("rendered", SIZE, screen_text(pilot.app))
