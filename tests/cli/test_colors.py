"""The colours of a script's output in the shell: on a terminal, unless one wants none."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.support.build import Build
from tests.support.terminal import Terminal, quizlog

QUIZ = r"""
import sys
sys.stdout.write("10%\r\033[K\033[31m100%\033[0m\n")
print("\033]0;owned\007\033[2J")
input("\033[32mYour name?\033[0m ")
"""


@pytest.fixture
def record(build: Build) -> Path:
    return build.record(QUIZ)


def on_terminal(record: Path, **env: str) -> str:
    with Terminal(quizlog(str(record)), env=env) as terminal:
        terminal.end()
        return terminal.seen.decode()


def test_colours_pass_to_a_terminal_and_nothing_else_does(record: Path) -> None:
    seen = on_terminal(record, NO_COLOR="")
    assert "\x1b[31m100%\x1b[0m" in seen and "\x1b[32mYour name?\x1b[0m" in seen
    assert "10%\r" not in seen
    assert "owned" not in seen
    assert "\x1b]" not in seen and "\x1b[2J" not in seen


@pytest.mark.parametrize("env", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_who_wants_no_colours_gets_none(env: dict[str, str], record: Path) -> None:
    seen = on_terminal(record, **env)
    assert "100%" in seen and "\x1b" not in seen


def test_a_pipe_gets_the_text_as_it_was_written(record: Path) -> None:
    done = subprocess.run(quizlog(str(record)), capture_output=True, text=True, check=True)
    assert "10%␍␛[K␛[31m100%␛[0m" in done.stdout and "\x1b" not in done.stdout
