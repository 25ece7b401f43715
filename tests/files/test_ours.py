"""Only what nobody else can have written is used where its content is trusted."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from quizlog_tui.errors import ConfigError
from quizlog_tui.files.place import own_file, own_folder


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_what_is_made_is_ours_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        own_folder(tmp_path / "a" / "b")
        own_file(tmp_path / "a" / "b" / "c")
    finally:
        os.umask(before)
    assert (mode(tmp_path / "a" / "b"), mode(tmp_path / "a" / "b" / "c")) == (0o700, 0o600)
    own_folder(tmp_path / "a" / "b")
    (tmp_path / "a" / "b" / "c").write_text("kept")
    own_file(tmp_path / "a" / "b" / "c")
    assert (tmp_path / "a" / "b" / "c").read_text() == "kept"


@pytest.mark.parametrize(
    ("plant", "said"),
    [
        (lambda path: path.symlink_to(path.parent), "is a link"),
        (lambda path: path.symlink_to(path.parent / "none"), "is a link"),
        (Path.touch, "is not a folder"),
        (os.mkfifo, "is not a folder"),
        (lambda path: (path.mkdir(), path.chmod(0o755)), "others may use it .chmod 700"),
        (lambda path: (path.mkdir(), os.chown(path, 12345, -1)), "belongs to somebody else"),
    ],
    ids=["link", "dangling", "file", "pipe", "open", "theirs"],
)
def test_a_folder_of_others_is_refused(
    tmp_path: Path, plant: Callable[[Path], object], said: str
) -> None:
    planted(tmp_path / "a", plant)
    with pytest.raises(ConfigError, match=said):
        own_folder(tmp_path / "a")


@pytest.mark.parametrize(
    ("plant", "said"),
    [
        (lambda path: path.symlink_to(path.parent / "none"), "is a link"),
        (Path.mkdir, "is not a regular file"),
        (os.mkfifo, "is not a regular file"),
        (lambda path: path.touch(0o644), "others may use it .chmod 600"),
        (lambda path: path.parent.chmod(0o777), "others may use it .chmod 755"),
        (lambda path: (path.touch(), os.chown(path, 12345, -1)), "belongs to somebody else"),
    ],
    ids=["dangling", "folder", "pipe", "open", "in an open folder", "theirs"],
)
def test_a_file_of_others_is_refused(
    tmp_path: Path, plant: Callable[[Path], object], said: str
) -> None:
    planted(tmp_path / "a", plant)
    with pytest.raises(ConfigError, match=said):
        own_file(tmp_path / "a")
    assert not (tmp_path / "none").exists()


def planted(path: Path, plant: Callable[[Path], object]) -> None:
    try:
        plant(path)
    except PermissionError:
        pytest.skip("only root can give a file away")
