"""Where quizlog may make a file, and how: it replaces files atomically.

A folder from elsewhere may hold a link, a pipe or somebody's file under the name that quizlog
would choose, so that what a script prints would get into a file outside, or replace it:
`check_place` is the one rule for all that is written beside a record or by a name. Where the
content of a file or folder is trusted, nobody else may be able to write it (`own_folder`).

After a crash a file holds all of its old or all of its new content. The new content is written
under a temporary name, synced to the disk and renamed over the old file; then the folder is synced.
Only the small files in the settings folder, of what the user has allowed or chosen, are not synced
(`write_own_text`).
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple, Self

from ..errors import ConfigError, RecordError


class FileKind(NamedTuple):
    """A kind of file that quizlog makes. A tuple, as each shell call needs one, at once."""

    about: str
    """What it is, with its article."""
    is_own: Callable[[Path], bool]
    """Whether quizlog wrote a regular file; only such a file is replaced or added to."""
    beside: bool = False
    """Whether it stands beside a record that is open, so that its folder was the user's choice."""
    makes_folder: bool = False
    """Whether its folder is made with it."""


def asked_before(path: Path) -> bool:
    """Nothing in such a file says who wrote it: whoever replaces one has asked the user."""
    return True


def check_place(path: Path, kind: FileKind) -> None:
    """Refuse a place where a file of a kind may not be made. A folder is left to the writer.

    Raises:
        RecordError: There is a link, a pipe or the like, or a file that quizlog did not write; or
            a link on the way leads out of the folder that holds it.
    """
    if not kind.beside:
        check_way(path)
    try:
        info = os.lstat(path)
    except (OSError, ValueError):  # nothing is there, or the writer finds out why not
        return
    if stat.S_ISLNK(info.st_mode):
        hint = "remove it, or name the file that it leads to"
        raise RecordError("is a link: it is not followed", where=str(path), hint=hint)
    if stat.S_ISDIR(info.st_mode) or (stat.S_ISREG(info.st_mode) and not info.st_size):
        return
    if not stat.S_ISREG(info.st_mode):
        hint = "choose another name"
        raise RecordError("exists and is no regular file", where=str(path), hint=hint)
    if not kind.is_own(path):
        hint = "choose another name, or move that file away"
        message = f"exists and is not {kind.about} of quizlog"
        raise RecordError(message, where=str(path), hint=hint)


def check_way(path: Path) -> None:
    """Refuse a folder on the way that is a link which leads out of the folder that holds it.

    Links that only the administrator can have made are no stranger's.

    Raises:
        RecordError: There is such a link.
    """
    for folder in path.parents:
        if folder.is_symlink() and not _is_of_the_system(folder):
            real, holder = os.path.realpath(folder), os.path.realpath(folder.parent)
            if os.path.commonpath([holder, real]) != holder:
                message, hint = f"leads to {real}", "name that folder if you want the file there"
                raise RecordError(message, where=str(path), hint=hint)


def _is_of_the_system(link: Path) -> bool:
    return hasattr(os, "geteuid") and os.geteuid() != 0 and link.lstat().st_uid == 0


_NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


def own_folder(path: Path) -> None:
    """Make a folder that only this user can enter, with its parents; an existing one must be so.

    Raises:
        ConfigError: It is a link or no folder, belongs to somebody else, is open to others, or
            cannot be made.
    """
    try:
        if not os.path.lexists(path):
            path.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise ConfigError(f"cannot be made: {error.strerror}", where=str(path)) from None
    _check_own(path, stat.S_ISDIR, "a folder", 0o700)


def own_file(path: Path) -> None:
    """Make an empty file that only this user can read; an existing one must be so.

    Raises:
        ConfigError: As `own_folder`, for a file. Its folder counts too: who may write that can
            replace the file.
    """
    _check_own(path.parent, stat.S_ISDIR, "a folder", 0o755)
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | _NO_LINK, 0o600))
    except OSError as error:
        if not os.path.lexists(path):
            raise ConfigError(f"cannot be made: {error.strerror}", where=str(path)) from None
    _check_own(path, stat.S_ISREG, "a regular file", 0o600)


def _check_own(path: Path, is_kind: Callable[[int], bool], kind: str, most: int) -> None:
    """Refuse what is no `kind` of this user's own, or has a mode beyond `most`."""
    try:
        info = os.lstat(path)
    except OSError as error:
        raise ConfigError(f"cannot be used: {error.strerror}", where=str(path)) from None
    if not is_kind(info.st_mode):
        what = "a link" if stat.S_ISLNK(info.st_mode) else f"not {kind}"
        raise ConfigError(f"is {what}", where=str(path), hint=f"name {kind} of your own")
    if hasattr(os, "geteuid") and info.st_uid != os.geteuid():
        raise ConfigError("belongs to somebody else", where=str(path), hint="name one of your own")
    if os.name == "posix" and stat.S_IMODE(info.st_mode) & ~most & 0o077:
        hint = f"chmod {most:o} {path}"
        raise ConfigError("others may use it", where=str(path), hint=hint)


_HINTS = {
    "ENOSPC": "make room on the disk, then repeat; nothing was changed",
    "EDQUOT": "make room within your quota, then repeat; nothing was changed",
    "ENOENT": "make the folder first",
    "ENOTDIR": "name a file in a folder",
    "EISDIR": "name a file, not a folder",
    "EFBIG": "raise the limit on the size of files (`ulimit -f`); nothing was changed",
}


class Draft:
    """The next content of a file, stored under a temporary name until `put` renames it.

    Args:
        path: The file; what may be there is for `check_place` to say. A link is replaced.
        data: Its next content.

    Raises:
        RecordError: It cannot be written; the temporary file is removed.
    """

    def __init__(self, path: Path, data: bytes) -> None:
        self._path = path
        self.target = Path(os.path.realpath(path.parent), path.name)
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
        if self.target.exists():  # first: what others may not read they cannot read here either
            os.fchmod(self.fd, stat.S_IMODE(self.target.stat().st_mode))
        _write_all(self.fd, data)
        os.fsync(self.fd)

    def put(self) -> None:
        """Replace the file by this draft.

        Raises:
            RecordError: The file cannot be replaced; it is unchanged.
        """
        try:
            os.replace(self._temporary, self.target)
        except OSError as error:
            raise unwritable(error, self._path) from None
        self._placed = True

    def close(self) -> None:
        """Close the draft; remove it unless it was put in place."""
        if not self._placed:
            with contextlib.suppress(OSError):
                os.unlink(self._temporary)
        with contextlib.suppress(OSError):  # its data is already on the disk
            os.close(self.fd)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _made(temporary: Path) -> int:
    """Create an empty file, replacing what is at its path; symbolic links are not followed."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(temporary)
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    make_usable(fd)
    return fd


def make_usable(fd: int) -> None:
    """Give the owner read and write permission on a file made here, whatever the umask is."""
    mode = stat.S_IMODE(os.fstat(fd).st_mode)
    if mode & 0o600 != 0o600:
        with contextlib.suppress(OSError):
            os.fchmod(fd, mode | 0o600)


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def sync_folders(files: Iterable[Path]) -> str | None:
    """Sync the folders of files that were put in place; return a warning if that fails.

    No warning is given on network file systems that do not support syncing a folder.
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


def write_bytes(path: Path, data: bytes, kind: FileKind) -> str | None:
    """Make or replace a file; return a warning if the new content may not survive a power cut.

    Raises:
        RecordError: A file of this kind may not be made there, or it cannot be written; what was
            there is unchanged.
    """
    check_place(path, kind)
    if kind.makes_folder:
        _make_folder(path)
    with Draft(path, data) as draft:
        draft.put()
    return sync_folders([draft.target])


def _make_folder(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(error, path) from None


def write_text(path: Path, text: str, kind: FileKind) -> str | None:
    """Make or replace a file of text in UTF-8, as `write_bytes` does."""
    return write_bytes(path, text.encode("utf-8"), kind)


def unwritable(error: OSError, path: Path) -> RecordError:
    """The error for a file that cannot be written."""
    hint = "make the folder writable, or copy the record elsewhere"
    hint = _HINTS.get(errno.errorcode.get(error.errno or 0, ""), hint)
    return RecordError(f"cannot write: {error.strerror}", where=str(path), hint=hint)


def write_own_text(path: Path, text: str) -> None:
    """Replace a file in the settings folder at once, or make it with its folder.

    It is not synced: if it is lost, the user is asked again.

    Raises:
        OSError: It cannot be written; it is unchanged.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(path)
