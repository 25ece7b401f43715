"""What goes along with a run, and that its folder can always be put away."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from quizlog_tui.sandbox.run import PrivateFolder, WorkspaceError, files


def names(folder: Path, most: int = 10_000) -> list[str]:
    found = []
    for given in files(folder, most):
        found.append(given.name)
        os.close(given.fd)
    return found


def test_regular_files_go_along_in_order(tmp_path: Path) -> None:
    (tmp_path / "b.csv").write_text("1")
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "c.csv").write_text("2")
    assert names(tmp_path) == ["b.csv", "a/c.csv"]


def test_links_pipes_and_what_they_lead_to_stay_behind(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("s")
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "file").symlink_to(outside / "secret")
    (inside / "folder").symlink_to(outside)
    os.mkfifo(inside / "pipe")
    assert names(inside) == []


def test_too_much_is_refused(tmp_path: Path) -> None:
    (tmp_path / "big").write_bytes(b"x" * 100)
    with pytest.raises(WorkspaceError):
        names(tmp_path, most=99)


def test_a_missing_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError):
        names(tmp_path / "none")


def test_a_private_folder_goes_however_deep_and_locked_it_is() -> None:
    private = PrivateFolder(None)
    here = os.open(private.task, os.O_RDONLY)
    for _ in range(1100):  # deeper than Python recurses, longer than a path may be
        os.mkdir("deep", dir_fd=here)
        below = os.open("deep", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    locked = Path(private.temporary, "a", "b")
    locked.mkdir(parents=True)
    (locked / "file").write_text("x")
    os.mkfifo(locked / "pipe")
    locked.chmod(0)
    locked.parent.chmod(0)
    private.close()
    assert not os.path.exists(private.path)
