"""The files a run is given, and the folder it works in where a box has none of its own.

Files are handed over as open descriptors and copied: the run may change its copy as it likes. Only
regular files go along; links, pipes and devices stay behind.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ..files.scratch import Scratch

_MOST_FILES = 5000
_OPEN = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


class WorkspaceError(Exception):
    """The workspace cannot be given to a run."""


class Given(NamedTuple):
    """A file to give."""

    name: str
    """Relative to the workspace, with slashes."""
    fd: int
    """Open for reading; the receiver of this closes it."""


def files(workspace: Path, most: int) -> Iterator[Given]:
    """The regular files of a workspace, in a fixed order.

    Args:
        workspace: The folder.
        most: Bytes they may hold together.

    Raises:
        WorkspaceError: It is no readable folder, or holds too much.
    """
    total, count = 0, 0
    for name in _names(workspace):
        try:
            fd = os.open(workspace / name, _OPEN)
        except OSError:
            continue
        about = os.fstat(fd)
        if not stat.S_ISREG(about.st_mode):
            os.close(fd)
            continue
        total, count = total + about.st_size, count + 1
        if total > most or count > _MOST_FILES:
            os.close(fd)
            raise WorkspaceError(f"workspace: more than {most} bytes or {_MOST_FILES} files")
        yield Given(name, fd)


def _names(workspace: Path) -> Iterator[str]:
    def refuse(error: OSError) -> None:
        if error.filename == str(workspace):
            raise WorkspaceError(f"workspace: {error.strerror}: {workspace}") from None

    for folder, folders, names in os.walk(workspace, onerror=refuse):
        folders.sort()
        for name in sorted(names):
            yield Path(folder, name).relative_to(workspace).as_posix()


RUN = "run"
"""The kind of a run's folder, a part of its name."""


class PrivateFolder:
    """A folder of a run's own on the machine's disk, gone when closed whatever was put into it.

    Args:
        owner: Whose it is, when made by root for somebody else.
    """

    def __init__(self, owner: int | None) -> None:
        self._scratch = Scratch(RUN)
        self.path = str(self._scratch.path)
        self.task = os.path.join(self.path, "task")
        self.temporary = os.path.join(self.path, "tmp")
        for folder in (self.task, self.temporary):
            os.mkdir(folder, 0o700)
        if owner is not None:
            os.chmod(self.path, 0o711)
            for folder in (self.task, self.temporary):
                os.chown(folder, owner, owner)

    def close(self) -> None:
        """Remove it.

        Raises:
            OSError: Something of it cannot be removed.
        """
        self._scratch.close()
