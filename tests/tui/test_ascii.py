"""Terminals that show only ASCII, or nothing but lines: the screens are drawn so, or say so."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

import quizlog_tui.tui
from quizlog_tui.text import visible
from quizlog_tui.tui.app import QuizlogApp
from quizlog_tui.tui.clock import FrozenClock
from quizlog_tui.tui.line_filters import to_ascii
from quizlog_tui.tui.screenshot import screen_text
from tests.support.build import Build
from tests.support.screens import settled
from tests.support.terminal import Terminal, quizlog

ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
QUIZ = "input('Größe 日本? ')\ninput('more? ')\n"


@given(st.characters())
def test_stand_ins_are_ascii_and_as_wide(sign: str) -> None:
    for shown in visible(sign).replace("\n", "").replace("\t", ""):
        assert to_ascii(shown).isascii() and len(to_ascii(shown)) == cell_len(shown)


def test_every_sign_that_the_screens_draw_has_a_stand_in() -> None:
    package = Path(quizlog_tui.tui.__file__).parent
    drawn = {sign for path in package.rglob("*.py") for sign in path.read_text("utf-8")}
    assert not {sign for sign in drawn if not sign.isascii() and to_ascii(sign) == "?"}


async def test_a_screen_is_drawn_in_ascii_cell_for_cell(build: Build) -> None:
    record, shown = build.record(QUIZ, "1"), []
    for in_ascii in (False, True):
        app = QuizlogApp(record, clock=FrozenClock())
        app.in_ascii = in_ascii
        async with app.run_test(size=(80, 24)) as pilot:
            await settled(pilot)
            shown.append(screen_text(app))
    assert shown[1] == to_ascii(shown[0])
    assert "+- Output ---" in shown[1] and "| Gr??e ????? 1 " in shown[1]


def test_a_terminal_of_an_ascii_locale_gets_ascii(build: Build) -> None:
    record = build.record(QUIZ, "1")
    with Terminal(quizlog("tui", str(record)), (80, 24), env=ASCII) as terminal:
        terminal.wait_for("more? ")
        terminal.quiet(0.3)
        terminal.send("\x11")
        assert terminal.end() == 0
        assert bytes(terminal.seen).isascii() and b"\\u" not in terminal.seen
        assert b"-----" in terminal.seen and b"Output" in terminal.seen


def test_so_does_a_screenshot(build: Build) -> None:
    command = quizlog("screenshot", str(build.record(QUIZ, "1")))
    done = subprocess.run(command, capture_output=True, env=os.environ | ASCII, check=True)
    assert done.stdout.isascii() and b"+- Output ---" in done.stdout
    assert {len(row) for row in done.stdout.splitlines()[1:20]} == {80}


@pytest.mark.parametrize("words", [("tui",), ("demo",)])
def test_a_dumb_terminal_gets_a_hint(words: tuple[str, ...]) -> None:
    with Terminal(quizlog(*words), env={"TERM": "dumb"}) as terminal:
        assert terminal.end() == 2
        assert b"cannot show the screens: TERM is dumb (use `quizlog RECORD" in terminal.seen
        assert b"\x1b" not in terminal.seen
