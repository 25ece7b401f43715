"""Notices that files were changed, by their stamps. Reads none of them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ..files.stamp import Stamp, stamp_of

Stamps = dict[Path, Stamp]
"""The stamp of each file that is there."""


def stamps(paths: Iterable[Path]) -> Stamps:
    """How the files stand now."""
    return {path: stamp for path in paths if (stamp := stamp_of(path))}


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
