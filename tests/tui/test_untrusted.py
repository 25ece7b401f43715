"""No text of a script, record, file or model steers a terminal; the shell draws colours of output."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from quizlog_tui.episodes.format.hashing import to_line
from tests.episodes.support import episode
from tests.support.build import Build
from tests.support.terminal import Terminal, quizlog

pytestmark = pytest.mark.early
MARKUP = "[/nope] [@click=app.quit]go[/] [$x]y[/] [red]r[/red] d['k'] = [/] [b='x] C:\\[foo]"
STEERING = "\x1b]0;owned\x07 \x1b[38;5;201mpink \x1b]52;c;b3duZWQ=\x07 \x9b31m \x9d0;c1\x9c \x00 \x0e \x7f \u202e \u2028 \x85 \u2066 \r \x08 \x0c \udc9b"
EVIL = f"{MARKUP} {STEERING}"
FORBIDDEN = [
    b"\x1b]0;owned",
    b"\x1b[38;5;201m",
    b"\x1b]52;c;b3duZWQ",
    b"\x1b\x1b",  # an ESC of a script, drawn in pieces
    *(c.encode() for c in "\x9b\x9d\x9c\x00\x0e\x7f\u202e\u2028\x85\u2066\x08\x0c"),
]
SHOWN = b"\xe2\x90\x9b"
"""The stand-in for ESC: what proves that the payload was shown at all."""


@pytest.fixture
def evil(build: Build) -> Path:
    """A record whose every text is hostile, in a folder and file named so."""
    folder = build.folder / "ev\x1b]0;owned\x07il [red]\u202e"
    folder.mkdir()
    source = f"""
print({EVIL!r}.replace(chr(0xdc9b), ''))
import sys
sys.stderr.write('\\x1b]0;owned\\x07')
input({EVIL!r}.replace(chr(0xdc9b), ''))
input("choose [a\\x1b]0;owned\\x07/b] ")
raise Exception({EVIL!r})  #score = 0.5
"""
    record = Build(folder, build.dedent).record(source, EVIL.replace("\udc9b", ""))
    data = yaml.safe_load(record.read_text())
    data["branches"] = {
        "main": {"at": 0},
        "other": {
            "parent": "main",
            "at": 0,
            "inputs": [EVIL.replace("\udc9b", "")],
            "note": EVIL.replace("\udc9b", ""),
            "created": "\x1b]0;owned\x07",
        },
    }
    data["feedback"] = [
        {
            "at": 0,
            "branch": "main",
            "author": EVIL.replace("\udc9b", ""),
            "time": "\x9b31m",
            "verdict": "\x1b[38;5;201m",
            "text": EVIL.replace("\udc9b", ""),
        },
        {"watch": "'\x1b]0;owned\x07\u202e\x9b31m'"},
        {"watch": "len('\x1b]0;owned\x07\u202e\x9b31m')"},
    ]
    record.write_text(yaml.safe_dump(data))
    (folder / "br\x1b]0;owned\x07oken.yaml").write_text(
        "script: '\\x1b]0;owned'\nseed: \x1b]0;owned\x07\n"
    )
    return record


COLOR = re.compile(rb"\x1b\[[0-9;]*m")


def drive(terminal: Terminal, *keys: str) -> None:
    """Press keys, each after the screen has come to rest."""
    for key in keys:
        terminal.send(key)
        terminal.rest()


def assert_clean(terminal: Terminal) -> None:
    seen = bytes(terminal.seen)
    assert SHOWN in terminal.seen
    for payload in FORBIDDEN:
        assert payload not in seen, (
            payload,
            seen[max(0, seen.find(payload) - 80) : seen.find(payload) + 40],
        )
    assert b"Traceback" not in seen


ESCAPE = "\x1b[27u"
"""The key as newer terminals send it: nothing has to be awaited to tell it from a sequence."""
WALK = [
    *(ESCAPE, "h", "0", "$", "2", "j", "S", "3", "1", "?", ESCAPE),  # panes, help
    *("/", "own", "\r", "n", "&", ESCAPE),  # search and filter
    *("b", "j", "k", "D", "q"),  # tree
    *("F", "j", "f", "w", "q"),  # notes
    *("V", "k", "\r", ESCAPE, "U", "\r", ESCAPE),  # watches
    *("0", "f", ESCAPE, "$"),  # a recorded answer in the input
    *("i", "x", "\r", ESCAPE),  # an error
    *("\x10", "c", "o", ESCAPE),  # palette
    *("c", "\r", "]", "q"),  # compare
    *("s", ESCAPE, ESCAPE),  # sweep
    *("x", ESCAPE, "\x1bOQ", ESCAPE),  # export, themes
    *("\x06", "\x12", ".", "\r", "j", "j", ESCAPE),  # find in the whole run, by an expression
    *("z", "Z", "y"),  # undo, redo, copy: toasts
]


def test_no_screen_of_a_record_steers_the_terminal(evil: Path) -> None:
    with Terminal(quizlog("tui", str(evil)), (120, 40)) as terminal:
        terminal.wait_for("Output")
        drive(terminal, *WALK)
        assert terminal.process.poll() is None
        assert_clean(terminal)


def test_neither_does_the_library(evil: Path) -> None:
    with Terminal(quizlog("tui"), (100, 30), cwd=evil.parent) as terminal:
        terminal.wait_for("record")
        terminal.rest()
        drive(terminal, "\x06", "\x12", ".", "\r", "j", ESCAPE)
        drive(terminal, "j", "k", "?", ESCAPE, "\r")
        assert_clean(terminal)


@pytest.fixture
def evil_episodes(tmp_path: Path) -> Path:
    """Episodes whose every text is hostile, one of them in raw UTF-8, and lines that are none."""
    one = json.loads(to_line(episode(("4", "more", "end"), [("4", "x"), ("5", "bad")])))

    def spoilt(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: spoilt(item) for key, item in value.items()}
        if isinstance(value, list):
            return [*map(spoilt, value), *([EVIL] if value and value == ["first"] else [])]
        return EVIL if isinstance(value, str) else value

    told = spoilt(one)
    raw = json.dumps(told, ensure_ascii=False).encode("utf-8", "replace")
    folder = tmp_path / "ev\x1b]0;owned\x07il [red]\u202e"
    folder.mkdir(exist_ok=True)
    path = folder / "ev\x1b]0;owned\x07il.jsonl"
    lines = [json.dumps(told).encode(), raw, f"[{EVIL}".encode("utf-8", "replace")]
    path.write_bytes(b"\n".join([*lines, b"\x1b]0;owned\x07\xff\x9b31m", b""]))
    return path


LOOK = [
    *("j", "k", "G", "k", "g", "l", "\x04", "\x04", "G", "]", "]", "]", "h"),  # all lines
    *("/", "own", "\r", "n", "&", ESCAPE),  # search and filter
    *("f", "f", "f", "f", "#", "2", "\r", "y", "?", ESCAPE, "R"),  # states, jump, copy, help
]


def test_neither_do_episodes(evil_episodes: Path) -> None:
    with Terminal(quizlog("tui", str(evil_episodes)), (120, 40)) as terminal:
        terminal.wait_for("Line 1")
        drive(terminal, *LOOK)
        assert terminal.process.poll() is None
        assert_clean(terminal)


def test_neither_does_the_choice_of_an_episodes_file(evil: Path, evil_episodes: Path) -> None:
    assert evil_episodes.parent == evil.parent
    with Terminal(quizlog("tui"), (100, 30), cwd=evil.parent) as terminal:
        terminal.wait_for("record")
        terminal.rest()
        terminal.send("E")
        terminal.wait_for("another file")
        terminal.send("\r")
        terminal.wait_for("Line 1")
        drive(terminal, "G")
        assert_clean(terminal)


def test_neither_does_an_export_of_a_branch(evil: Path) -> None:
    with Terminal(quizlog("tui", str(evil)), (120, 40), cwd=evil.parent) as terminal:
        terminal.wait_for("Output")
        terminal.send("\x1b")
        terminal.wait_for(
            "Rewind"
        )  # the keys are the screen's; a key sooner would be read as Alt+E
        terminal.send("E")
        terminal.wait_for("Write main")
        drive(terminal, "/", "\r")
        assert_clean(terminal)


@pytest.mark.parametrize(
    "command",
    [
        ["{}"],
        ["{}", "wrong"],
        ["steps", "{}"],
        ["watch", "{}"],
        ["list", "."],
    ],
    ids=lambda words: words[0],
)
def test_neither_does_the_shell(command: list[str], evil: Path) -> None:
    words = [word.format(evil) for word in command]
    with Terminal(quizlog(*words), (100, 30), cwd=evil.parent) as terminal:
        terminal.end()
        if command[0] == "{}":  # its output has colours, but no other sequence
            terminal.seen = bytearray(COLOR.sub(b"", bytes(terminal.seen)))
            assert b"\x1b" not in terminal.seen
        assert_clean(terminal)


@pytest.mark.parametrize("ending", ["html", "md"])
def test_neither_do_exports(ending: str, evil: Path, tmp_path: Path) -> None:
    target = tmp_path / f"out.{ending}"
    with Terminal(quizlog("export", str(evil), "-o", str(target))) as terminal:
        terminal.end()
    seen = target.read_bytes()
    assert not [payload for payload in FORBIDDEN[4:] if payload in seen] and b"\x1b" not in seen


@pytest.mark.parametrize("verb", ["check", "stats"])
def test_neither_do_reports_on_episodes(verb: str, evil_episodes: Path) -> None:
    with Terminal(quizlog("episodes", verb, str(evil_episodes)), (100, 30)) as terminal:
        terminal.end()
        assert_clean(terminal)
