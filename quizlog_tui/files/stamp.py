"""What tells that files are as they were, without reading them."""

from __future__ import annotations

import os
import time
from pathlib import Path

Stamp = tuple[tuple[int, int, int, int, int], ...]
"""Device, number, times of change (of content, of anything) and size of files."""
_SETTLED = 100_000_000
"""Nanoseconds after a change in which another may leave no trace: clocks of files are coarse."""


def stamp_of(*paths: str | Path) -> Stamp:
    """The files as they are now; empty if one cannot be looked at."""
    found = []
    for path in paths:
        try:
            info = os.stat(path)
        except (OSError, ValueError):
            return ()
        found.append((info.st_dev, info.st_ino, info.st_mtime_ns, info.st_ctime_ns, info.st_size))
    return tuple(found)


def is_settled(stamp: Stamp) -> bool:
    """Whether any later change of these files will show in their stamp."""
    newest = max((max(changed, touched) for _, _, changed, touched, _ in stamp), default=None)
    return newest is not None and time.time_ns() - newest > _SETTLED
