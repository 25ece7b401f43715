"""The whole program on a real terminal: start, look, answer, fork, resize, end in every way."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

from quizlog_tui.proof.bundle.pack import pack
from quizlog_tui.session.session import Session
from quizlog_tui.tui.app import QuizlogApp
from tests.support.build import Build
from tests.support.screens import settled, shows
from tests.support.terminal import Terminal, quizlog

QUIZ = """
for i in range(3):
    print("round", i)
    if input(f"number {i}? ") == "bad":
        raise Exception("bad number")  #score = 0.3
"""
LEAVE_SCREEN = b"\x1b[?1049l"
SHOW_CURSOR = b"\x1b[?25h"
NO_MOUSE = b"\x1b[?1003l"


@pytest.fixture
def record(build: Build) -> Path:
    return build.record(QUIZ, "1")


@pytest.fixture
def terminal(record: Path) -> Iterator[Terminal]:
    with waiting(record) as one:
        yield one


@contextmanager
def waiting(record: Path, **env: str) -> Iterator[Terminal]:
    """The record in a terminal, in its folder, when it waits for the second answer."""
    with Terminal(quizlog("tui", record.name), (100, 30), record.parent, env) as one:
        one.wait_for("number 1?")
        one.rest()
        yield one


def press(terminal: Terminal, key: str) -> None:
    """Press a key of the screen, not of the input."""
    terminal.send("\x1b")
    terminal.rest()
    terminal.send(key)


def quit_and_check(terminal: Terminal) -> None:
    terminal.send("\x11")
    assert ended(terminal) == 0


def ended(terminal: Terminal) -> int:
    """Read to the end; the exit code. The terminal must be as it was before."""
    code = terminal.end()
    for sequence in (LEAVE_SCREEN, SHOW_CURSOR, NO_MOUSE):
        assert sequence in terminal.seen
    assert terminal.settings == terminal.before
    assert b"Traceback" not in terminal.seen
    return code


def test_answer_fork_and_quit(terminal: Terminal, record: Path) -> None:
    terminal.send("bad\r")
    terminal.wait_for("bad number")
    press(terminal, "0f")
    terminal.wait_for("Fork at step 0")
    terminal.send("\x157\r")  # Ctrl-U: in place of the recorded answer
    terminal.wait_for("fork-1")
    press(terminal, "q")
    assert ended(terminal) == 0
    data = yaml.safe_load(record.read_text())
    assert data["inputs"] == ["7"] and data["branches"]["main"]["inputs"] == ["1", "bad"]


def refused_answer(terminal: Terminal) -> None:
    """Try to answer in audit mode, and leave."""
    terminal.wait_for("[locked]")
    terminal.rest()
    terminal.send("i9\r")
    terminal.wait_for("this would")
    quit_and_check(terminal)


def test_read_only_locks_the_screens(record: Path) -> None:
    before = record.read_bytes()
    with Terminal(quizlog("tui", str(record), "--read-only"), (120, 30)) as terminal:
        refused_answer(terminal)
    assert record.read_bytes() == before


def test_the_settings_can_lock_the_screens(record: Path, build: Build) -> None:
    folder = build.outside / "quizlog"
    folder.mkdir()
    (folder / "config.toml").write_text("audit = true\n")
    home = {"XDG_CONFIG_HOME": str(build.outside)}
    with Terminal(quizlog("tui", str(record)), (120, 30), env=home) as terminal:
        refused_answer(terminal)


def test_a_bundle_opens_locked(record: Path, build: Build) -> None:
    with Session(record) as session:
        session.save()
    bundle = build.outside / "quiz.zip"
    bundle.write_bytes(pack(record).data)
    before = bundle.read_bytes()
    with Terminal(quizlog("tui", str(bundle)), (120, 30)) as terminal:
        refused_answer(terminal)
    assert bundle.read_bytes() == before


def test_resizing_while_it_runs(terminal: Terminal) -> None:
    for size in ((60, 20), (20, 8), (160, 50), (100, 30)):
        terminal.resize(*size)
        terminal.process.send_signal(signal.SIGWINCH)
        terminal.rest()
    terminal.send("9\r")
    terminal.wait_for("number 2?")
    quit_and_check(terminal)


@pytest.mark.parametrize(
    ("editor", "told"),
    [
        ("/nowhere/editor", "there is no program"),
        ("./editor", "there is no program"),
        ("'vi", "no closing quotation"),
    ],
)
async def test_an_editor_that_cannot_start_is_told(
    editor: str, told: str, record: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VISUAL", editor)
    async with QuizlogApp(record).run_test() as pilot:
        await settled(pilot)
        await pilot.press("escape", "e")
        await shows(pilot, told)


def test_an_editor_that_cannot_start_leaves_the_screens(record: Path) -> None:
    with waiting(record, VISUAL="/nowhere/editor") as terminal:
        press(terminal, "e")
        terminal.wait_for("there is no program")
        terminal.send("i7\r")
        terminal.wait_for("number 2?")
        quit_and_check(terminal)


def test_the_pager_runs_in_the_home_folder(record: Path, tmp_path: Path) -> None:
    home = tmp_path / "own-home"
    home.mkdir()
    with waiting(record, HOME=str(home), PAGER="sh -c 'pwd; read line' -") as terminal:
        press(terminal, "v")
        terminal.wait_for(str(home))
        terminal.send("\r")
        terminal.wait_for("number 1?")
        terminal.rest()
        quit_and_check(terminal)


def test_ctrl_c_in_the_pager_is_the_pagers(record: Path) -> None:
    pager = "sh -c 'trap \"echo caught\" INT; echo paging; read line; read line' -"
    with waiting(record, PAGER=pager) as terminal:
        press(terminal, "v")
        terminal.wait_for("paging")
        terminal.send("\x03")
        terminal.wait_for("caught")
        terminal.send("\r\r")
        terminal.wait_for("number 1?")
        terminal.rest()
        quit_and_check(terminal)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_restores_the_terminal(number: signal.Signals, terminal: Terminal) -> None:
    terminal.process.send_signal(number)
    assert ended(terminal) == 128 + number


def test_a_script_that_hangs_ends_with_the_program(build: Build) -> None:
    """Not only at its limit: there is none here."""
    config = Path(os.environ["XDG_CONFIG_HOME"]) / "quizlog" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("[limits]\nseconds = 0\n")
    path = build.record("if input('go? ') == 'y':\n    while True: pass\n")
    with Terminal(quizlog("tui", str(path)), (100, 30)) as terminal:
        terminal.wait_for("go?")
        terminal.rest()
        terminal.send("y\r")
        terminal.wait_for("Escape stops it")
        terminal.process.send_signal(signal.SIGTERM)
        assert ended(terminal) == 128 + signal.SIGTERM


def test_no_color_draws_without_colour(record: Path) -> None:
    with waiting(record, NO_COLOR="1") as terminal:
        quit_and_check(terminal)
    colours = {
        part.split(b"m")[0] for part in bytes(terminal.seen).split(b"38;2;")[1:] if b"m" in part
    }
    for colour in colours:
        red, green, blue = colour.split(b";")[:3]
        assert red == green == blue
