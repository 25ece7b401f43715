"""Temporary folders: gone with their process, however it ends; never somebody else's."""

from __future__ import annotations

import errno
import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from quizlog_tui.files import scratch
from quizlog_tui.files.scratch import Scratch, sweep
from tests.support.build import Build
from tests.support.processes import IS_UP, is_up

HOLDER = """
import sys
from pathlib import Path
from quizlog_tui.files.scratch import Scratch
made = Scratch("test", Path(sys.argv[1]))
(made.path / "deep").mkdir(0)
print(made.path, flush=True)
sys.stdin.read()
"""


def test_a_folder_goes_with_all_that_is_in_it(tmp_path: Path) -> None:
    with Scratch("test", tmp_path) as made:
        assert made.path.name.startswith(f"quizlog.test.{os.getpid()}-")
        (made.path / "locked").mkdir(0)
    assert not os.listdir(tmp_path)


def test_removing_follows_no_link(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").write_text("x")
    with Scratch("test", tmp_path) as made:
        (made.path / "link").symlink_to(kept)
    assert os.listdir(tmp_path) == ["kept"]
    assert (kept / "file").read_text() == "x"


def test_what_a_killed_process_left_goes_and_what_is_in_use_stays(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLDER, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout
        made = Path(holder.stdout.readline().decode().strip())
        sweep(str(tmp_path))
        assert made.is_dir()
        holder.kill()
    assert made.is_dir()
    sweep(str(tmp_path))
    assert not made.exists()


def test_sweeping_touches_nothing_else(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").write_text("x")
    (tmp_path / "quizlog.link.1-abcdefgh").symlink_to(kept)
    (tmp_path / "quizlog.file.1-abcdefgh").write_text("x")
    for name in ("quizlog.backup", "quizlog.demo.1-x", "quizlog.open.1-abcdefgh"):
        (tmp_path / name).mkdir(0o755)
    (tmp_path / "quizlog.demo.1").mkdir(0o700)
    before = sorted(os.listdir(tmp_path))
    sweep(str(tmp_path))
    assert sorted(os.listdir(tmp_path)) == before
    assert (kept / "file").read_text() == "x"


@pytest.mark.skipif(os.getuid() != 0, reason="only root can make a folder of another user's")
def test_a_folder_of_another_user_stays(tmp_path: Path) -> None:
    other = tmp_path / "quizlog.test.1-abcdefgh"
    other.mkdir(0o700)
    os.chown(other, 1, 1)
    sweep(str(tmp_path))
    assert other.is_dir()


def test_without_locks_folders_work_and_nobody_removes_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(fd: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with Scratch("test", tmp_path) as made:
        sweep(str(tmp_path))
        assert made.path.is_dir()
    assert not made.path.exists()


def test_a_folder_that_is_swept_before_it_is_locked_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, taken = scratch._lock, []

    def late(path: str) -> int:
        if not taken:
            taken.append(path)
            sweep(str(tmp_path))
        return plain(path)

    monkeypatch.setattr(scratch, "_lock", late)
    with Scratch("test", tmp_path) as made:
        assert made.path.is_dir()
        assert taken and str(made.path) not in taken


def test_a_killed_verify_leaves_nothing_for_long(
    build: Build, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path_factory.mktemp("temporary")
    monkeypatch.setenv("TMPDIR", str(temporary))
    hanging = build.record(f"{IS_UP}\nwhile True: pass\n", name="hanging.yaml")
    verify = [sys.executable, "-m", "quizlog_tui", "verify"]
    with subprocess.Popen([*verify, str(hanging)], stdout=subprocess.DEVNULL) as process:
        while not is_up():
            assert process.poll() is None
        process.kill()
    quick = build.record("print(1)\n", name="quick.yaml")
    subprocess.run([*verify, str(quick)], stdout=subprocess.DEVNULL, check=True)
    assert not os.listdir(temporary)
