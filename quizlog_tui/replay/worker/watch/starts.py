"""Decides whether a started thread or program is waited for, or runs in parallel to the script."""

from __future__ import annotations

import os
import sys
from itertools import islice
from types import FrameType

from .. import OWN, STANDARD

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

if sys.version_info >= (3, 11):
    from .wait_reader import WaitReader

_STARTERS = frozenset({"threading", "subprocess", "multiprocessing", "concurrent", "asyncio", "os"})
"""Modules by which scripts start threads and programs."""
_WAITING = frozenset({("subprocess", "run"), ("subprocess", "call")})
"""Functions that wait for what they start."""


class Starts:
    """Judges a start by what the script does next.

    Args:
        script: The path of the script in tracebacks.
        source: The bytes of the script.
        folder: The folder in which it runs, which may have another path.
    """

    def __init__(self, script: str, source: bytes, folder: str) -> None:
        self._folders = (f"{os.path.dirname(script)}/", f"{folder}/")
        self._sources = {script: source}
        self._read: dict[str, WaitReader] = {}

    def turn(self, *, thread: bool) -> str:
        """How what is started now runs: `waited` for at once, of a `library`, or `beside`.

        Args:
            thread: Whether it is a thread.
        """
        frame: FrameType | None = sys._getframe(1)
        by_script = False
        while frame is not None:
            path = frame.f_code.co_filename
            if path.startswith(OWN):
                pass
            elif self._of_library(path):
                top = str(frame.f_globals.get("__name__")).partition(".")[0]
                if (top, frame.f_code.co_name) in _WAITING or top not in _STARTERS:
                    return "beside" if by_script else "library"
            else:
                by_script = True
                found = self._waited(frame, thread=thread)
                if found is not None:
                    return "waited" if found and not _other_tasks() else "beside"
            frame = frame.f_back
        return "beside"

    def _of_library(self, path: str) -> bool:
        """Whether code belongs to Python or a package, wherever the script itself is installed."""
        own = next((folder for folder in self._folders if path.startswith(folder)), "")
        python = path.startswith((STANDARD, "<frozen")) and len(own) < len(STANDARD)
        return python or "-packages/" in path[len(own) :]

    def _waited(self, frame: FrameType, *, thread: bool) -> bool | None:
        """Whether a function of the script waits for what it starts; None if its caller decides."""
        if sys.version_info < (3, 11):
            return False  # such code does not tell which call of a line runs
        positions = islice(frame.f_code.co_positions(), frame.f_lasti // 2, None)
        _, line, _, column = next(positions, (None,) * 4)
        try:
            return self._file(frame.f_code.co_filename).is_waited_for(line, column, thread=thread)
        except (OSError, SyntaxError, ValueError):
            return False

    def _file(self, path: str) -> WaitReader:
        if path not in self._read:
            if path not in self._sources:
                with open(path, "rb") as file:
                    self._sources[path] = file.read()
            self._read[path] = WaitReader(self._sources[path])
        return self._read[path]


def _other_tasks() -> bool:
    """Whether an event loop has something else to do while one of its tasks waits."""
    asyncio: Any = sys.modules.get("asyncio")
    return bool(asyncio and asyncio._get_running_loop() and len(asyncio.all_tasks()) > 1)
