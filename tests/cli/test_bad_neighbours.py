"""What cannot be read beside a record stops no command on the record."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from quizlog_tui.cli import main
from quizlog_tui.record.append_only_list import AppendOnlyList
from quizlog_tui.record.model import Record
from quizlog_tui.record.private_text import privacy_of
from quizlog_tui.record.store import RecordFile
from quizlog_tui.replay.script.needed_files import _is, needed_files
from quizlog_tui.replay.script.source import MAX_BYTES, read_source
from quizlog_tui.replay.worker.folder_content import copy_tree
from quizlog_tui.session.session import Session
from tests.support.build import Build

COMMANDS = [
    "record.yaml", "steps record.yaml", "verify record.yaml", "verify --all .", "check .", "list",
    "find two",
    "lint quiz.py", "branches record.yaml", "coverage quiz.py .", "diff record.yaml record.yaml",
    "inspect record.yaml", "trace record.yaml", "decisions record.yaml", "drift record.yaml",
    "export record.yaml -o out.html", "cast record.yaml -o out.cast",
    "bundle record.yaml -o out.zip", "episodes build record.yaml -o out.jsonl",
    "screenshot record.yaml -o out.svg", "record.yaml 4",
]  # fmt: skip


OF_ALL = ("verify --all .", "check .")
"""Commands that judge whatever looks like a record."""


@pytest.fixture
def crowded(build: Build, monkeypatch: pytest.MonkeyPatch) -> Iterator[Build]:
    """A record among links that lead to each other, pipes, a socket and a closed folder."""
    build.script("WHERE = 'data'\n", name="helper.py")
    with Session(build.record("import helper\ninput('one? ')\ninput('two? ')\n")) as session:
        session.answer("3")
    monkeypatch.chdir(build.folder)
    for name in ("a.py", "pipe.py", "closed/quiz.py", "/dev/zero", "."):
        path = build.folder / f"{name.replace('/', '-')}.yaml"
        RecordFile(path).create(Record(name, 1, AppendOnlyList(), 0))
    for name in ("a.json", "a.py", "data", ".a", "a.decisions.jsonl"):
        Path(name).symlink_to(f"other-{name}")
        Path(f"other-{name}").symlink_to(name)
        Path(f"itself-{name}").symlink_to(f"itself-{name}")
        Path(f"in-{name}").symlink_to(f"closed/{name}")
    for name in ("pipe.yaml", "pipe.json", "pipe.py", ".env.local", "pipe.jsonl"):
        os.mkfifo(name)
    Path("here").symlink_to(".")
    Path("endless.yaml").symlink_to("/dev/zero")
    Path("closed").mkdir(mode=0)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket.yaml")
        yield build
    Path("closed").chmod(0o700)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_works_among_what_cannot_be_read(
    command: str, crowded: Build, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(command.split()) == (2 if command in OF_ALL else 0), capsys.readouterr()


def test_all_that_can_be_verified_is(crowded: Build, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "--all", "."]) == 2
    said = capsys.readouterr()
    assert "1 reproducible" in said.err
    assert said.out.count("unreadable: ") == said.out.count("\n") - 1


def test_a_bundle_with_links_that_lead_to_each_other_is_refused(
    crowded: Build, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bundle", "record.yaml", "-o", "out.zip", "--add", "a.json"]) == 2
    assert "is not a file in the script's folder" in capsys.readouterr().err


def test_a_module_that_cannot_be_read_is_needed_and_not_searched(build: Build) -> None:
    script = build.script("import big, itself, pipe\ninput('? ')\n")
    build.script("", name="big.py")
    os.truncate(build.folder / "big.py", MAX_BYTES + 1)
    (build.folder / "itself.py").symlink_to("itself.py")
    os.mkfifo(build.folder / "pipe.py")
    assert [path.name for path in needed_files(read_source(script))] == ["big.py"]


def test_an_entry_of_which_nothing_is_known_has_no_kind() -> None:
    def refuse() -> bool:
        raise PermissionError

    assert not _is(refuse)
    assert _is(lambda: True)


def test_a_folder_that_nobody_may_list_is_copied_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "from" / "closed").mkdir(parents=True)
    (tmp_path / "from" / "file").write_text("kept")
    (tmp_path / "to").mkdir()
    real = os.listdir

    def listed(path: str) -> list[str]:
        if path.endswith("closed"):
            raise PermissionError
        return real(path)

    monkeypatch.setattr("quizlog_tui.replay.worker.folder_content.listdir", listed)
    assert copy_tree(str(tmp_path / "from"), str(tmp_path / "to"))
    assert sorted(path.name for path in (tmp_path / "to").iterdir()) == ["closed", "file"]


def test_a_pipe_beside_the_secrets_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".env.a")
    (tmp_path / ".env.b").write_text("A=long-enough-a-secret\n")
    assert privacy_of(tmp_path, {}).clean("long-enough-a-secret") == "[secret]"
