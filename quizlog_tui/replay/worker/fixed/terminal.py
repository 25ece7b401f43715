"""Gives the standard streams the size of a terminal, which they are not."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SIZE = (80, 24)
"""Columns and rows."""
_WITH_OWN_SIZE = frozenset({"shutil", "rich"})
"""Libraries with a size of their own, often the script's choice, where there is no terminal."""


def install(size: tuple[int, int]) -> None:
    """Replace `os.get_terminal_size`."""
    if not hasattr(os, "get_terminal_size"):
        return
    real, frame = os.get_terminal_size, sys._getframe

    def get_terminal_size(fd: Any = 1, /) -> os.terminal_size:
        caller = frame(1).f_globals.get("__name__", "").partition(".")[0]
        if fd not in (0, 1, 2) or caller in _WITH_OWN_SIZE:
            return real(fd)
        return os.terminal_size(size)

    os.get_terminal_size = get_terminal_size
