"""Locks on files: one holder at a time, first come first served, no lock file left behind.

A record is locked by `flock` on the file itself. A write replaces the file by a new one, which is
therefore locked before it takes the old one's place (`Lock.follow`). A record has no separate lock
file, because a script may list its folder while the record is locked. Other files have a separate
lock file, which exists only while it is held.

Waiting processes queue up with the kernel's help: a process that releases a lock and wants it again
at once does not overtake them.
"""

from __future__ import annotations

import _socket
import contextlib
import errno
import os
import time
from collections.abc import Iterator
from pathlib import Path

from ..errors import ConflictError, LockedError, RecordError
from ..files.durable import make_usable, unwritable
from ..files.regular_file import hex_digest
from . import WAIT_SECONDS

try:
    import fcntl
except ImportError:  # Windows: no advisory locks; outside changes are still detected
    fcntl = None  # type: ignore[assignment]

_PLACES = 8
"""Number of waiting processes whose order is kept; more of them compete for the last place."""
_PAUSE = 0.002
"""Seconds between two attempts to take a lock."""


class Lock:
    """A lock that is held until it is released."""

    def __init__(self, fd: int | None) -> None:
        self._held = [] if fd is None else [fd]

    def follow(self, fd: int, path: Path) -> None:
        """Also lock an open file that is about to replace the locked one at `path`.

        Raises:
            RecordError: The file cannot be locked.
        """
        if self._held:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                self._held.append(os.dup(fd))
            except OSError as error:
                raise _unlockable(error, path) from None

    def release(self) -> None:
        """Release the lock."""
        while self._held:
            fd = self._held.pop()
            with contextlib.suppress(OSError):
                fcntl.flock(fd, fcntl.LOCK_UN)  # a child of ours may have the file open as well
            with contextlib.suppress(OSError):
                os.close(fd)


@contextlib.contextmanager
def locked(path: Path, seconds: float = WAIT_SECONDS) -> Iterator[None]:
    """Lock a file that is not a record, by the lock file `<path>.lock`, removed on release.

    Raises:
        LockedError: Another process holds the lock all that time.
        RecordError: The file cannot be locked.
    """
    name = f"{os.path.realpath(path)}.lock"
    new = not os.path.lexists(name)
    try:
        lock = _acquire(name, path, seconds, os.O_CREAT | os.O_NOFOLLOW)
    except RecordError:
        if new:
            _remove(name)
        raise
    try:
        yield
    finally:
        # Removed while still held: a waiting process then notices that this file is stale.
        _remove(name)
        lock.release()


def _remove(name: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(name)


def lock_file(path: Path, seconds: float = WAIT_SECONDS) -> Lock:
    """Lock a file itself, waiting up to `seconds` for another holder.

    Raises:
        LockedError: Another process holds the lock all that time.
        ConflictError: The file was removed.
        RecordError: The file cannot be locked.
    """
    return _acquire(os.path.realpath(path), path, seconds, 0)


def _acquire(target: str, path: Path, seconds: float, flags: int) -> Lock:
    """Lock the file at `target`, opened with `flags`; messages name it `path`."""
    if fcntl is None:
        return Lock(None)
    deadline = time.monotonic() + seconds
    with _waiting_in_line(target, deadline):
        while True:
            fd = _open(target, path, flags)
            if _take(fd, target, path):
                return Lock(fd)
            os.close(fd)
            if time.monotonic() > deadline:
                raise _held_by_another(target, path)
            time.sleep(_PAUSE)


def _open(target: str, path: Path, flags: int) -> int:
    common = flags | os.O_CLOEXEC | os.O_NONBLOCK  # a FIFO would wait for its other end
    try:
        try:
            # Network file systems lock only what is open for writing.
            fd = os.open(target, os.O_RDWR | common, 0o666)
        except PermissionError:
            fd = os.open(target, os.O_RDONLY | common, 0o666)
    except OSError as error:
        if isinstance(error, FileNotFoundError | IsADirectoryError) and not flags:
            message, hint = "was removed by somebody else", "nothing was written"
            raise ConflictError(message, where=str(path), hint=hint) from None
        raise unwritable(error, path) from None
    if flags & os.O_CREAT:
        _check_own(fd, target)
        make_usable(fd)
    return fd


def _check_own(fd: int, target: str) -> None:
    """Refuse a lock file with content: it is somebody else's, and would be removed in the end."""
    if os.fstat(fd).st_size:
        os.close(fd)
        hint = "move that file away, or choose another name"
        raise RecordError("exists and is not a lock file of quizlog", where=target, hint=hint)


def _take(fd: int, target: str, path: Path) -> bool:
    """Lock an open file if it is free; whether that worked and it is still the one at `target`."""
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return _is_at(fd, target)
    except BlockingIOError:
        return False
    except OSError as error:
        os.close(fd)
        raise _unlockable(error, path) from None


def _unlockable(error: OSError, path: Path) -> RecordError:
    hint = "its file system has no locks now; copy the record to a local disk"
    return RecordError(f"cannot lock: {error.strerror}", where=str(path), hint=hint)


def _is_at(fd: int, target: str) -> bool:
    """Whether an open file is the one at a path, not replaced or removed in the meantime."""
    try:
        # Network file systems check what is at a path only when it is opened.
        now = os.open(target, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        return os.path.sameopenfile(fd, now)
    finally:
        os.close(now)


def _held_by_another(target: str, path: Path) -> LockedError:
    holder = _holder(target)
    who = f" (process {holder})" if holder else ""
    hint = "try again when it has finished; commands wait longer with --wait SECONDS"
    return LockedError(f"is locked by another process{who}", where=str(path), hint=hint)


def _holder(target: str) -> str:
    """The id of the process that holds a lock, from Linux; empty if it is unknown."""
    try:
        info = os.stat(target)
        device = f"{os.major(info.st_dev):02x}:{os.minor(info.st_dev):02x}"
        with open("/proc/locks", encoding="ascii", errors="replace") as file:
            held = [line.split() for line in file if " FLOCK " in line]
    except OSError:
        return ""
    name = f"{device}:{info.st_ino}"
    found = (words[4] for words in held if words[5:6] == [name] and words[4].isdigit())
    return next(found, "")


@contextlib.contextmanager
def _waiting_in_line(target: str, deadline: float) -> Iterator[None]:
    """Queue up for a lock: the block starts when nobody is ahead, or at the deadline.

    A place in the queue is an abstract socket name: one socket at a time can have it, and the
    kernel frees it when the process ends. A process takes the last place first and moves up as
    places become free, so that nobody overtakes. Systems without abstract names keep no order.
    """
    queue = hex_digest(os.fsencode(target))[:32]
    place: _socket.socket | None = None
    try:
        for number in reversed(range(_PLACES)):
            ahead = _wait_for_place(f"\0quizlog-{queue}-{number}", deadline)
            if ahead is None:
                break
            if place is not None:
                place.close()
            place = ahead
        yield
    finally:
        if place is not None:
            place.close()


def _wait_for_place(name: str, deadline: float) -> _socket.socket | None:
    """A socket bound to a name; None after the deadline, or if there are no abstract names."""
    try:
        place = _socket.socket(_socket.AF_UNIX, _socket.SOCK_DGRAM)
    except OSError:
        return None
    while True:
        try:
            place.bind(name)
            return place
        except OSError as error:
            if error.errno != errno.EADDRINUSE or time.monotonic() > deadline:
                place.close()
                return None
        time.sleep(_PAUSE)
