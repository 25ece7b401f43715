"""Regular files only, and no more of them than is wanted; the built-in hash is that of `hashlib`."""

from __future__ import annotations

import hashlib
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quizlog_tui.files.regular_file import hex_digest, open_regular, read_regular


def test_a_regular_file_is_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "file"
    for size in (0, 1, 99, 100, 65_536, 65_537, 1_000_000):
        data = os.urandom(size)
        path.write_bytes(data)
        assert read_regular(path, max(size, 1)) == data
    link = tmp_path / "link"
    link.symlink_to(path)
    assert read_regular(link, 10**6) == data


def test_a_bigger_file_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.touch()
    os.truncate(path, 1 << 40)
    with pytest.raises(OSError, match="it is bigger than 64 MB"):
        read_regular(path, 64 * 2**20)


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="there is no /proc")
def test_a_file_without_a_size_is_read_up_to_the_bound() -> None:
    assert os.stat("/proc/self/maps").st_size == 0
    assert b"\n" in read_regular("/proc/self/maps", 2**20)
    with pytest.raises(OSError, match="it is bigger than"):
        read_regular("/proc/self/maps", 10)


def test_what_is_no_regular_file_is_named_and_not_waited_for(tmp_path: Path) -> None:
    pipe, link, unix = tmp_path / "pipe", tmp_path / "link", tmp_path / "socket"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(unix))
        for path, kind in [
            (pipe, "it is a pipe"),
            (link, "it is a pipe"),
            (unix, "it is a socket"),
            (Path("/dev/zero"), "it is a device"),
            (tmp_path, "Is a directory"),
        ]:
            with pytest.raises(OSError, match=kind):
                open_regular(path)


def test_a_file_that_became_a_pipe_meanwhile_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, pipe = tmp_path / "file", tmp_path / "pipe"
    path.touch()
    os.mkfifo(pipe)
    before, real = len(os.listdir("/proc/self/fd")), os.open
    with monkeypatch.context() as patch, pytest.raises(OSError, match="it is a pipe"):
        patch.setattr(os, "open", lambda name, flags: real(pipe, flags))
        open_regular(path)
    assert len(os.listdir("/proc/self/fd")) == before


@given(st.binary(max_size=300))
def test_the_digest_is_that_of_hashlib(data: bytes) -> None:
    assert hex_digest(data) == hashlib.sha256(data).hexdigest()


def test_a_move_from_the_shell_does_not_load_openssl() -> None:
    code = "import sys, quizlog_tui.cli.moves; print('_hashlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
