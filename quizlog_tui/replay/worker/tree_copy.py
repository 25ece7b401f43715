"""Copies a folder for a script where the system permits no overlay over it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection
from os import listdir

_MOST_BYTES, _MOST_FILES = 256 * 2**20, 5000
"""Maximum size of a folder that is copied."""
_LEFT_OUT = frozenset({".git", ".hg", ".venv", "venv", "node_modules", "__pycache__"})


def copy_tree(source: str, target: str, private: Collection[str] = ()) -> bool:
    """Copy a folder without some of its files; return False if it is too big."""
    return _copied(source, target, [_MOST_BYTES, _MOST_FILES], private)


def _copied(source: str, target: str, left: list[int], private: Collection[str] = ()) -> bool:
    try:
        names = listdir(source)
    except PermissionError:
        return True  # nor could the script read it
    for name in names:
        here, there = f"{source}/{name}", f"{target}/{name}"
        if name in private:
            continue
        if os.path.islink(here):
            os.symlink(os.readlink(here), there)
        elif os.path.isdir(here):
            if not target.startswith(f"{here}/") and not is_left_out(here, name):
                os.mkdir(there)
                if not _copied(here, there, left):
                    return False
        elif os.path.isfile(here):
            left[0] -= os.path.getsize(here)
            left[1] -= 1
            if min(left) < 0 or not _copy_file(here, there):
                return False
    return True


def is_left_out(path: str, name: str) -> bool:
    """Whether a folder is left out: version control, environments, caches."""
    return name in _LEFT_OUT or os.path.exists(f"{path}/pyvenv.cfg")


def _copy_file(source: str, target: str) -> bool:
    """Copy a file, with shared blocks if possible; return whether it was copied."""
    try:
        reading = os.open(source, os.O_RDONLY)
    except PermissionError:
        return True  # nor could the script read it
    writing = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, os.fstat(reading).st_mode)
    try:
        while chunk := _piece(reading, writing):
            while chunk:
                chunk = chunk[os.write(writing, chunk) :]
    finally:
        os.close(reading)
        os.close(writing)
    return True


def _piece(reading: int, writing: int) -> bytes:
    """Copy inside the kernel as far as possible; return the next bytes to be written here."""
    with contextlib.suppress(OSError, AttributeError):
        while os.copy_file_range(reading, writing, 1 << 26):
            pass
    return os.read(reading, 1 << 20)
