"""Descriptor 0 and streams over it, where answers come from: each reading is a question."""

from __future__ import annotations

import io
from os import close, fstat, read  # the originals: they are patched later

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

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


class Answers:
    """The answers as one stream of bytes, whoever reads it.

    Args:
        ask: Stops at a question with a prompt until there is an answer: `Log.ask`.
    """

    def __init__(self, ask: Callable[[str], str]) -> None:
        _known.append(_place(0))
        self._ask = ask
        self._rest = b""
        self.used = False
        """Whether answers were read in other ways than by `input`."""
        self.prompt = ""
        """The prompt of the next question."""

    def read(self, most: int) -> bytes:
        """The rest of an answer, or the next one; empty at the end of input."""
        self.used = True
        if not self._rest:
            prompt, self.prompt = self.prompt, ""
            answer = self._ask(prompt)
            if answer == END_OF_INPUT:
                return b""
            self._rest = encode(answer) + b"\n"
        part, self._rest = self._rest[:most], self._rest[most:]
        return part


class RawIn(io.RawIOBase):
    """A raw stream over descriptor 0 or a copy of it.

    Args:
        answers: The answers.
        fd: The descriptor.
        name: The name of the stream.
        owns: Whether it closes the descriptor.
    """

    def __init__(self, answers: Answers, fd: int, name: Any, *, owns: bool) -> None:
        self._answers = answers
        self._fd = fd
        self._owns = owns
        self.name = name

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        if self.closed:
            raise ValueError("I/O operation on closed file")
        return self._fd

    def isatty(self) -> bool:
        return False

    def readinto(self, buffer: Any) -> int:
        # Another file may be in its place, or none.
        source = self._answers.read if gives_answers(self._fd) else self._read
        data = source(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def _read(self, most: int) -> bytes:
        return read(self._fd, most)

    def close(self) -> None:
        if not self.closed:
            super().close()
            if self._owns:
                close(self._fd)


def encode(answer: str) -> bytes:
    """An answer as the bytes a terminal or pipe would deliver."""
    try:
        return answer.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return answer.encode("utf-8", "surrogatepass")
