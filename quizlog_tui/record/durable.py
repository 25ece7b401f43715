"""Files replaced as a whole: after a write the new content survives a crash, before it the old.

The new content is written under a temporary name and synced to the disk, then renamed over the
old, and the folder is synced. Knows bytes and paths only.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Self

from ..errors import RecordError

_HINTS = {
    "ENOSPC": "make room on the disk, then repeat; nothing was changed",
    "EDQUOT": "make room within your quota, then repeat; nothing was changed",
    "ENOENT": "make the folder first",
    "ENOTDIR": "name a file in a folder",
    "EISDIR": "name a file, not a folder",
    "EFBIG": "raise the limit on the size of files (`ulimit -f`); nothing was changed",
}


class Draft:
    """The next content of a file, on the disk under a temporary name until it is put in place.

    Args:
        path: The file; a link is followed.
        data: Its next content.

    Raises:
        RecordError: It cannot be written; nothing is left of it.
    """

    def __init__(self, path: Path, data: bytes) -> None:
        self._path = path
        self.target = Path(os.path.realpath(path))
        self._temporary = self.target.parent / f".{self.target.name}.tmp"
        self._placed = False
        try:
            self.fd = _made(self._temporary)
            try:
                self._fill(data)
            except BaseException:
                self.close()
                raise
        except OSError as error:
            raise unwritable(error, path) from None

    def _fill(self, data: bytes) -> None:
        _write_all(self.fd, data)
        if self.target.exists():
            os.fchmod(self.fd, stat.S_IMODE(self.target.stat().st_mode))
        os.fsync(self.fd)

    def put(self) -> None:
        """Let it take the file's place.

        Raises:
            RecordError: It cannot; the file is as it was.
        """
        try:
            os.replace(self._temporary, self.target)
        except OSError as error:
            raise unwritable(error, self._path) from None
        self._placed = True

    def close(self) -> None:
        """Give up what was not put in place."""
        if not self._placed:
            with contextlib.suppress(OSError):
                os.unlink(self._temporary)
        with contextlib.suppress(OSError):  # all of it is on the disk
            os.close(self.fd)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _made(temporary: Path) -> int:
    """A new, empty file; whatever was left at its path is removed, and no link is followed."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(temporary)
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    make_usable(fd)
    return fd


def make_usable(fd: int) -> None:
    """Let ourselves read and write a file that we made, whatever the umask says."""
    mode = stat.S_IMODE(os.fstat(fd).st_mode)
    if mode & 0o600 != 0o600:
        with contextlib.suppress(OSError):
            os.fchmod(fd, mode | 0o600)


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def sync_folders(files: Iterable[Path]) -> str | None:
    """Make it last that files were put in place; a remark where that is not certain.

    Some network file systems have no such call and say so, which is no remark.
    """
    try:
        for folder in {file.parent for file in files}:
            _sync_folder(folder)
    except OSError as error:
        return f"written, but not yet certain to survive a power cut: {error.strerror}"
    return None


def _sync_folder(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(fd)


def write_bytes(path: Path, data: bytes) -> str | None:
    """Replace a file; a remark where it is not certain that this survives a power cut.

    Raises:
        RecordError: It cannot be written; it is as it was.
    """
    with Draft(path, data) as draft:
        draft.put()
    return sync_folders([draft.target])


def write_text(path: Path, text: str) -> str | None:
    """`write_bytes` for text."""
    return write_bytes(path, text.encode("utf-8"))


def unwritable(error: OSError, path: Path) -> RecordError:
    """What to say where a file cannot be written."""
    hint = "make the folder writable, or copy the record elsewhere"
    hint = _HINTS.get(errno.errorcode.get(error.errno or 0, ""), hint)
    return RecordError(f"cannot write: {error.strerror}", where=str(path), hint=hint)
