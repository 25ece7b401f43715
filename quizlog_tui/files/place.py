"""Where quizlog may make a file: one rule for all that it writes beside a record or by a name.

A folder from elsewhere may hold a link, a pipe or somebody's file under the name that quizlog
would choose, so that what a script prints would get into a file outside, or replace it. Where the
content of a file or folder is trusted, nobody else may be able to write it (`own_folder`).
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

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
