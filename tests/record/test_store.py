"""The record's file: never lost, never torn, never over somebody else's change."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from quizlog_tui.errors import ConflictError, LockedError, RecordError
from quizlog_tui.record import store
from quizlog_tui.record.model import Record
from quizlog_tui.record.store import RecordFile, locked
from quizlog_tui.series import Series

OLD = Record("q.py", 1, Series(["a"]), 1)
NEW = Record("q.py", 1, Series(["a", "b"]), 2)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "record.yaml"
    RecordFile(path).create(OLD)
    return path


def read(path: Path) -> Record:
    return RecordFile(path).read()


CALLS = ["open", "write", "fchmod", "fsync", "replace", "close"]


@pytest.mark.parametrize("fail_at", range(12))
def test_a_failing_system_call_leaves_the_old_or_the_new_record(
    path: Path, fail_at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = RecordFile(path)
    file.read()
    count = 0

    def failing(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            nonlocal count
            count += 1
            if count == fail_at + 1:
                if real is os.close:
                    real(*args)
                raise OSError(errno.EIO, "Input/output error")
            return real(*args, **options)

        return call

    real = {name: getattr(os, name) for name in CALLS}
    for name in CALLS:
        monkeypatch.setattr(store.os, name, failing(real[name]))
    failed = False
    try:
        file.write(NEW)
    except RecordError as error:
        failed = True
        assert "Input/output error" in str(error)
    for name in CALLS:
        monkeypatch.setattr(store.os, name, real[name])
    assert read(path) in (OLD, NEW)
    assert failed or read(path) == NEW
    assert sorted(item.name for item in path.parent.iterdir()) == ["record.yaml"]


def test_a_write_reaches_the_disk_before_it_is_acknowledged(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []
    for name in ("write", "fsync", "replace"):
        real = getattr(os, name)

        def call(*args: Any, _real: Any = real, _name: str = name) -> Any:
            order.append(_name)
            return _real(*args)

        monkeypatch.setattr(store.os, name, call)
    file = RecordFile(path)
    file.read()
    file.write(NEW)
    assert order == ["write", "fsync", "replace", "fsync"]


def test_a_full_disk_keeps_the_old_record(path: Path) -> None:
    code = f"""
import resource, signal, sys
from pathlib import Path
from quizlog_tui.record.store import RecordFile
from quizlog_tui.record.model import Record
from quizlog_tui.series import Series
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
file = RecordFile(Path({str(path)!r})); file.read()
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
try:
    file.write(Record("q.py", 1, Series(["x" * 1000]), 1))
except Exception as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "cannot write" in done.stdout
    assert read(path) == OLD
    assert [item.name for item in path.parent.iterdir()] == ["record.yaml"]


def test_an_outside_change_is_never_overwritten(path: Path) -> None:
    mine, theirs = RecordFile(path), RecordFile(path)
    mine.read(), theirs.read()
    theirs.write(NEW)
    with pytest.raises(ConflictError, match="changed by somebody else"):
        mine.write(OLD)
    assert read(path) == NEW
    mine.read()
    mine.write(OLD)


def test_a_deleted_record_counts_as_changed(path: Path) -> None:
    file = RecordFile(path)
    file.read()
    path.unlink()
    with pytest.raises(ConflictError):
        file.write(NEW)


def test_create_refuses_to_overwrite(path: Path) -> None:
    with pytest.raises(RecordError, match="exists already"):
        RecordFile(path).create(NEW)
    assert read(path) == OLD


def test_mode_and_symbolic_link_survive_a_write(path: Path, tmp_path: Path) -> None:
    path.chmod(0o640)
    link = tmp_path / "link.yaml"
    link.symlink_to(path)
    file = RecordFile(link)
    file.read()
    file.write(NEW)
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o640
    assert read(path) == NEW


def _hold(path: Path, ready: Any) -> None:
    with locked(path):
        ready.set()
        time.sleep(60)


def test_a_lock_is_waited_for_and_named_and_freed_by_death(path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    ready = context.Event()
    holder = context.Process(target=_hold, args=(path, ready))
    holder.start()
    assert ready.wait(20)
    with pytest.raises(LockedError, match=f"process {holder.pid}"), locked(path, seconds=0.05):
        pass
    os.kill(holder.pid or 0, signal.SIGKILL)
    holder.join()
    with locked(path, seconds=5):
        pass


def test_a_lock_names_only_its_present_holder(path: Path) -> None:
    lock = path.with_name(f"{path.name}.lock")
    for before in ("", "7\n", f"{os.getpid()}\n", f"{os.getpid()}\n5\n", "9" * 30):
        lock.write_text(before)
        with locked(path):
            assert lock.read_text() == f"{os.getpid()}\n"


def test_no_lock_stays_in_the_folder(path: Path) -> None:
    before = set(path.parent.iterdir())
    with locked(path):
        assert set(path.parent.iterdir()) != before
    assert set(path.parent.iterdir()) == before


def test_a_lock_that_was_removed_meanwhile_is_none(path: Path) -> None:
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


def _held(path: Path, counter: Path, count: int) -> None:
    for _ in range(count):
        with locked(path, seconds=60):
            counter.write_text(str(int(counter.read_text()) + 1))


def test_a_lock_has_one_holder_at_a_time(path: Path, tmp_path: Path) -> None:
    counter = tmp_path / "counter"
    counter.write_text("0")
    context = multiprocessing.get_context("spawn")
    holders = [context.Process(target=_held, args=(path, counter, 150)) for _ in range(4)]
    for holder in holders:
        holder.start()
    for holder in holders:
        holder.join()
    assert counter.read_text() == "600"


def _add(path: Path, count: int) -> None:
    for index in range(count):
        while True:
            file = RecordFile(path)
            record = file.read()
            new = record.inputs.then(f"{os.getpid()}-{index}")
            try:
                with locked(path, seconds=20):
                    file.write(Record("q.py", 1, new, len(new)))
                break
            except ConflictError:
                pass


def test_concurrent_writers_lose_nothing(path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_add, args=(path, 15)) for _ in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0
    inputs = list(read(path).inputs)[1:]
    assert len(inputs) == len(set(inputs)) == 60


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda p: None, "does not exist"),
        (lambda p: p.mkdir(), "is a directory"),
        (lambda p: p.write_bytes(b""), "is empty"),
        (lambda p: p.write_bytes(b" \n\n"), "is empty"),
        (lambda p: p.write_bytes(b"a: \xe4\n"), "is not UTF-8 text"),
        (lambda p: os.truncate(os.open(p, os.O_CREAT | os.O_RDWR), 200 << 20), "too big for a record (200 MB)"),
    ],
    ids=["missing", "directory", "empty", "blank", "latin-1", "200 MB"],
)  # fmt: skip
def test_unreadable_files_are_named(
    tmp_path: Path, make: Callable[[Path], object], message: str
) -> None:
    path = tmp_path / "r.yaml"
    make(path)
    with pytest.raises(RecordError) as caught:
        read(path)
    assert message in str(caught.value)


def test_a_byte_order_mark_is_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "r.yaml"
    path.write_bytes(b"\xef\xbb\xbfscript: q.py\nseed: 1\n")
    assert read(path).script == "q.py"
