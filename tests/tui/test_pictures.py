"""A picture of every screen, colours and all, as SVG; for the Textual they were taken with."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from rich.style import Style

from quizlog_tui.episodes.build.store import store_episodes
from quizlog_tui.episodes.read.index import EpisodeFile
from quizlog_tui.session.session import Session
from quizlog_tui.solver.decisions.decision_file import decisions_path
from quizlog_tui.tui.app import QuizlogApp
from quizlog_tui.tui.clock import FrozenClock
from quizlog_tui.tui.draw.cast import moving_svg
from quizlog_tui.tui.draw.svg import frame_svg
from quizlog_tui.tui.draw.terminal_frame import Frame, Run
from quizlog_tui.tui.picture import picture
from quizlog_tui.tui.recording import KeyPress, film
from quizlog_tui.tui.screens.episodes import EpisodesScreen
from quizlog_tui.tui.screenshot import screen_svg
from quizlog_tui.webquiz.page.browser import executable
from tests.episodes.support import episode
from tests.support.build import Build
from tests.support.golden_pictures import compare
from tests.support.long_runs import few
from tests.support.screens import idle, opened, shows
from tests.webquiz.conftest import needs_browser

QUIZ = """
print("A = [[4, 6], [6, 13]]")
for i in range(3):
    if input(f"number {i}? ") == "bad":
        raise Exception("bad number")  #score = 0.3
print("done")
"""
SCREENS = {
    "player": (),
    "help": ("question_mark",),
    "tree": ("b",),
    "notes": ("F",),
    "remark": ("a",),
    "compare": ("c", "enter"),
    "sweep": ("s",),
    "consensus": ("d",),
    "themes": ("f2",),
    "export": ("x",),
    "error": ("i", "b", "a", "d", "enter"),
}


@pytest.fixture
def record(build: Build) -> Path:
    folder = build.folder / "audit"
    folder.mkdir()
    path = Build(folder, build.dedent).record(QUIZ, "1")
    with Session(path, clock=lambda: "2026-01-01T00:00:00+00:00") as session:
        session.fork(0, "bad", "other")
        session.switch("main")
        session.comment(0, "right enough", "right", "ann")
    decisions = Path(__file__).parent.parent / "data" / "three-models.decisions.jsonl"
    decisions_path(path).write_text(decisions.read_text(encoding="utf-8"), encoding="utf-8")
    return path


@pytest.mark.parametrize("screen", few(SCREENS, "compare", "consensus", "error"))
def test_a_picture_of_every_screen(screen: str, record: Path) -> None:
    keys = ("escape", *SCREENS[screen])
    compare(screen, picture(record, size=(100, 30), keys=keys).svg)


async def test_a_picture_of_the_library(record: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(record.parent)
    os.utime(record, (0, 0))
    app = QuizlogApp(clock=FrozenClock())
    async with app.run_test(size=(100, 30)) as pilot:
        await shows(pilot, "record.yaml")
        await idle(pilot)
        screen = app.screen
        screen.status("Records")  # the folder's name is another at each run
        await pilot.pause()
        compare("library", screen_svg(app))


async def test_a_picture_of_episodes(tmp_path: Path) -> None:
    path = tmp_path / "e.jsonl"
    runs = [("4", "end"), ("4", "end"), ("5", "bad"), ("4", "more", "x")]
    store_episodes(path, [episode(("4", "more", "end"), runs), episode(("4", "end"), [])])
    with path.open("a") as file:
        file.write("[1\n")
    app = QuizlogApp(episodes=EpisodeFile(path), clock=FrozenClock())
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot, EpisodesScreen)
        compare("episodes", screen_svg(app))


COLOURS = """([picture, width]) => new Promise(done => {
    const image = new Image();
    image.onload = () => {
        const canvas = document.createElement("canvas"), pen = canvas.getContext("2d");
        const height = canvas.height = Math.round(width * image.height / image.width);
        canvas.width = width;
        pen.drawImage(image, 0, 0, width, height);
        const data = pen.getImageData(width / 4, height / 2, width / 2, height / 3).data;
        const found = new Set();
        for (let at = 0; at < data.length; at += 4) found.add(data.slice(at, at + 3).join());
        done([...found]);
    };
    image.src = "data:image/svg+xml;base64," + btoa(picture);
})"""
"""The colours of the pixels in the middle of a picture that is drawn at a width."""


@pytest.mark.parametrize(
    ("theme", "ground"),
    [("quizlog-terminal-light", "#ffffff"), ("quizlog-terminal-dark", "#292929")],
)
def test_the_colours_of_the_terminal_are_those_the_theme_is_made_for(
    theme: str, ground: str, record: Path
) -> None:
    moving = moving_svg(film(record, [KeyPress("escape")], theme=theme))
    for drawn in (picture(record, theme=theme).svg, moving):
        (other,) = {"#ffffff", "#292929"} - {ground}
        assert f'fill="{ground}"' in drawn and f'fill="{other}"' not in drawn


@needs_browser()
async def test_a_ground_of_one_colour_has_no_lines_at_any_size() -> None:
    from playwright.async_api import async_playwright

    paper = Style(bgcolor="#fbfaf7")
    drawn = frame_svg(Frame(20, 9, ((Run(0, " " * 20, paper),),) * 9), "x")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=executable(), chromium_sandbox=False, timeout=240_000
        )
        try:
            page = await browser.new_page()
            for width in (196, 253, 311, 500):
                assert await page.evaluate(COLOURS, [drawn, width]) == ["251,250,247"]
        finally:
            await browser.close()
