"""Locks on records and other files: one holder at a time, in turn, with nothing left behind."""

from __future__ import annotations

import _socket
import contextlib
import errno
import fcntl
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from quizlog_tui.errors import ConflictError, LockedError, RecordError
from quizlog_tui.record import lock as locks
from quizlog_tui.record.append_only_list import AppendOnlyList
from quizlog_tui.record.lock import lock_file, locked
from quizlog_tui.record.model import Record
from quizlog_tui.record.store import RecordFile
from tests.support.locks import LINUX, places, queue_of
from tests.support.processes import wait_for

SPAWN = multiprocessing.get_context("spawn")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "record.yaml"
    RecordFile(path).create(Record("q.py", 1))
    return path


@contextlib.contextmanager
def held(path: Path, seconds: float = locks.WAIT_SECONDS) -> Iterator[None]:
    """Hold the lock of a record."""
    with RecordFile(path, seconds).locked():
        yield


def is_held(path: Path) -> bool:
    try:
        with held(path, 0):
            return False
    except LockedError:
        return True


def _hold(path: Path, ready: Any) -> None:
    with held(path):
        ready.set()
        time.sleep(60)


def test_a_lock_is_waited_for_and_named_and_freed_by_death(path: Path) -> None:
    ready = SPAWN.Event()
    holder = SPAWN.Process(target=_hold, args=(path, ready))
    holder.start()
    assert ready.wait(20)
    with (
        pytest.raises(LockedError, match="is locked by another process") as caught,
        held(path, 0.05),
    ):
        pass
    assert not Path("/proc/locks").exists() or f"(process {holder.pid})" in str(caught.value)
    assert "--wait SECONDS" in str(caught.value)
    os.kill(holder.pid or 0, signal.SIGKILL)
    holder.join()
    with held(path, 5):
        pass


def test_nothing_lies_in_the_folder_while_a_record_is_held_or_waited_for(path: Path) -> None:
    with held(path):
        waiting = threading.Thread(target=lambda: is_held(path))
        waiting.start()
        waiting.join()
        assert list(path.parent.iterdir()) == [path]
    assert list(path.parent.iterdir()) == [path]


def test_a_lock_follows_the_record_through_writes(path: Path) -> None:
    file = RecordFile(path)
    file.read()
    with file.locked():
        for count in range(3):
            file.write(Record("q.py", 1, AppendOnlyList(["x"] * count), count))
            assert is_held(path)
    assert not is_held(path)


def test_a_lock_on_a_record_that_was_replaced_meanwhile_is_none(path: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    replaced = []

    def flock(fd: int, how: int) -> None:
        real(fd, how)
        if not replaced:  # as another writer does between our opening and our locking it
            other.write_bytes(path.read_bytes())
            os.replace(other, path)
            replaced.append(fd)

    real = fcntl.flock
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fcntl, "flock", flock)
        with held(path):
            assert is_held(path)
    assert replaced


def test_a_lock_may_be_entered_again_by_its_holder(path: Path) -> None:
    file = RecordFile(path, 0)
    with file.locked(), file.locked():
        assert is_held(path)
    assert not is_held(path)


def test_a_lock_is_free_while_a_child_process_has_the_file_open_too(path: Path) -> None:
    lock = lock_file(path)
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.close(write)
        os.read(read, 1)
        os._exit(0)
    try:
        lock.release()
        assert not is_held(path)
    finally:
        os.close(write)
        os.close(read)
        os.waitpid(child, 0)


def test_a_record_that_was_removed_cannot_be_locked(path: Path) -> None:
    path.unlink()
    with pytest.raises(ConflictError, match="was removed by somebody else"), held(path):
        pass


@pytest.mark.parametrize("code", [errno.ENOLCK, errno.EIO, errno.ENOTSUP])
def test_a_file_system_without_locks_is_named_and_nothing_is_left(
    path: Path, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def flock(fd: int, how: int) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(fcntl, "flock", flock)
    before = path.read_bytes()
    file = RecordFile(path)
    file.read()
    with pytest.raises(RecordError, match=r"cannot lock: .*copy the record to a local disk"):
        file.write(Record("q.py", 1, AppendOnlyList(["a"]), 1))
    with pytest.raises(RecordError, match="cannot lock"), locked(path):
        pass
    assert list(path.parent.iterdir()) == [path]
    assert path.read_bytes() == before


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may do all")
def test_a_record_that_may_only_be_read_is_locked_all_the_same(path: Path) -> None:
    path.chmod(0o444)
    with held(path):
        assert is_held(path)


# -- turns


def _greedy(path: Path, stop: Any, counted: Any) -> None:
    """Hold the lock nearly all the time."""
    while not stop.is_set():
        with held(path, 60):
            counted.value += 1
            time.sleep(0.02)


@LINUX
def test_a_holder_that_comes_back_at_once_starves_nobody(path: Path) -> None:
    stop, counted = SPAWN.Event(), SPAWN.Value("i", 0)
    greedy = SPAWN.Process(target=_greedy, args=(path, stop, counted))
    greedy.start()
    passed = []
    try:
        for _ in range(10):
            seen = counted.value
            wait_for(lambda seen=seen: counted.value > seen + 1)
            before = counted.value
            with held(path, 20):
                passed.append(counted.value - before)
    finally:
        stop.set()
        greedy.join()
    # It may come back once while one is only about to get in line.
    assert sorted(passed)[5] <= 1, passed


@LINUX
def test_who_waits_longer_is_first(path: Path) -> None:
    order: list[int] = []

    def wait(number: int) -> None:
        with held(path, 60):
            order.append(number)

    threads = [threading.Thread(target=wait, args=(number,)) for number in range(5)]
    with held(path):
        for number, thread in enumerate(threads):
            thread.start()
            wait_for(lambda number=number: places(path) == list(range(number + 1)))
    for thread in threads:
        thread.join()
    assert order == list(range(5))


@LINUX
def test_a_waiting_process_that_is_killed_holds_up_nobody(path: Path) -> None:
    code = f"""
import sys
from pathlib import Path
sys.path[:0] = {sys.path!r}
from quizlog_tui.record.lock import lock_file
print("waiting", flush=True)
lock_file(Path({str(path)!r}), 60)
"""
    with held(path):
        waiting = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
        assert waiting.stdout is not None and waiting.stdout.readline()
        wait_for(lambda: places(path) == [0])
        waiting.kill()
        waiting.wait()
        waiting.stdout.close()
    with held(path, 0):
        pass


def test_systems_without_a_line_have_locks_all_the_same(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*args: Any) -> Any:
        raise OSError(errno.EAFNOSUPPORT, "Address family not supported by protocol")

    monkeypatch.setattr(_socket, "socket", refuse)
    with held(path):
        assert is_held(path)


@LINUX
def test_names_that_a_stranger_holds_only_cost_time(path: Path) -> None:
    with contextlib.ExitStack() as stack:
        for number in range(20):
            taken = stack.enter_context(
                contextlib.closing(_socket.socket(_socket.AF_UNIX, _socket.SOCK_DGRAM))
            )
            taken.bind(f"\0{queue_of(path)}{number}")
        with held(path, 0.05):
            pass


# -- lock files


def test_no_lock_file_stays_in_the_folder(path: Path) -> None:
    before = set(path.parent.iterdir())
    with locked(path):
        assert set(path.parent.iterdir()) != before
    assert set(path.parent.iterdir()) == before


def test_a_lock_file_that_was_removed_meanwhile_is_none(path: Path) -> None:
    lock = path.with_name(f"{path.name}.lock")
    removed = []

    def flock(fd: int, how: int) -> None:
        real(fd, how)
        if not removed:  # as its last holder does between our opening and our locking it
            lock.unlink()
            removed.append(fd)

    real = fcntl.flock
    with pytest.MonkeyPatch.context() as patch, contextlib.ExitStack() as stack:
        patch.setattr(fcntl, "flock", flock)
        stack.enter_context(locked(path))
        with pytest.raises(LockedError), locked(path, 0.01):
            pass
    assert removed


@pytest.mark.skipif(not hasattr(os, "umask"), reason="the system has no umask")
def test_a_umask_that_forbids_everything_forbids_us_nothing(tmp_path: Path) -> None:
    path = tmp_path / "record.yaml"
    code = f"""
import os, sys
from pathlib import Path
sys.path[:0] = {sys.path!r}
from quizlog_tui.record.lock import locked
from quizlog_tui.record.model import Record
from quizlog_tui.record.store import RecordFile
os.umask(0o777)
path = Path({str(path)!r})
RecordFile(path).create(Record("q.py", 1))
with locked(path):
    assert oct(os.stat(f"{{path}}.lock").st_mode & 0o777) == "0o600"
file = RecordFile(path)
file.write(file.read())
assert oct(os.stat(path).st_mode & 0o777) == "0o600"
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def _count(counter: Path) -> int:
    number = int(counter.read_text()) + 1
    counter.write_text(str(number))
    return number


def _counted(path: Path, of_record: Path, of_file: Path) -> None:
    for _ in range(100):
        with held(path, 60):
            number = _count(of_record)
            if number % 3 == 0:
                RecordFile(path).read()
        if number % 5 == 0:
            with contextlib.suppress(ConflictError):
                file = RecordFile(path, 60)
                file.read()
                file.write(Record("q.py", 1, AppendOnlyList([str(number)]), 1))
        with locked(path, 60):
            _count(of_file)


def test_a_lock_has_one_holder_at_a_time(path: Path, tmp_path: Path) -> None:
    counters = tmp_path / "of record", tmp_path / "of file"
    for counter in counters:
        counter.write_text("0")
    holders = [SPAWN.Process(target=_counted, args=(path, *counters)) for _ in range(4)]
    for holder in holders:
        holder.start()
    for holder in holders:
        holder.join()
    assert [counter.read_text() for counter in counters] == ["400", "400"]
