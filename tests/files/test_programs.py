"""Programs are found in absolute folders only, and what runs for the user runs at home."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import quizlog_tui
from quizlog_tui.errors import ConfigError
from quizlog_tui.files.process import drop_relative_entries, find_program, home_folder, search_path
from quizlog_tui.replay.script.interpreter import choose

PACKAGE = Path(quizlog_tui.__file__).parent


@pytest.fixture
def stranger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with programs of a stranger's."""
    folder = tmp_path / "stranger"
    folder.mkdir()
    for name in ("solver", "less", "uv", "ssh-keygen", "bwrap", "chromium", "python3.99"):
        program = folder / name
        program.write_text(f"#!/bin/sh\ntouch {tmp_path}/PWNED\n")
        program.chmod(0o755)
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize(
    ("path", "kept"),
    [
        ("/a:/b", "/a:/b"),
        (":/a::.:bin:./x:../y:/b:", "/a:/b"),
        ("", os.defpath),
        (".:", os.defpath),
        (None, os.defpath),
    ],
)
def test_only_absolute_folders_are_searched(
    path: str | None, kept: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if path is None:
        monkeypatch.delenv("PATH")
    else:
        monkeypatch.setenv("PATH", path)
    assert search_path() == kept
    drop_relative_entries()
    assert os.environ["PATH"] == kept


@pytest.mark.parametrize("path", ["", ".", ":/usr/bin:/bin", "/usr/bin::/bin", "../stranger"])
@pytest.mark.usefixtures("stranger")
def test_no_program_of_the_current_folder_is_found(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", path)
    for name in ("solver", "./solver", "../stranger/solver"):
        assert find_program(name) is None


def test_a_program_is_found_by_its_name_or_full_path(
    stranger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f".:{stranger}")
    assert find_program("solver") == find_program(f"{stranger}/solver") == f"{stranger}/solver"


def test_home_is_the_root_folder_for_who_has_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert home_folder() == tmp_path
    for home in ("", ".", "relative", str(tmp_path / "gone")):
        monkeypatch.setenv("HOME", home)
        assert home_folder() == Path("/")


@pytest.mark.usefixtures("stranger")
def test_a_python_by_its_name_is_none_of_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f".:{os.defpath}")
    with pytest.raises(ConfigError, match="there is no such program"):
        choose(tmp_path / "quiz.py", "python3.99")
    assert not (tmp_path / "PWNED").exists()


def test_programs_are_looked_up_in_one_place() -> None:
    lookup = re.compile(r"\bwhich\(")
    for path in PACKAGE.rglob("*.py"):
        if str(path.relative_to(PACKAGE)) not in (
            "files/process.py",
            "replay/script/interpreter.py",
        ):
            assert not lookup.search(path.read_text(encoding="utf-8")), path


def quizlog_in(folder: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """A command of quizlog's in a folder, started as `python -m quizlog_tui`."""
    where = {"PYTHONPATH": str(PACKAGE.parent)} | variables
    return subprocess.run(
        [sys.executable, "-m", "quizlog_tui", *words],
        cwd=folder, env=os.environ | where, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip


def test_no_module_of_the_current_folder_is_imported(stranger: Path, tmp_path: Path) -> None:
    for name in ("yaml", "json", "argparse", "shutil", "textual", "secrets"):
        (stranger / f"{name}.py").write_text(f"open({str(tmp_path / 'PWNED')!r}, 'w')\n")
    (stranger / "quiz.py").write_text("input('? ')\n")
    done = quizlog_in(stranger, "new", "quiz.py", "--seed", "1")
    assert done.returncode == 0
    assert quizlog_in(stranger, "quiz.yaml", "4", "--json").returncode == 0
    assert not (tmp_path / "PWNED").exists()


def test_a_command_starts_no_program_of_the_current_folder(stranger: Path, tmp_path: Path) -> None:
    (stranger / "quiz.py").write_text("# /// script\n# dependencies = []\n# ///\ninput('? ')\n")
    for path in ("", ":" + os.environ["PATH"]):
        (stranger / "quiz.yaml").unlink(missing_ok=True)
        done = quizlog_in(stranger, "new", "quiz.py", "--seed", "1", PATH=path)
        assert done.returncode == 0, done.stderr
        quizlog_in(stranger, "doctor", PATH=path)
    assert not (tmp_path / "PWNED").exists()
