"""What the observer of an attack counts as written to disk: by the run, and by nobody else."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from quizlog_tui.files.scratch import scratch_folder
from tests.attacks.observe import on_disk

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are seen in /proc")
SIZE = 4 << 20
BLOCK = os.urandom(SIZE)


@pytest.fixture
def written_before() -> int:
    return on_disk([os.getpid()])


def test_a_neighbours_writing_is_not_counted(written_before: int, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(BLOCK)
    assert on_disk([os.getpid()]) < written_before + SIZE


def test_a_folder_of_another_process_is_not_counted() -> None:
    nothing = subprocess.DEVNULL  # what the tests print lies in files, too
    other = subprocess.Popen(["sleep", "60"], stdin=nothing, stdout=nothing, stderr=nothing)
    with scratch_folder("run") as folder, other:
        (folder / "file").write_bytes(BLOCK)
        assert on_disk([other.pid]) == 0
        other.kill()


def test_files_in_folders_of_its_own_are_counted_open_or_not(written_before: int) -> None:
    with scratch_folder("run") as folder:
        (folder / "closed").write_bytes(BLOCK)
        with (folder / "open").open("wb", buffering=0) as file:
            file.write(BLOCK)
            assert SIZE * 2 <= on_disk([os.getpid()]) - written_before < SIZE * 3


@pytest.mark.parametrize("named", [True, False])
def test_files_elsewhere_are_counted_while_they_are_open(written_before: int, named: bool) -> None:
    with tempfile.NamedTemporaryFile(buffering=0) if named else tempfile.TemporaryFile() as file:
        file.write(BLOCK)
        file.flush()
        assert on_disk([os.getpid()]) >= written_before + SIZE
