"""Descriptor 0 and `sys.stdin`, where answers come from: each reading of it is a question."""

from __future__ import annotations

import io
from os import fstat, read  # the originals: they are patched later

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .log import Log

END_OF_INPUT = "\x04"


_known: list[tuple[int, int]] = []
"""Where descriptor 0 led to when the streams were put in place."""


def _place(fd: int) -> tuple[int, int]:
    known = fstat(fd)
    return known.st_dev, known.st_ino


def gives_answers(fd: int) -> bool:
    """Whether a descriptor is 0 as it was at first, or a copy of it."""
    try:
        return _place(fd) in _known
    except OSError:
        return False


class RawIn(io.RawIOBase):
    """The raw stream of `sys.stdin`: each read is a question."""

    name = "<stdin>"

    def __init__(self, log: Log) -> None:
        _known.append(_place(0))
        self._log = log
        self._rest = b""
        self.used = False
        self.prompt = ""

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        return 0

    def isatty(self) -> bool:
        return False

    def readinto(self, buffer: Any) -> int:
        self.used = True
        if not self._rest:
            if not gives_answers(0):  # the script closed it, or put a file in its place
                return self._take(buffer, read(0, len(buffer)))
            prompt, self.prompt = self.prompt, ""
            answer = self._log.ask(prompt)
            if answer == END_OF_INPUT:
                return 0
            self._rest = encode(answer) + b"\n"
        count = self._take(buffer, self._rest)
        self._rest = self._rest[count:]
        return count

    def _take(self, buffer: Any, data: bytes) -> int:
        count = min(len(buffer), len(data))
        buffer[:count] = data[:count]
        return count


def encode(answer: str) -> bytes:
    """An answer as the bytes a terminal or pipe would deliver."""
    try:
        return answer.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return answer.encode("utf-8", "surrogatepass")
