"""Folders and files whose content is trusted, so that nobody else may have written it."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

from ..errors import ConfigError

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
    _check(path, stat.S_ISDIR, "a folder", 0o700)


def own_file(path: Path) -> None:
    """Make an empty file that only this user can read; an existing one must be so.

    Raises:
        ConfigError: As `own_folder`, for a file. Its folder counts too: who may write that can
            replace the file.
    """
    _check(path.parent, stat.S_ISDIR, "a folder", 0o755)
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | _NO_LINK, 0o600))
    except OSError as error:
        if not os.path.lexists(path):
            raise ConfigError(f"cannot be made: {error.strerror}", where=str(path)) from None
    _check(path, stat.S_ISREG, "a regular file", 0o600)


def _check(path: Path, is_kind: Callable[[int], bool], kind: str, most: int) -> None:
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
