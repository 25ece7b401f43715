"""A cache of scripts, which are read again only when their files have changed.

A script that requests a grant is read each time, as what is granted to it may change.
"""

from __future__ import annotations

import os
from pathlib import Path

from ...files.regular_file import Stamp, is_settled, stamp_of
from .granted import granted_source
from .source import Source

_MOST = 256
"""Maximum number of scripts in the cache."""


class SourceCache:
    """Scripts that were read, each valid until its file changes."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[Stamp, Source]] = {}

    def source(self, path: str | Path) -> Source:
        """The script as it is now.

        Raises:
            ScriptError: It cannot be read.
        """
        name = _absolute(path)
        stamp = stamp_of(name)
        known = self._kept.get(name)
        if known and known[0] == stamp:
            return known[1]
        self._kept.pop(name, None)
        source = granted_source(Path(path))
        if is_settled(stamp) and not source.asked:  # a request may be granted at any time
            self._keep(name, stamp, source)
        return source

    def _keep(self, name: str, stamp: Stamp, source: Source) -> None:
        if len(self._kept) >= _MOST:
            self._kept.clear()
        self._kept[name] = stamp, source


def _absolute(path: str | Path) -> str:
    """The absolute path of a file; empty if the current folder is gone."""
    name = os.fspath(path)
    try:
        return name if os.path.isabs(name) else os.path.join(os.getcwd(), name)
    except OSError:
        return ""
