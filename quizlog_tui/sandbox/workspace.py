"""The files for a run, and its folder if the box does not provide one.

Files are passed as open descriptors and copied, so that the run may change its copy. Only regular
files are passed, no links, pipes and devices.
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
    """The workspace cannot be passed to a run."""


class Given(NamedTuple):
    """A file for a run."""

    name: str
    """The path relative to the workspace, with slashes."""
    fd: int
    """A descriptor open for reading; the receiver closes it."""


def files(workspace: Path, most: int) -> Iterator[Given]:
    """The regular files of a workspace, in a fixed order.

    Args:
        workspace: The folder.
        most: Maximum number of bytes of all files.

    Raises:
        WorkspaceError: It is not a readable folder, or is too big.
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
"""The kind of a run's temporary folder, which is part of its name."""


class PrivateFolder:
    """A private folder of a run on the machine's disk, removed with any content when closed.

    Args:
        owner: The user id that should own it, if root makes it for another user.
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
            OSError: Some of it cannot be removed.
        """
        self._scratch.close()
