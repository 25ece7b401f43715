"""Stamps that show whether files have changed, without reading them, and a watch that compares."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from pathlib import Path

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


Stamps = dict[Path, Stamp]
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
