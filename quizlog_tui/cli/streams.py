"""The standard streams of the command line, usable in whatever state the caller left them.

A closed one is opened on the null device. Narration that stderr does not take is dropped: the exit
code tells what matters. Data that stdout does not take is an error, told once. Characters that an
encoding lacks are written as escapes.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from ..errors import OutputError
from ..files.inherited import open_standard_descriptors
from ..terminal_text import colored, plain
from ..text import visible

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class ReaderLeft(Exception):
    """Whoever read stdout has left and wants no more."""


def prepare() -> None:
    """Make the three streams of this process usable."""
    open_standard_descriptors()
    if sys.stdin is None:
        sys.stdin = open(0, closefd=False)  # noqa: SIM115  it stays open
    sys.stdout = _stream(1, sys.stdout, _refuse_data)
    sys.stderr = _stream(2, sys.stderr, lambda error: None)


def drawing(stream: TextIO) -> Callable[[str], str]:
    """What makes a script's output safe to show: in its colours where a terminal may have them."""
    if not stream.isatty() or os.environ.get("TERM") == "dumb":
        return visible
    return plain if os.environ.get("NO_COLOR") else colored


@contextmanager
def telling(done: Callable[[], str]) -> Iterator[None]:
    """Let an error say what was done before it: also one that the output meets when flushed.

    Args:
        done: What was done so far, in words; empty for nothing.
    """
    try:
        yield
        sys.stdout.flush()
    except BaseException as error:
        if words := done():
            error.add_note(words)
        raise


def _refuse_data(error: OSError) -> None:
    if isinstance(error, BrokenPipeError):
        raise ReaderLeft from None
    hint = "send it where there is room"
    raise OutputError(f"cannot write: {error.strerror}", where="stdout", hint=hint) from None


class _Output(io.FileIO):
    """A descriptor whose first failed write is handled by `failed`; later data is dropped."""

    def __init__(self, fd: int, failed: Callable[[OSError], None]) -> None:
        super().__init__(fd, "w", closefd=False)
        self._failed = failed

    def write(self, data: ReadableBuffer, /) -> int:
        """Write what the descriptor takes."""
        try:
            return super().write(data)
        except OSError as error:
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, self.fileno())
            os.close(null)
            self._failed(error)
            return memoryview(data).nbytes


def _stream(fd: int, given: TextIO | None, failed: Callable[[OSError], None]) -> TextIO:
    """A text stream like the one that Python made, if it made one."""
    by_lines = fd == 2 or (isinstance(given, io.TextIOWrapper) and given.line_buffering)
    return io.TextIOWrapper(
        io.BufferedWriter(_Output(fd, failed)),
        encoding=given.encoding if given else "utf-8",
        errors="backslashreplace",
        line_buffering=by_lines,
    )
