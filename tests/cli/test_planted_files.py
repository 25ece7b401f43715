"""What lies in a folder from elsewhere, under the names that commands would write."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from quizlog_tui.episodes.runs.scripts import copy_needed_files
from quizlog_tui.errors import RecordError
from quizlog_tui.record.store import RecordFile
from quizlog_tui.replay.script.source import Source
from quizlog_tui.session.session import Session
from tests.support.build import Build
from tests.support.voters import voters

from .conftest import Run

QUIZ = 'print("$(touch PWNED)")\ninput("2 + 2 = ")\ninput("b? ")\n'
WRITERS = {
    "new": ("quiz.yaml", ("new", "quiz.py", "--seed", "1")),
    "new -o": ("x.yaml", ("new", "quiz.py", "-o", "x.yaml")),
    "again": ("x.yaml", ("new", "record.yaml", "-o", "x.yaml")),
    "page": ("x.html", ("export", "record.yaml", "-o", "x.html")),
    "page replaced": ("x.html", ("export", "record.yaml", "-o", "x.html", "--force")),
    "text": ("x.md", ("export", "record.yaml", "-o", "x.md")),
    "picture": ("x.svg", ("screenshot", "record.yaml", "-o", "x.svg")),
    "picture replaced": ("x.txt", ("screenshot", "record.yaml", "-o", "x.txt", "--force")),
    "cast": ("x.cast", ("cast", "record.yaml", "-o", "x.cast")),
    "suite": ("x.xml", ("check", ".", "--junit", "x.xml")),
    "suite replaced": ("x.xml", ("check", ".", "--junit", "x.xml", "--force")),
    "summary": ("x.md", ("check", ".", "--markdown", "x.md")),
    "bundle": ("x.zip", ("bundle", "record.yaml", "-o", "x.zip")),
    "episodes": ("episodes/episodes.jsonl", ("episodes", "build", "record.yaml")),
    "decisions": ("record.decisions.jsonl", ("solve", "record.yaml", "--models", "m.yaml")),
    "result": ("x.yaml", ("output.yaml", "4")),
}
"""The name that a command would write, and the command."""
INFORMED = {"picture replaced", "suite replaced"}
"""`--force` and a text that has no mark: such a file is replaced."""


PLANTS: dict[str, Callable[[Path], object]] = {
    "link": lambda path: path.symlink_to(os.environ["HOME"] + "/precious"),
    "dangling": lambda path: path.symlink_to(os.environ["HOME"] + "/.bash_profile"),
    "pipe": os.mkfifo,
    "file": lambda path: path.write_text("# precious, and nobody else's\n"),
}


@pytest.mark.parametrize("plant", PLANTS)
@pytest.mark.parametrize("name", WRITERS)
def test_nothing_planted_is_followed_or_replaced(
    name: str,
    plant: str,
    run: Run,
    build: Build,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    (home / "precious").write_text("precious")
    record = build.record(QUIZ)
    record.with_name("output.yaml").write_text(f"output: x.yaml\n{record.read_text()}")
    voters(build.folder / "m.yaml", a=4)
    target, words = WRITERS[name]
    (build.folder / target).parent.mkdir(exist_ok=True)
    PLANTS[plant](build.folder / target)
    if plant == "file" and name in INFORMED:
        return
    before = seen(build.folder)
    code, out, err = run(*words)
    assert (code, out) == (2, "")
    assert target in err and len(err.strip().splitlines()) == 1 + err.count("note: ")
    assert seen(build.folder) == before
    assert {path.name: path.read_text() for path in home.iterdir() if path.is_file()} == {
        "precious": "precious"
    }


def seen(folder: Path) -> dict[str, object]:
    """What lies in a folder and below, but for Python's own files."""
    return {
        str(path): (
            os.lstat(path).st_mode,
            path.is_symlink() or (path.is_file() and path.read_bytes()),
        )
        for path in sorted(folder.rglob("*"))
        if "__pycache__" not in path.parts
    }


def test_a_folder_that_leads_out_takes_no_file(
    run: Run, build: Build, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    build.record(QUIZ)
    for folder in ("reports", "episodes"):
        (build.folder / folder).symlink_to(outside)
    for words in (
        ("new", "quiz.py", "-o", "reports/x.yaml"),
        ("export", "record.yaml", "-o", "reports/x.html"),
        ("check", ".", "--junit", "reports/x.xml"),
        ("bundle", "record.yaml", "-o", "reports/x.zip"),
        ("screenshot", "record.yaml", "-o", "reports/x.txt"),
        ("episodes", "build", "record.yaml"),
        ("record.yaml", "4", "--keep-files", "reports"),
    ):
        code, _, err = run(*words)
        assert code == 2 and f"leads to {outside}" in err
    assert not [*outside.iterdir()]
    assert RecordFile(build.folder / "record.yaml").read().inputs == []


def test_a_lock_file_of_somebody_else_is_left(run: Run, build: Build) -> None:
    build.record(QUIZ)
    lock = build.folder / "x.yaml.lock"
    lock.write_text("# of another program\n")
    code, _, err = run("new", "quiz.py", "-o", "x.yaml")
    assert code == 2 and "is not a lock file of quizlog" in err
    assert lock.read_text() == "# of another program\n"


def test_no_temporary_name_can_be_foreseen(run: Run, build: Build) -> None:
    with Session(build.record(QUIZ)) as session:
        session.answer("4")
    precious = build.folder / "precious"
    precious.write_text("precious")
    for name in (f".e.jsonl.{os.getpid()}.tmp", ".e.jsonl.tmp", ".x.html.tmp", ".x.svg.tmp"):
        (build.folder / name).symlink_to("precious")
    assert run("episodes", "build", "record.yaml", "-o", "e.jsonl")[0] in (0, 1)
    assert run("export", "record.yaml", "-o", "x.html")[0] == 0
    assert run("screenshot", "record.yaml", "-o", "x.svg")[0] == 0
    assert precious.read_text() == "precious"
    assert not any((build.folder / name).is_symlink() for name in ("e.jsonl", "x.html", "x.svg"))


def test_no_name_below_a_chosen_one_leads_out(
    run: Run, build: Build, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    source = Source(build.script(QUIZ), QUIZ.encode())
    (build.folder / "out" / "scripts").mkdir(parents=True)
    inner = source.code_hash.removeprefix("sha256:")[:16]
    (build.folder / "out" / "scripts" / inner).symlink_to(outside)
    with pytest.raises(RecordError, match=f"leads to {outside}"):
        copy_needed_files(source.path, source.code_hash, build.folder / "out" / "scripts")
    assert not [*outside.iterdir()]


def test_a_copy_of_a_script_replaces_nothing_else(build: Build) -> None:
    source = Source(build.script(QUIZ), QUIZ.encode())
    target = build.folder / "scripts"
    copy_needed_files(source.path, source.code_hash, target)
    [copy] = target.rglob("*.py")
    copy_needed_files(source.path, source.code_hash, target)
    copy.write_text("mine")
    with pytest.raises(RecordError, match="is not a copy of a script's file of quizlog"):
        copy_needed_files(source.path, source.code_hash, target)
    assert copy.read_text() == "mine"
