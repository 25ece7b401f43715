"""Keeps the files that scripts write, if the user asks for them.

Normally a run writes to a private folder that is discarded with it. Here the folder is on disk, and
new or changed files are copied out of it when the runs are over.
"""

from __future__ import annotations

import contextlib
import filecmp
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from ..errors import LimitError, UsageError
from ..files.durable import check_way
from ..files.scratch import Scratch

MOST_BYTES = 2**30
"""Maximum number of bytes that are copied out of one run."""


class Keeper:
    """Makes a folder for each run, and copies the files out of the last one.

    Args:
        base: The folder in which the folders are made.
    """

    def __init__(self, base: Path) -> None:
        self._base = base
        self._runs: list[Path] = []

    def folder(self) -> str:
        """A fresh folder for a run; its subfolder `files` takes the files."""
        run = self._base / str(len(self._runs))
        for name in ("files", "work"):
            (run / name).mkdir(parents=True)
        self._runs.append(run)
        return str(run)

    def copy_out(self, original: Path, target: Path) -> list[str]:
        """Copy the files that the last run wrote; return their names, relative to its folder.

        Args:
            original: The script's own folder; files that are equal there were not written.
            target: The folder for the files, which must be empty.

        Raises:
            LimitError: They have more than `MOST_BYTES` together; nothing was copied.
        """
        if not self._runs:
            return []
        written = self._runs[-1] / "files"
        names = [name for name in _files(written) if not _same(written / name, original / name)]
        if sum((written / name).lstat().st_size for name in names) > MOST_BYTES:
            message = f"the script wrote more than {MOST_BYTES / 2**30:g} GB of files"
            raise LimitError(message, where=str(target), hint="none of them was copied")
        for name in names:
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            _copy(written / name, target / name)
        return names


@contextlib.contextmanager
def keeper(target: Path) -> Iterator[Keeper]:
    """A keeper of files for the folder `target`, which is made if it does not exist.

    Raises:
        RecordError: A link leads to it.
        UsageError: The folder cannot be made or written, or it is not empty.
    """
    check_way(target / "file")
    try:
        target.mkdir(parents=True, exist_ok=True)
        if any(target.iterdir()):
            hint = "name a new folder: what lies there could be a link that a script left"
            raise UsageError("is not empty", where=str(target), hint=hint)
        base = Scratch("keep")  # not in the same folder, where the script could see it
    except OSError as error:
        hint = "name a folder that can be written"
        raise UsageError(f"cannot write: {error.strerror}", where=str(target), hint=hint) from None
    with base:
        yield Keeper(base.path)


def _copy(source: Path, target: Path) -> None:
    """Copy a file with the mode of a file made by the user; copy a link as a link.

    Neither name may be followed elsewhere: the script made the one, and may know the other.
    """
    if source.is_symlink():
        target.symlink_to(os.readlink(source))
        return
    mode = 0o777 if source.stat().st_mode & 0o100 else 0o666
    reading = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with open(reading, "rb") as data:
        writing = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode)
        with open(writing, "wb") as copy:
            shutil.copyfileobj(data, copy)


def _files(folder: Path) -> Iterator[str]:
    """Relative names of the files and links below a folder, without marks of removed files."""
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        for name in sorted(names):
            path = Path(place, name)
            if path.is_symlink() or path.is_file():
                yield str(path.relative_to(folder))


def _same(one: Path, other: Path) -> bool:
    if one.is_symlink() or other.is_symlink() or not other.is_file():
        return False
    return filecmp.cmp(one, other, shallow=False)
