"""Every text can be read in every theme, by the colours drawn, and on terminals of ASCII only."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.color import BLACK, WHITE, Color

import quizlog_tui.tui
from quizlog_tui.files.paths import decisions_path
from quizlog_tui.session.session import Session
from quizlog_tui.text import visible
from quizlog_tui.tui.app import QuizlogApp
from quizlog_tui.tui.clock import FrozenClock
from quizlog_tui.tui.screenshot import Run, screen_text, take_frame
from quizlog_tui.tui.theming import contrast, readable, to_ascii
from tests.support.build import Build
from tests.support.long_runs import few
from tests.support.screens import idle, settled, shows
from tests.support.terminal import Terminal, quizlog

QUIZ = """
import sys
print("\\033[38;2;120;120;120mgrey\\033[0m \\033[33myellow\\033[0m \\033[30;44mon blue\\033[0m")
print("warned", file=sys.stderr)
print("| a table | of |\\n" * 3)
for i in range(3):
    if input(f"number {i}? ") == "bad":
        raise Exception("bad number")  #score = 0.3
"""
PLAYER = {
    "player": (),
    "typing": ("i", "4", "2"),
    "placeholder": ("i",),
    "error": ("b", "j", "enter", "y"),
    "help": ("question_mark",),
    "guides": ("question_mark", "o"),
    "guide": ("question_mark", "o", "enter"),
    "tree": ("b",),
    "confirm": ("b", "j", "d"),
    "notes": ("F",),
    "note": ("a",),
    "compare": ("c", "enter"),
    "sweep": ("s",),
    "swept": ("s", "4", "enter", *"bad", "f5"),
    "swept, in its box": ("s", "4", "enter", *"bad", "f5", "i"),
    "consensus": ("d",),
    "themes": ("f2",),
    "export": ("x",),
    "palette": ("colon",),
    "palette, typed": ("colon", "b", "r"),
    "find": ("ctrl+f", *"bad"),
    "find, marked": ("ctrl+f", *"bad", "enter"),
    "hits": ("slash", *"number", "enter"),
    "search": ("slash", "n"),
    "filter": ("slash", *"number", "enter", "ampersand"),
    "messages": ("n", "M"),
    "message": ("n",),
    "jump": ("number_sign",),
    "answers": ("2",),
    "source": ("S", "3"),
    "answer": ("4",),
    "laid out": ("p",),
    "difference": ("equals_sign", "enter"),
    "models": ("m",),
}
"""The keys that show each screen from the player."""


@pytest.fixture
def record(build: Build) -> Path:
    path = build.record(QUIZ, "1")
    with Session(path) as session:
        session.fork(0, "bad", "other")
        session.switch("main")
        session.comment(0, "right enough", "right", "ann")
        session.comment(1, "unsure", "wrong", "ann")
    decisions = Path(__file__).parent.parent / "data" / "three-models.decisions.jsonl"
    decisions_path(path).write_text(decisions.read_text(encoding="utf-8"), encoding="utf-8")
    return path


def too_weak(run: Run, least: float) -> bool:
    """Whether a text has too little contrast; what has lines and blocks only is no text."""
    if all(char.isspace() or "\u2500" <= char <= "\u259f" for char in run.text):
        return False
    ink, ground = run.style.color, run.style.bgcolor
    assert ink is not None and ground is not None and not run.style.dim
    shown, under = (Color(*each.get_truecolor()) for each in (ink, ground))
    best = max(contrast(under, BLACK), contrast(under, WHITE))  # less than 7 on what is half dark
    return contrast(shown, under) < min(least, best)


def weak(app: QuizlogApp) -> Iterator[str]:
    least = 7 if "contrast" in app.theme else 4.5
    for row in take_frame(app).rows:
        yield from (run.text.strip() for run in row if too_weak(run, least))


async def measure(app: QuizlogApp, pilot: object) -> None:
    """Look at the screen in each theme whose colours are ours."""
    themes = [name for name, theme in app.available_themes.items() if not theme.ansi]
    assert len(themes) > 20
    found = {}
    for app.theme in themes:
        await idle(pilot)  # type: ignore[arg-type]
        found[app.theme] = list(weak(app))
    assert not {name: texts for name, texts in found.items() if texts}


@pytest.mark.parametrize("screen", few(PLAYER, "sweep", "error", "palette"))
async def test_every_text_can_be_read(screen: str, record: Path) -> None:
    app = QuizlogApp(record, guided=True)
    async with app.run_test(size=(110, 36)) as pilot:
        await settled(pilot)
        app._load_themes()
        await pilot.press("escape")
        for key in PLAYER[screen]:
            await pilot.press(key)
            await idle(pilot)
        await measure(app, pilot)


async def test_every_text_of_the_library_can_be_read(
    record: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(record.parent)
    app = QuizlogApp()
    async with app.run_test(size=(110, 30)) as pilot:
        await shows(pilot, "record.yaml")
        app._load_themes()
        await measure(app, pilot)


COLOURS = st.builds(Color, *[st.integers(0, 255)] * 3)


@given(COLOURS, COLOURS)
def test_any_colour_is_made_readable_and_no_more(ink: Color, ground: Color) -> None:
    found = readable(ink, ground, 4.5)
    assert contrast(found, ground) >= 4.5
    assert found == ink or contrast(ink, ground) < 4.5


ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
ASCII_QUIZ = "input('Größe 日本? ')\ninput('more? ')\n"


@given(st.characters())
def test_stand_ins_are_ascii_and_as_wide(sign: str) -> None:
    for shown in visible(sign).replace("\n", "").replace("\t", ""):
        assert to_ascii(shown).isascii() and len(to_ascii(shown)) == cell_len(shown)


def test_every_sign_that_the_screens_draw_has_a_stand_in() -> None:
    package = Path(quizlog_tui.tui.__file__).parent
    drawn = {sign for path in package.rglob("*.py") for sign in path.read_text("utf-8")}
    assert not {sign for sign in drawn if not sign.isascii() and to_ascii(sign) == "?"}


async def test_a_screen_is_drawn_in_ascii_cell_for_cell(build: Build) -> None:
    record, shown = build.record(ASCII_QUIZ, "1"), []
    for in_ascii in (False, True):
        app = QuizlogApp(record, clock=FrozenClock())
        app.in_ascii = in_ascii
        async with app.run_test(size=(80, 24)) as pilot:
            await settled(pilot)
            shown.append(screen_text(app))
    assert shown[1] == to_ascii(shown[0])
    assert "+- Output ---" in shown[1] and "| Gr??e ????? 1 " in shown[1]


def test_a_terminal_of_an_ascii_locale_gets_ascii(build: Build) -> None:
    record = build.record(ASCII_QUIZ, "1")
    with Terminal(quizlog("tui", str(record)), (80, 24), env=ASCII) as terminal:
        terminal.wait_for("more? ")
        terminal.quiet(0.3)
        terminal.send("\x11")
        assert terminal.end() == 0
        assert bytes(terminal.seen).isascii() and b"\\u" not in terminal.seen
        assert b"-----" in terminal.seen and b"Output" in terminal.seen


def test_so_does_a_screenshot(build: Build) -> None:
    command = quizlog("screenshot", str(build.record(ASCII_QUIZ, "1")))
    done = subprocess.run(command, capture_output=True, env=os.environ | ASCII, check=True)
    assert done.stdout.isascii() and b"+- Output ---" in done.stdout
    assert {len(row) for row in done.stdout.splitlines()[1:20]} == {80}


@pytest.mark.parametrize("words", [("tui",), ("demo",)])
def test_a_dumb_terminal_gets_a_hint(words: tuple[str, ...]) -> None:
    with Terminal(quizlog(*words), env={"TERM": "dumb"}) as terminal:
        assert terminal.end() == 2
        assert b"cannot show the screens: TERM is dumb (use `quizlog RECORD" in terminal.seen
        assert b"\x1b" not in terminal.seen
