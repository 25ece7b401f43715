"""Prepares the standard streams, in whatever state the caller left them.

A closed stream is opened on the null device. Messages that cannot be written to stderr are dropped,
since the exit code says what matters. Data that cannot be written to stdout is an error, reported
once. Characters that the encoding lacks are written as escapes.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from ..errors import OutputError
from ..files.programs import open_standard_descriptors
from ..terminal_text import colored, plain
from ..text import first_lines, one_line, told_once, visible

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class ReaderLeft(Exception):
    """The reader of stdout has closed it."""


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


def tell(head: str, findings: Iterable[tuple[str, str]], noun: str) -> None:
    """Write a list of findings to stderr, like ones once; the command's JSON has each of them.

    Args:
        head: What they are about, before each line; may be empty.
        findings: Place and reason of each; a place may be empty.
        noun: What the places are.
    """
    found = told_once(findings, noun)
    for line in first_lines([f"{place}: {reason}" if place else reason for place, reason in found]):
        print(f"quizlog: {head and f'{head}: '}{one_line(line)}", file=sys.stderr)


@contextmanager
def noting_progress(done: Callable[[], str]) -> Iterator[None]:
    """Add to any error a note on what was done before, also to one raised by flushing stdout.

    Args:
        done: Returns what was done so far, in words; empty for nothing.
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
    """A file descriptor that calls `failed` on its first failed write and drops later data."""

    def __init__(self, fd: int, failed: Callable[[OSError], None]) -> None:
        super().__init__(fd, "w", closefd=False)
        self._failed = failed

    def write(self, data: ReadableBuffer, /) -> int:
        """Write as much as possible."""
        try:
            return super().write(data)
        except OSError as error:
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, self.fileno())
            os.close(null)
            self._failed(error)
            return memoryview(data).nbytes


def _stream(fd: int, given: TextIO | None, failed: Callable[[OSError], None]) -> TextIO:
    """A text stream like Python's own, if there is one."""
    by_lines = fd == 2 or (isinstance(given, io.TextIOWrapper) and given.line_buffering)
    return io.TextIOWrapper(
        io.BufferedWriter(_Output(fd, failed)),
        encoding=given.encoding if given else "utf-8",
        errors="backslashreplace",
        line_buffering=by_lines,
    )
