"""Detects changed files by their stamps, without reading them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ..files.regular_file import Stamp, stamp_of

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
