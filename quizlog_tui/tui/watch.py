"""Notices that files were changed, by their time and size. Reads none of them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

Stamps = dict[Path, tuple[int, int]]
"""Time and size of each file that is there."""


def stamps(paths: Iterable[Path]) -> Stamps:
    """How the files stand now."""
    found = {}
    for path in paths:
        try:
            info = path.stat()
        except OSError:
            continue
        found[path] = (info.st_mtime_ns, info.st_size)
    return found


class Watch:
    """One file, looked at again and again.

    Args:
        path: The file.
        seen: Whether its content as it is now is known; else the first look finds it touched.
    """

    def __init__(self, path: Path, *, seen: bool = True) -> None:
        self._path = path
        self._seen: Stamps = stamps([path]) if seen else {}

    def touched(self) -> bool:
        """Whether the file is another than at the last call."""
        before, self._seen = self._seen, stamps([self._path])
        return before != self._seen
