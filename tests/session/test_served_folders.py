"""Names are looked up in the served folders, and nowhere else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quizlog_tui.errors import UsageError
from quizlog_tui.session.served_folders import SCRIPT, SHEET, Folders, NotServedError, served


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    inside, outside = tmp_path / "in", tmp_path / "out"
    for folder in (inside, inside / "deep", outside):
        folder.mkdir()
        for name in ("quiz.py", "record.yaml", "other.json", "notes.txt", ".hidden.yaml"):
            (folder / name).write_text("x")
    (inside / "linked.yaml").symlink_to(inside / "deep" / "record.yaml")
    (inside / "leak.yaml").symlink_to(outside / "record.yaml")
    (inside / "leak").symlink_to(outside)
    (inside / "text.yaml").symlink_to(inside / "notes.txt")
    (inside / "loop.yaml").symlink_to(inside / "loop.yaml")
    (inside / "pipe.yaml").unlink(missing_ok=True)
    os.mkfifo(inside / "pipe.yaml")
    return served([inside])


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("record.yaml", "record.yaml"),
        ("record", "record.yaml"),
        ("other", "other.json"),
        ("other.json", "other.json"),
        ("deep", "deep/record.yaml"),
        ("deep/record", "deep/record.yaml"),
        ("linked", "deep/record.yaml"),
    ],
)
def test_found(folders: Folders, name: str, found: str) -> None:
    assert folders.find(SHEET, name) == folders.roots[0] / found


@pytest.mark.parametrize(
    "name",
    [
        "", ".", "..", "/", "../out/record", "deep/../../out/record", "deep/../record", "./record",
        "leak", "leak.yaml", "leak/record", "text", "text.yaml", "loop", "pipe", "notes.txt",
        ".hidden", "deep//record", "deep/", "record.yaml/", "quiz.py", "missing", "record\0.yaml",
        "..\\out\\record", "C:record", "record\n", "\ud800", "a" * 300, "a/" * 600 + "a",
        "%2e%2e/out/record", "~/record",
    ],
)  # fmt: skip
def test_not_found(folders: Folders, name: str) -> None:
    with pytest.raises(NotServedError):
        folders.find(SHEET, name)
    with pytest.raises(NotServedError):
        folders.find(SHEET, str(folders.roots[0].parent / "out" / "record.yaml"))


def test_a_link_that_comes_later_is_seen(folders: Folders) -> None:
    inside = folders.roots[0]
    assert folders.find(SHEET, "deep/record") == inside / "deep" / "record.yaml"
    (inside / "deep" / "record.yaml").unlink()
    (inside / "deep" / "record.yaml").symlink_to(inside / "other.json")
    assert folders.find(SHEET, "deep/record") == inside / "other.json"
    (inside / "deep").rename(inside / "before")
    (inside / "deep").symlink_to(inside.parent / "out")
    with pytest.raises(NotServedError):
        folders.find(SHEET, "deep/record")


def test_kinds_are_kept_apart(folders: Folders) -> None:
    assert folders.find(SCRIPT, "quiz").name == "quiz.py"
    assert folders.find(SCRIPT, "deep") == folders.roots[0] / "deep" / "quiz.py"
    with pytest.raises(NotServedError):
        folders.find(SCRIPT, "record.yaml")


@given(
    st.lists(st.sampled_from(["..", ".", "", "in", "out", "leak", "deep", "record"]), max_size=7)
)
def test_no_walk_leads_out(tmp_path_factory: pytest.TempPathFactory, parts: list[str]) -> None:
    top = tmp_path_factory.getbasetemp() / "walks"
    inside = top / "in"
    if not top.exists():
        (inside / "deep").mkdir(parents=True)
        (inside / "deep" / "record.yaml").write_text("x")
        (top / "out").mkdir()
        (top / "out" / "record.yaml").write_text("x")
        (inside / "leak").symlink_to(top / "out")
    folders = served([inside])
    try:
        found = folders.find(SHEET, "/".join(parts))
    except NotServedError:
        return
    assert found == inside.resolve() / "deep" / "record.yaml"


def test_paths_are_shown_without_the_folder(folders: Folders) -> None:
    assert folders.shown(f"{folders.roots[0]}/deep/record.yaml:3") == "deep/record.yaml:3"


def test_a_folder_must_be_one(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not a folder"):
        served([tmp_path / "missing"])
