"""The record's file: never lost, never torn, never over somebody else's change."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import itertools
import multiprocessing
import os
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from quizlog_tui.errors import ConflictError, LimitError, RecordError
from quizlog_tui.record import store
from quizlog_tui.record.append_only_list import AppendOnlyList
from quizlog_tui.record.model import Record
from quizlog_tui.record.store import RecordFile

pytestmark = pytest.mark.core

OLD = Record("q.py", 1, AppendOnlyList(["a"]), 1)
NEW = Record("q.py", 1, AppendOnlyList(["a", "b"]), 2)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "record.yaml"
    RecordFile(path).create(OLD)
    return path


def read(path: Path) -> Record:
    return RecordFile(path).read()


CALLS = [(os, name) for name in ("open", "write", "fchmod", "fsync", "replace", "dup", "close")]
CALLS.append((fcntl, "flock"))


@contextlib.contextmanager
def failing(at: int, code: int) -> Iterator[list[str]]:
    """Let call `at` of all system calls that a write makes fail; the names of the calls made."""
    made: list[str] = []

    def wrapped(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            made.append(name)
            if len(made) == at + 1:
                if name == "close":
                    real(*args)
                raise OSError(code, os.strerror(code))
            return real(*args, **options)

        return call

    with pytest.MonkeyPatch.context() as patch:
        for module, name in CALLS:
            patch.setattr(module, name, wrapped(name, getattr(module, name)))
        yield made


@pytest.mark.parametrize("code", [errno.EIO, errno.ENOSPC, errno.ENOLCK, errno.EMFILE])
def test_a_failing_system_call_tells_truly_whether_the_record_was_written(
    path: Path, code: int
) -> None:
    for fail_at in itertools.count():
        path.unlink()
        RecordFile(path).create(OLD)
        file = RecordFile(path, wait=0.2)
        file.read()
        failed, remarks = False, []
        with failing(fail_at, code) as made:
            try:
                remarks = file.write(NEW)
            except RecordError as error:
                failed = True
                assert os.strerror(code) in str(error) and "\n" not in str(error)
        assert read(path) == (OLD if failed else NEW), made
        assert [item.name for item in path.parent.iterdir()] == ["record.yaml"]
        renamed = "replace" in made[:fail_at]
        assert not (failed and renamed)
        assert not remarks or (renamed and "not yet certain to survive a power cut" in remarks[0])
        with RecordFile(path, wait=0).locked():
            pass
        if len(made) <= fail_at:
            break
    assert fail_at > 8


@pytest.mark.parametrize(
    ("code", "remarks"),
    [
        (errno.EIO, ["written, but not yet certain to survive a power cut: Input/output error"]),
        (errno.EINVAL, []),  # a file system that cannot sync folders
    ],
)
def test_a_folder_that_cannot_be_synced_is_told_and_the_record_is_written(
    path: Path, code: int, remarks: list[str]
) -> None:
    file = RecordFile(path)
    file.read()
    real = os.fsync

    def fsync(fd: int) -> None:
        if stat.S_ISDIR(os.fstat(fd).st_mode):
            raise OSError(code, os.strerror(code))
        real(fd)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", fsync)
        assert file.write(NEW) == remarks
    assert read(path) == NEW
    assert file.write(OLD) == []


def test_a_write_reaches_the_disk_before_it_is_acknowledged(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []
    for name in ("write", "fsync", "replace"):
        real = getattr(os, name)

        def call(*args: Any, _real: Any = real, _name: str = name) -> Any:
            order.append(_name)
            return _real(*args)

        monkeypatch.setattr(os, name, call)
    file = RecordFile(path)
    file.read()
    file.write(NEW)
    assert order == ["write", "fsync", "replace", "fsync"]


def test_a_record_stays_if_the_file_written_with_it_cannot_be(path: Path, tmp_path: Path) -> None:
    file = RecordFile(path)
    file.read()
    (tmp_path / "result.yaml").mkdir()
    with pytest.raises(RecordError, match=r"result\.yaml: cannot write"):
        file.write(NEW, {tmp_path / "result.yaml": b"2"})
    assert read(path) == OLD
    assert sorted(item.name for item in tmp_path.iterdir()) == ["record.yaml", "result.yaml"]
    (tmp_path / "result.yaml").rmdir()
    file.write(NEW, {tmp_path / "result.yaml": b"2"})
    assert read(path) == NEW and (tmp_path / "result.yaml").read_bytes() == b"2"


def test_a_planted_link_in_place_of_the_temporary_file_is_not_followed(
    path: Path, tmp_path: Path
) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (tmp_path / ".record.yaml.tmp").symlink_to(victim)
    file = RecordFile(path)
    file.read()
    file.write(NEW)
    assert victim.read_text() == "precious"
    assert read(path) == NEW and not path.is_symlink()


@pytest.mark.parametrize("name", ["record.yaml", "record.json"])
def test_what_could_not_be_read_again_is_not_written(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "MAX_BYTES", 2**20)
    path = tmp_path / name
    file = RecordFile(path)
    file.create(OLD)
    before = path.read_bytes()
    big = AppendOnlyList(["x" * 2**14] * 64)
    with pytest.raises(LimitError, match=r"would be too big for a record \(1 MB\)") as caught:
        file.write(Record("q.py", 1, big, 64))
    assert "nothing was written" in str(caught.value)
    assert path.read_bytes() == before
    fits = big.upto(63)
    file.write(Record("q.py", 1, fits, 63))
    assert read(path).inputs == fits
    with pytest.raises(LimitError):
        RecordFile(tmp_path / "new.yaml").create(Record("q.py", 1, big, 64))
    assert [item.name for item in tmp_path.iterdir()] == [name]


def test_a_name_that_is_left_behind_is_told_once(path: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.yaml"
    os.link(path, other)
    file = RecordFile(path)
    file.read()
    assert file.write(NEW) == [
        f"{path} is a separate file now: its other hard link keeps the old content"
    ]
    assert read(other) == OLD and read(path) == NEW
    assert file.write(OLD) == []


def test_a_full_disk_keeps_the_old_record(path: Path) -> None:
    code = f"""
import resource, signal, sys
from pathlib import Path
from quizlog_tui.record.store import RecordFile
from quizlog_tui.record import store
from quizlog_tui.record.model import Record
from quizlog_tui.record.append_only_list import AppendOnlyList
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
file = RecordFile(Path({str(path)!r})); file.read()
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
try:
    file.write(Record("q.py", 1, AppendOnlyList(["x" * 1000]), 1))
except Exception as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-B", "-c", code], capture_output=True, text=True, check=True
    )
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


def test_a_link_that_leads_out_of_its_folder_is_not_written_through(
    path: Path, tmp_path: Path
) -> None:
    (tmp_path / "inner").mkdir()
    link = tmp_path / "inner" / "link.yaml"
    link.symlink_to(path)
    file = RecordFile(link)
    file.read()
    with pytest.raises(RecordError, match=r"is a link to .* .name that file"):
        file.write(NEW)
    assert read(path) == OLD and link.is_symlink()


def _add(path: Path, count: int) -> None:
    for index in range(count):
        while True:
            file = RecordFile(path, wait=20)
            record = file.read()
            new = record.inputs.then(f"{os.getpid()}-{index}")
            try:
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
