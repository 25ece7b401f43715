"""Reads files with untrusted names, and tells whether a file has changed.

Only regular files are read, and only up to a given size: where a record or a script is expected
there may be a pipe, which waits for a writer, or a device, which may never end. A stamp shows a
change without reading the file, a digest by its content.
"""

from __future__ import annotations

import errno
import os
import stat
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from hashlib import _Hash
    from pathlib import Path
    from typing import BinaryIO

_KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
_PIECE = 64 * 1024


def open_regular(path: str | Path) -> BinaryIO:
    """Open a regular file for reading, without blocking.

    Raises:
        OSError: It cannot be opened, or is not a regular file.
    """
    try:
        _check(os.stat(path))  # before opening, as opening a device can start it
    except ValueError:  # a NUL, or a surrogate that encodes no byte
        raise OSError(errno.EINVAL, "no file can have this name") from None
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NONBLOCK", 0))
    try:
        _check(os.fstat(fd))
        return open(fd, "rb", buffering=0)
    except BaseException:
        os.close(fd)
        raise


def _check(info: os.stat_result) -> None:
    if stat.S_ISDIR(info.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(info.st_mode):
        kind = _KINDS.get(stat.S_IFMT(info.st_mode), "something else")
        raise OSError(errno.EINVAL, f"it is {kind}, not a regular file")


def read_regular(path: str | Path, most: int) -> bytes:
    """The content of a regular file of at most `most` bytes.

    Raises:
        OSError: It cannot be read, is not a regular file, or is bigger.
    """
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        data = _read(file, size, most + 1) if size <= most else b""
    if size > most or len(data) > most:
        raise OSError(errno.EFBIG, f"it is bigger than {most / 2**20:g} MB")
    return data


def _read(file: BinaryIO, size: int, most: int) -> bytes:
    """A file's content, up to `most` bytes. `size` is only a guess: some files report 0."""
    pieces, left = [], most
    while left and (piece := file.read(min(max(size, _PIECE), left))):
        pieces.append(piece)
        left -= len(piece)
        size = 0
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def is_archive(path: Path) -> bool:
    """Whether a file is a ZIP archive, as a bundle is and no record."""
    try:
        with open_regular(path) as file:
            return file.read(4) == b"PK\x03\x04"
    except OSError:
        return False


Stamp = tuple[tuple[int, int, int, int, int], ...]
"""Device, inode, times of change in nanoseconds (content, status) and size of each file."""
_SETTLED = 100_000_000
"""Nanoseconds after a change in which a second one may not alter the file's times."""


def stamp_of(*paths: str | Path) -> Stamp:
    """The stamp of files as they are now; empty if one of them cannot be examined."""
    stamps = []
    for path in paths:
        try:
            info = os.stat(path)
        except (OSError, ValueError):
            return ()
        stamps.append((info.st_dev, info.st_ino, info.st_mtime_ns, info.st_ctime_ns, info.st_size))
    return tuple(stamps)


def is_settled(stamp: Stamp) -> bool:
    """Whether every later change of these files will alter their stamp."""
    newest = max((max(changed, touched) for _, _, changed, touched, _ in stamp), default=None)
    return newest is not None and time.time_ns() - newest > _SETTLED


try:
    from _sha2 import sha256  # type: ignore[import-not-found]  # Python 3.12 and later
except ImportError:
    try:
        from _sha256 import sha256  # type: ignore[import-not-found]
    except ImportError:  # an interpreter built without
        from hashlib import sha256


def digest(data: bytes) -> _Hash:
    """The SHA-256 hash of data, to which more can be added, from the interpreter's own module.

    For small data only. `hashlib` uses OpenSSL, whose library takes longer to load than a short
    command takes to run; once it is loaded, it hashes big files faster.
    """
    made: _Hash = sha256(data)
    return made


def hex_digest(data: bytes) -> str:
    """The digits of a `digest`."""
    return digest(data).hexdigest()


Stamps = dict["Path", Stamp]
"""The stamp of each existing file."""


def stamps(paths: Iterable[Path]) -> Stamps:
    """The present stamps of files."""
    return {path: stamp for path in paths if (stamp := stamp_of(path))}


class Watch:
    """A file that is checked repeatedly for changes.

    Args:
        path: The file.
        seen: Whether its present content is known; otherwise the first check reports a change.
    """

    def __init__(self, path: Path, *, seen: bool = True) -> None:
        self._path = path
        self._seen: Stamps = stamps([path]) if seen else {}

    def touched(self) -> bool:
        """Whether the file has changed since the last call."""
        before, self._seen = self._seen, stamps([self._path])
        return before != self._seen
