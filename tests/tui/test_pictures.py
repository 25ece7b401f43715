"""A picture of every screen, colours and all, as SVG, and films; for the Textual they were taken with.

Frames of a terminal for tests, and what a terminal shows of an asciicast.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from importlib.metadata import version
from pathlib import Path
from xml.etree import ElementTree

import pytest
from rich.cells import cell_len, set_cell_size
from rich.style import Style

import quizlog_tui
from quizlog_tui.cli import main
from quizlog_tui.episodes.build.make import store_episodes
from quizlog_tui.episodes.read.index import EpisodeFile
from quizlog_tui.files.paths import decisions_path, shipped
from quizlog_tui.session.session import Session
from quizlog_tui.tui.app import QuizlogApp
from quizlog_tui.tui.clock import FrozenClock
from quizlog_tui.tui.picture import KeyPress, film, picture
from quizlog_tui.tui.screens.episodes import EpisodesScreen
from quizlog_tui.tui.screenshot import (
    Film,
    Frame,
    Run,
    asciicast,
    frame_svg,
    moving_svg,
    screen_svg,
)
from quizlog_tui.webquiz.page.browser import executable
from tests.episodes.support import episode
from tests.support.build import Build
from tests.support.documents import DOCUMENTS
from tests.support.golden_pictures import TAKEN_WITH, compare
from tests.support.guide_pictures import FILM, SHOTS, make
from tests.support.long_runs import few
from tests.support.screens import idle, opened, shows
from tests.webquiz.conftest import needs_browser


def frame(*rows: str) -> Frame:
    width = max(map(cell_len, rows))
    return Frame(width, len(rows), tuple((Run(0, row, Style.null()),) for row in rows))


def on_terminal(data: str, width: int, height: int) -> str:
    """The text on a terminal that is told rows from their first column on."""
    rows = [""] * height
    for number, text in re.findall(r"\x1b\[(\d+);1H(.*?)(?=\x1b\[\d+;1H|\Z)", data, re.S):
        rows[int(number) - 1] = re.sub(r"\x1b\[[^a-zA-Z]*[a-zA-Z]", "", text)
    return "".join(f"{set_cell_size(row, width).rstrip()}\n" for row in rows)


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


PICTURES = Path(quizlog_tui.__file__).parent / "guides" / "pictures"
ASKS = "#quizlog: real-files\nprint(input('a? '))\ninput('b? ')\n"
LONG_QUIZ = "for name in 'abc':\n    print('seen', input(f'{name}? '))\n"


@pytest.mark.parametrize("name", few([*SHOTS, FILM]))
def test_a_picture_of_the_guides_is_as_the_screens_are(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Make them anew: python -m tests.support.guide_pictures quizlog_tui/guides/pictures."""
    if TAKEN_WITH.read_text().strip() != version("textual"):
        pytest.skip("the pictures were taken with another Textual")
    pytest.importorskip("numpy")
    shutil.copytree(shipped("records"), tmp_path / "records")
    monkeypatch.chdir(tmp_path / "records")
    assert make(name) == (PICTURES / f"{name}.svg").read_text(encoding="utf-8")


def test_every_picture_is_shown_somewhere() -> None:
    texts = "".join(path.read_text(encoding="utf-8") for path in DOCUMENTS.values())
    shown = set(re.findall(r"pictures/(\w+)\.svg\)", texts))
    assert shown == {*SHOTS, FILM} == {path.stem for path in PICTURES.glob("*.svg")}


def test_a_film_has_the_same_bytes_each_time(build: Build) -> None:
    record = build.record(LONG_QUIZ, "1", "2", "3")
    before = record.read_bytes()
    one, two = (film(record, [KeyPress("escape"), KeyPress("h")], size=(60, 20)) for _ in "12")
    assert asciicast(one) == asciicast(two) and moving_svg(one) == moving_svg(two)
    assert record.read_bytes() == before


def test_a_cast_ends_on_the_screen_that_a_picture_shows(
    build: Build, capsys: pytest.CaptureFixture[str]
) -> None:
    record, keys = build.record(LONG_QUIZ, "1", "2"), build.folder / "keys"
    keys.write_text("# one back\nescape 0\nh 0.5\n\nl\n", encoding="utf-8")
    target = build.folder / "a.cast"
    call = ["cast", str(record), "-o", str(target), "--keys", str(keys), "--size", "60x20"]
    assert main(call) == 0
    head, *events = map(json.loads, target.read_text(encoding="utf-8").splitlines())
    assert (head["version"], head["width"], head["height"]) == (2, 60, 20)
    assert [time for time, _, _ in events] == [0, 1, 1.5, 2.5]
    capsys.readouterr()
    assert main(["screenshot", str(record), "--keys", "escape,h,l", "--size", "60x20"]) == 0
    shown = on_terminal("".join(data for _, _, data in events), 60, 20)
    assert shown == capsys.readouterr().out


def test_rows_of_a_moving_picture_are_seen_when_the_film_shows_them() -> None:
    film = Film("t", [(frame("a", "b"), 1), (frame("a", "c"), 2), (frame("a", "b"), 1)])
    svg = moving_svg(film)
    ElementTree.fromstring(svg)
    assert svg.count('class="m ') == 2 and "<script" not in svg and "http" not in svg[40:]
    steps = "0%{visibility:visible}25%{visibility:hidden}75%{visibility:visible}"
    assert f"{{{steps}}}" in svg
    assert "{0%{visibility:hidden}25%{visibility:visible}75%{visibility:hidden}}" in svg


def test_an_asciicast_tells_only_rows_that_change() -> None:
    film = Film("t", [(frame("a", "b"), 1), (frame("a", "c"), 1)])
    events = [json.loads(line) for line in asciicast(film).splitlines()[1:]]
    assert events[1][2].count("H") == 1 and "c" in events[1][2]


def test_every_character_of_a_picture_has_its_own_column() -> None:
    root = ElementTree.fromstring(frame_svg(frame("ab c", "─日x"), "t"))
    texts = {text.text: text.get("x") for text in root.iter("{http://www.w3.org/2000/svg}text")}
    assert texts["abc"] == "0 9 27" and texts["日x"] == "9 27"


def test_thirty_seconds_are_below_a_megabyte(build: Build) -> None:
    script = "for n in range(30):\n    print('x' * 90)\n    input(f'question {n}? ')\n"
    target = build.folder / "long.svg"
    assert main(["cast", str(build.record(script, *"1" * 28)), "-o", str(target)]) == 0
    assert target.stat().st_size < 1_000_000


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-o", "a.gif"], "a.gif: is neither .cast nor .svg"),
        (["-o", "a.svg", "--size", "wide"], "'wide' is not a size"),
        (["-o", "a.svg", "--keys", "gone"], "gone: cannot read"),
        (["-o", "a.svg", "--keys", "bad"], "bad:2: is not a key press"),
        (
            ["-o", "a.svg", "--keys", "misspelt"],
            "misspelt:1: there is no key 'entre' (did you mean enter?)",
        ),
    ],
)
def test_a_wrong_film_is_refused(
    words: list[str],
    said: str,
    build: Build,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(build.folder)
    (build.folder / "bad").write_text("h\nl soon\n", encoding="utf-8")
    (build.folder / "misspelt").write_text("entre 2\n", encoding="utf-8")
    assert main(["cast", str(build.record(LONG_QUIZ, "1")), *words]) == 2
    assert said in capsys.readouterr().err


def test_a_picture_asks_for_no_grant(build: Build) -> None:
    record = build.record(ASKS, "x")
    for words in (["cast", "-o", "c.cast"], ["screenshot", "-o", "s.txt"]):
        target = str(build.folder / words[2])
        assert main([words[0], str(record), "-o", target]) == 0
        assert "run it without" not in Path(target).read_text()
