"""Who stands on a note where nobody said: asked once at a terminal, else nobody in particular."""

from __future__ import annotations

import getpass
import io
import sys
from pathlib import Path

import pytest

from quizlog_tui.cli import main
from quizlog_tui.config import NEUTRAL, QUESTION, Config, config_path, keep_author, known_author
from quizlog_tui.record.feedback import read
from quizlog_tui.record.store import RecordFile
from tests.support.build import Build

LOGIN = "some-login-name"


@pytest.fixture
def record(build: Build, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.setenv(name, LOGIN)
    assert getpass.getuser() == LOGIN
    return build.record("input('? ')", "a")


def note(record: Path, *words: str) -> str | None:
    assert main(["feedback", str(record), "0", "said", *words]) == 0
    assert LOGIN not in record.read_text()
    return read(RecordFile(record).read())[-1].author


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def at_a_terminal(monkeypatch: pytest.MonkeyPatch, typed: str) -> Terminal:
    monkeypatch.setattr(sys, "stdin", Terminal(typed))
    shown = Terminal()
    monkeypatch.setattr(sys, "stderr", shown)
    return shown


def test_nobody_is_asked_where_there_is_no_terminal(
    record: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("eve\n"))
    assert note(record) == NEUTRAL
    assert known_author(Config()) is None
    assert note(record, "--author", "") is None


@pytest.mark.parametrize(("typed", "name"), [("eve\n", "eve"), ("\n", NEUTRAL), ("", NEUTRAL)])
def test_at_a_terminal_one_is_asked_once(
    record: Path, monkeypatch: pytest.MonkeyPatch, typed: str, name: str
) -> None:
    shown = at_a_terminal(monkeypatch, typed)
    assert (note(record), QUESTION in shown.getvalue()) == (name, True)
    shown = at_a_terminal(monkeypatch, "bob\n")
    assert (note(record), QUESTION in shown.getvalue()) == (name, False)


def test_the_settings_go_before_what_was_answered(record: Path) -> None:
    keep_author("eve")
    assert note(record) == "eve"
    config_path().parent.mkdir(parents=True, exist_ok=True)
    config_path().write_text('author = "ann"\n')
    assert note(record) == "ann"
