"""Shells complete commands, verbs and options; the man page names all of them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from quizlog_tui.cli import main
from quizlog_tui.cli.commands import COMMANDS, LIST, command_list
from tests.support.documents import GUIDES
from tests.support.man_page import man_page

PAGE = GUIDES / "quizlog.1"


def script_for(shell: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["completions", shell]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("quizlog ver", "verify"),
        ("quizlog fork --na", "--name"),
        ("quizlog episodes ch", "check"),
        ("quizlog episodes --keep-r", "--keep-retries"),
        ("quizlog config in", "init"),
    ],
)
def test_bash_completes(words: str, completed: str, capsys: pytest.CaptureFixture[str]) -> None:
    if not shutil.which("bash"):
        pytest.skip("there is no bash here")
    count = len(words.split()) - 1
    script = script_for("bash", capsys)
    script += f"COMP_WORDS=({words})\nCOMP_CWORD={count}\n_quizlog\necho ${{COMPREPLY[@]}}\n"
    done = subprocess.run(["bash"], input=script, capture_output=True, text=True, check=True)
    assert (done.stdout.split(), done.stderr) == ([completed], "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_names_every_command_and_is_read_by_its_shell(
    shell: str, capsys: pytest.CaptureFixture[str]
) -> None:
    script = script_for(shell, capsys)
    for command in COMMANDS:
        assert re.search(rf"(?<![\w-]){command}(?![\w-])", script)
    if not shutil.which(shell):
        pytest.skip(f"there is no {shell} here")
    done = subprocess.run([shell, "-n"], input=script, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(("path", "made"), [(PAGE, man_page), (LIST, command_list)])
def test_the_man_page_and_the_list_are_those_of_the_commands(
    path: Path, made: Callable[[], str]
) -> None:
    """UPDATE_GOLDEN=1 makes them anew."""
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(made(), encoding="utf-8")
    assert path.read_text(encoding="utf-8") == made()


def test_the_man_page_can_be_read() -> None:
    if not shutil.which("man"):
        pytest.skip("there is no man here")
    call = ["man", "--warnings", "-l", str(PAGE)]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    if "minimized" in done.stdout:
        pytest.skip("man is a stand-in here")
    assert "quizlog fork RECORD K ANSWER" in re.sub(r".\x08", "", done.stdout)
