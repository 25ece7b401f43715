"""What tells that files are as they were; and scripts that are read once while they are."""

from __future__ import annotations

import os
import time
from pathlib import Path

from ..replay.script.source import Source, read_source

Stamp = tuple[tuple[int, int, int], ...]
"""Identity, time of change and size of files."""

_KEPT = 256
"""Scripts kept at most."""
_SETTLED = 100_000_000
"""Nanoseconds after a change in which another may leave no trace: clocks of files are coarse."""


def stamp_of(*paths: Path) -> Stamp:
    """The files as they are now; empty if one cannot be looked at."""
    found = []
    for path in paths:
        try:
            info = os.stat(path)
        except OSError:
            return ()
        found.append((info.st_ino, info.st_mtime_ns, info.st_size))
    return tuple(found)


class Scripts:
    """Scripts that were read, each kept while its file stays as it is."""

    def __init__(self) -> None:
        self._kept: dict[Path, tuple[Stamp, Source]] = {}

    def source(self, path: Path) -> Source:
        """The script as it is now.

        Raises:
            ScriptError: It cannot be read.
        """
        stamp = stamp_of(path)
        known = self._kept.get(path)
        if known and known[0] == stamp:
            return known[1]
        self._kept.pop(path, None)
        source = read_source(path)
        if stamp and time.time_ns() - stamp[0][1] > _SETTLED and len(self._kept) < _KEPT:
            self._kept[path] = stamp, source
        return source
