"""Temporary folders that are removed even if their process is killed.

Each folder is locked while its process lives, and the system releases the lock when the process
ends. A process that makes its first folder also removes the unlocked folders of the same user,
which killed processes left behind.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Self

try:
    import fcntl
except ImportError:  # Windows: nothing is locked, and nothing of others is removed
    fcntl = None  # type: ignore[assignment]

_PREFIX = "quizlog."
_OURS = re.compile(r"quizlog\.[a-z-]+\.\d+-[a-z0-9_]{8}")
"""What `mkdtemp` makes of the names of `_names`."""
_swept: set[str] = set()
"""Folders in which this process has removed what killed processes left."""


class Scratch:
    """A temporary folder, removed when closed. A context manager.

    Args:
        kind: What it is for; becomes part of its name.
        parent: The folder to make it in; the system's temporary folder if None.

    Raises:
        OSError: The folder cannot be made.
    """

    def __init__(self, kind: str, parent: Path | None = None) -> None:
        place = str(parent or tempfile.gettempdir())
        if place not in _swept:
            _swept.add(place)
            sweep(place)
        self._lock: int | None = None
        while True:
            self.path = Path(tempfile.mkdtemp(prefix=_names(kind), dir=place))
            try:
                self._lock = _lock(str(self.path))
            except (FileNotFoundError, BlockingIOError):
                continue  # another process removed it before it was locked
            except OSError:
                pass  # a file system without locks, where no process sweeps either
            return

    def close(self) -> None:
        """Remove the folder and its content.

        Raises:
            OSError: Some of it cannot be removed.
        """
        try:
            _remove_tree(str(self.path))
        finally:
            if self._lock is not None:
                os.close(self._lock)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        with contextlib.suppress(OSError):  # the next process tries again
            self.close()


@contextlib.contextmanager
def scratch_folder(kind: str) -> Iterator[Path]:
    """The path of a temporary folder that exists while the block runs."""
    with Scratch(kind) as scratch:
        yield scratch.path


def _names(kind: str) -> str:
    """The prefix of the names of this process's temporary folders of a kind."""
    return f"{_PREFIX}{kind}.{os.getpid()}-"


def sweep(place: str) -> None:
    """Remove the folders in `place` that this user's killed processes left behind."""
    candidates: list[os.DirEntry[str]] = []
    with contextlib.suppress(OSError), os.scandir(place) as entries:
        candidates = [entry for entry in entries if _OURS.fullmatch(entry.name)]
    for entry in candidates:
        with contextlib.suppress(OSError):
            if fcntl is not None and _is_ours(entry.stat(follow_symlinks=False)):
                _remove_unheld(entry.path)


def _is_ours(info: os.stat_result) -> bool:
    """Whether it can be a folder made here: a user may give a folder a similar name."""
    return info.st_uid == os.geteuid() and stat.S_IMODE(info.st_mode) == 0o700


def _remove_unheld(path: str) -> None:
    lock = _lock(path)
    try:
        _remove_tree(path)
    finally:
        os.close(lock)


def _lock(path: str) -> int:
    """Lock a folder; closing the returned descriptor releases the lock.

    Raises:
        FileNotFoundError: The folder has been removed.
        BlockingIOError: Another process holds the lock.
        OSError: The folder cannot be locked.
    """
    if fcntl is None:
        raise OSError("no locks on this system")
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.stat(path)
    except OSError:
        os.close(fd)
        raise
    return fd


def _remove_tree(folder: str) -> None:
    """Remove a folder of any depth and with any modes, by moving its inner folders to the top.

    Raises:
        OSError: Some of it cannot be removed.
    """
    count = 0
    waiting = [folder]
    while waiting:
        current = waiting[-1]
        os.chmod(current, 0o700)
        with os.scandir(current) as entries:
            inner = list(entries)
        for entry in inner:
            if not entry.is_dir(follow_symlinks=False):
                os.unlink(entry.path)
            else:
                count += 1
                raised = os.path.join(folder, f".removed-{count}")
                os.chmod(entry.path, 0o700)
                os.rename(entry.path, raised)
                waiting.append(raised)
        waiting.remove(current)
        if current != folder:
            os.rmdir(current)
    with contextlib.suppress(FileNotFoundError):
        os.rmdir(folder)
