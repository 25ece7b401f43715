"""The record's file: read safely, written durably, never over somebody else's change.

A write is lock, check that the file is still what was read, temporary file, fsync, rename, fsync of
the folder. After it returns, the content survives a crash of the process or the machine; before,
the old content does. The lock is advisory (`<record>.lock`), and there only while it is held: the
folder is a script's too, which may list it. Knows bytes and records; nothing of scripts.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from ..errors import ConflictError, LockedError, QuizlogError, RecordError
from .document import Rendering, from_text, to_mapping, to_text
from .model import Record
from .yaml_text import MAX_BYTES

try:
    import fcntl
except ImportError:  # Windows: no advisory locks; outside changes are still detected
    fcntl = None  # type: ignore[assignment]

LOCK_SECONDS = 5.0
"""How long to wait for another process before giving up."""


class RecordFile:
    """One record on disk, as last read or written here.

    Args:
        path: The file; need not exist yet.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._known: bytes | None = None
        self._rendering = Rendering()
        self.written = False
        """Whether the file was written here."""

    def read(self) -> Record:
        """Read and check the record.

        Raises:
            RecordError: It is missing, too big, unreadable, or not a record.
        """
        data = _read_bytes(self.path)
        record = from_text(_decode(data, self.path), str(self.path))
        self._known = data
        return record

    def changed(self) -> bool:
        """Whether the file differs from what was last read or written here."""
        try:
            return self.path.read_bytes() != self._known
        except OSError:
            return True

    def create(self, record: Record) -> None:
        """Write a new record.

        Raises:
            RecordError: The file exists already, or cannot be written.
        """
        if self.path.exists():
            hint = "choose another name with -o"
            raise RecordError("exists already", where=str(self.path), hint=hint)
        self._known = _write(self.path, self._text(record))

    def write(self, record: Record) -> None:
        """Replace the record durably. Call inside `locked`.

        Raises:
            ConflictError: Somebody else changed the file since it was read.
            RecordError: The file cannot be written; the old one is intact.
        """
        if self.changed():
            hint = "read it again and repeat; nothing was written"
            raise ConflictError("was changed by somebody else", where=str(self.path), hint=hint)
        self._known = _write(self.path, self._text(record))
        self.written = True

    def _text(self, record: Record) -> str:
        if self.path.suffix == ".json":
            return to_text(to_mapping(record), self.path)
        return self._rendering.text(record)


def _read_bytes(path: Path) -> bytes:
    where = str(path)
    try:
        info = path.stat()
        if stat.S_ISDIR(info.st_mode):
            hint = "name the record file inside it; `quizlog tui FOLDER` lists its records"
            raise RecordError("is a directory, not a record", where=where, hint=hint)
        if info.st_size > MAX_BYTES:
            size = f"{info.st_size / 2**20:.0f} MB"
            hint = f"records are at most {MAX_BYTES // 2**20} MB"
            raise RecordError(f"is too big for a record ({size})", where=where, hint=hint)
        data = path.read_bytes()
    except FileNotFoundError:
        hint = "make one with `quizlog new SCRIPT`"
        raise RecordError("the record does not exist", where=where, hint=hint) from None
    except OSError as error:
        raise RecordError(f"cannot read: {error.strerror}", where=where) from None
    if not data or data.isspace():
        raise RecordError("is empty", where=where, hint="make one with `quizlog new SCRIPT`")
    return data


def _decode(data: bytes, path: Path) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        where = f"{path}:{line}"
        raise RecordError("is not UTF-8 text", where=where, hint="save it as UTF-8") from None


def _write(path: Path, text: str) -> bytes:
    """Put `text` at `path` atomically and durably; the bytes written."""
    data = text.encode("utf-8")
    write_bytes(path, data)
    return data


def write_bytes(path: Path, data: bytes) -> None:
    """Put bytes at `path` atomically and durably.

    Raises:
        RecordError: They cannot be written.
    """
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f".{target.name}.tmp")
    try:
        mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666)
        try:
            _write_all(fd, data)
            if mode is not None:
                os.fchmod(fd, mode)
            os.fsync(fd)
        finally:
            os.close(fd)
        os.replace(temporary, target)
        _sync_folder(target.parent)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        hint = "make the folder writable, or copy the record elsewhere"
        message = f"cannot write: {error.strerror}"
        raise RecordError(message, where=str(path), hint=hint) from None


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def _sync_folder(folder: Path) -> None:
    """Make the rename durable; some network file systems have no such call and say so."""
    fd = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(fd)


def write_text(path: Path, text: str) -> None:
    """Write a side file (a result, an export) as atomically as a record.

    Raises:
        RecordError: It cannot be written.
    """
    _write(path, text)


@contextlib.contextmanager
def locked(path: Path, seconds: float = LOCK_SECONDS) -> Iterator[None]:
    """Hold the record's lock, waiting up to `seconds` for another holder.

    Raises:
        LockedError: Somebody else holds it all that time.
        RecordError: The folder does not allow a lock file.
    """
    if fcntl is None:
        yield
        return
    lock = f"{os.path.realpath(path)}.lock"
    fd = _acquire(lock, path, seconds)
    try:
        yield
    finally:
        # While it is held: whoever waits for this file finds that it is not the lock any more.
        with contextlib.suppress(OSError):
            os.unlink(lock)
        os.close(fd)


def _acquire(lock: str, path: Path, seconds: float) -> int:
    """A descriptor of the lock file, held."""
    deadline = time.monotonic() + seconds
    while True:
        fd = _open_lock(lock, path)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_at(fd, lock):
                _sign(fd, b"%d\n" % os.getpid())
                return fd
        except BlockingIOError:
            if time.monotonic() > deadline:
                holder = os.pread(fd, 20, 0).decode("ascii", "replace").strip()
                os.close(fd)
                raise _locked(path, holder) from None
            time.sleep(0.01)
        os.close(fd)


def _open_lock(lock: str, path: Path) -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        return os.open(lock, flags, 0o666)
    except OSError as error:
        hint = "make the folder writable, or copy the record elsewhere"
        message = f"cannot write: {error.strerror}"
        raise RecordError(message, where=str(path), hint=hint) from None


def _is_at(fd: int, lock: str) -> bool:
    """Whether an open file is the one at a path, and not one that its last holder removed."""
    try:
        # Opened, as network file systems make sure only then of what is there.
        now = os.open(lock, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        return os.path.sameopenfile(fd, now)
    finally:
        os.close(now)


def _sign(fd: int, holder: bytes) -> None:
    """Say who holds the lock, in place of one who was killed while holding it."""
    os.ftruncate(fd, 0)
    os.pwrite(fd, holder, 0)


def _locked(path: Path, holder: str) -> QuizlogError:
    who = f" (process {holder})" if holder else ""
    hint = "try again when it has finished"
    return LockedError(f"is locked by another process{who}", where=str(path), hint=hint)
