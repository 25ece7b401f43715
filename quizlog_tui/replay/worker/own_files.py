"""Knows which code is the script's own: the script, and the modules in its folder."""

from __future__ import annotations

import os

from . import OWN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType

_STANDARD = os.path.dirname(os.__file__) + os.sep
_FOREIGN = frozenset({"site-packages", "dist-packages", "node_modules"})


class OwnFiles:
    """The files of the script.

    Args:
        script: The path of the script in tracebacks.
        folder: The folder in which it runs, which may have another path.
    """

    def __init__(self, script: str, folder: str) -> None:
        self.script = script
        self._folders = tuple(
            f"{path.rstrip(os.sep)}{os.sep}" for path in (folder, os.path.dirname(script))
        )
        self._known: dict[str, str | None] = {script: ""}

    def name(self, path: str) -> str | None:
        """A file's name relative to the script's folder; empty for the script, None for others."""
        if path not in self._known:
            self._known[path] = self._found(path)
        return self._known[path]

    def _found(self, path: str) -> str | None:
        if path.startswith((_STANDARD, OWN)):
            return None
        for folder in self._folders:
            if path.startswith(folder):
                name = path[len(folder) :]
                parts = name.split(os.sep)
                hidden = any(part[:1] == "." or part in _FOREIGN for part in parts)
                return None if hidden else name
        return None

    def asking(self, frame: FrameType | None) -> tuple[int | None, str]:
        """Where a question is asked, from the innermost frame on.

        Returns:
            The line of the script (None if a thread of a library asks), and `FILE:LINE` if another
            file of the script asks on its behalf.
        """
        place = ""
        while frame is not None:
            name = self.name(frame.f_code.co_filename)
            if name == "":
                return frame.f_lineno, place
            if name and not place:
                place = f"{name}:{frame.f_lineno}"
            frame = frame.f_back
        return None, place
