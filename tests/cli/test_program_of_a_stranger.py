"""A program beside a models file, by the commands that ask models: asked about, or not started."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from quizlog_tui.cli import main
from quizlog_tui.solver.models.models import default_models
from tests.support.terminal import Terminal
from tests.support.terminal import quizlog as started

MODELS = "models: [{name: local, command: [./solve.sh, --fast]}]"


@pytest.fixture
def stranger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder: a record, a models file, and its program."""
    folder = tmp_path / "stranger"
    folder.mkdir()
    monkeypatch.chdir(folder)
    Path("models.yaml").write_text(MODELS)
    Path("solve.sh").write_text(
        f"#!/bin/sh\necho ran >>{tmp_path}/PWNED\necho '{{\"answer\": 4}}'\n"
    )
    Path("solve.sh").chmod(0o755)
    Path("quiz.py").write_text("input('2 + 2 = ')  #number\n")
    assert main(["new", "quiz.py", "--seed", "1"]) == 0
    return folder


def test_a_program_of_the_current_folder_is_not_the_one_of_the_settings(
    stranger: Path, tmp_path: Path
) -> None:
    """The settings as `quizlog models --help` shows them."""
    default_models().parent.mkdir(parents=True)
    default_models().write_text(MODELS)
    words = [sys.executable, "-m", "quizlog_tui", "solve", "quiz.yaml", "--budget", "5"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 4 and "cannot start" in done.stderr + done.stdout
    assert not (tmp_path / "PWNED").exists()


@pytest.mark.parametrize(
    "words",
    [
        ["solve", "quiz.yaml", "--json"],
        ["models", "check"],
        ["serve"],
        ["task", "http://127.0.0.1:9/page"],
        ["episodes", "build", "quiz.yaml", "-o", "episodes.jsonl", "--runs", "2"],
    ],
    ids=lambda words: words[0],
)
def test_without_a_terminal_it_is_refused(
    words: list[str],
    stranger: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, value in {
        "USER_EMAIL": "a@b.example",
        "USER_SECRET": "long enough",
        "QUIZ_PRIVATE_HOSTS": "127.0.0.1",
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("TASK_BASEDIR", str(tmp_path / "tasks"))
    capsys.readouterr()
    assert main([*words, "--models", "models.yaml"]) == 2
    said = capsys.readouterr()
    line = said.err.splitlines()[-1]
    assert f"models.yaml: names the program {stranger}/solve.sh, which you have not allowed" in line
    assert "`quizlog models check --models models.yaml`" in line
    assert not said.out or "not allowed" in json.loads(said.out)["error"]["message"]
    assert not (tmp_path / "PWNED").exists()


def test_the_list_of_models_shows_the_program_and_starts_nothing(
    stranger: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert main(["models", "--models", "models.yaml"]) == 0
    assert capsys.readouterr().out == f"local  the program {stranger}/solve.sh --fast\n"
    assert not (tmp_path / "PWNED").exists()


def test_at_a_terminal_it_is_asked_about_once(stranger: Path, tmp_path: Path) -> None:
    command = started("models", "check", "--models", "models.yaml")
    for answer, code in (("n", 2), ("", 2), ("yes", 0)):
        with Terminal(command, (200, 30), stranger) as terminal:
            terminal.wait_for("May it run, as you and not confined? [y/N]")
            assert f"names the program {stranger}/solve.sh.".encode() in terminal.seen
            assert not (tmp_path / "PWNED").exists()
            terminal.send(f"{answer}\r")
            assert terminal.end() == code
    assert (tmp_path / "PWNED").read_text() == "ran\n"
    assert main(["models", "check", "--models", "models.yaml"]) == 0
    assert main(["solve", "quiz.yaml", "--models", "models.yaml"]) == 0
    assert (tmp_path / "PWNED").read_text() == "ran\n" * 3
