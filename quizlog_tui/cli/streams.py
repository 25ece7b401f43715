"""What a command reads and writes: its streams, its one JSON object, its messages, its progress.

The standard streams are prepared in whatever state the caller left them. A closed stream is opened
on the null device. Messages that cannot be written to stderr are dropped, since the exit code says
what matters. Data that cannot be written to stdout is an error, reported once. Characters that the
encoding lacks are written as escapes.

Pauses Python's garbage collection while many lasting objects are created.
"""

from __future__ import annotations

import gc
import io
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

from ..errors import OutputError, UsageError
from ..text import first_lines, one_line, told_once, visible

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

    from ..record.private_text import PrivateFinding


class ReaderLeft(Exception):
    """The reader of stdout has closed it."""


def prepare() -> None:
    """Make the three streams of this process usable."""
    if sys.stdin is None:
        sys.stdin = open(0, closefd=False)  # noqa: SIM115  it stays open
    sys.stdout = _stream(1, sys.stdout, _refuse_data)
    sys.stderr = _stream(2, sys.stderr, lambda error: None)


def _stream(fd: int, given: TextIO | None, failed: Callable[[OSError], None]) -> TextIO:
    """A text stream like Python's own, if there is one."""
    by_lines = fd == 2 or (isinstance(given, io.TextIOWrapper) and given.line_buffering)
    return io.TextIOWrapper(
        io.BufferedWriter(_Output(fd, failed)),
        encoding=given.encoding if given else "utf-8",
        errors="backslashreplace",
        line_buffering=by_lines,
    )


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


def _refuse_data(error: OSError) -> None:
    if isinstance(error, BrokenPipeError):
        raise ReaderLeft from None
    hint = "send it where there is room"
    raise OutputError(f"cannot write: {error.strerror}", where="stdout", hint=hint) from None


def drawing(stream: TextIO) -> Callable[[str], str]:
    """What makes a script's output safe to show: in its colours where a terminal may have them."""
    if not stream.isatty() or os.environ.get("TERM") == "dumb":
        return visible
    from ..terminal_text import colored, plain  # its patterns take longer than to write to a pipe

    return plain if os.environ.get("NO_COLOR") else colored


def say(text: str) -> None:
    """Write a one-line message to stderr."""
    print(f"quizlog: {one_line(text)}", file=sys.stderr)


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


_emitted: list[dict[str, Any]] = []
"""The objects written so far: a later error must not write a second one."""


def emit_json(data: dict[str, Any]) -> None:
    """Write the single JSON object of a command."""
    import json

    print(json.dumps({"schema_version": 1} | data))
    _emitted.append(data)


def is_emitted() -> bool:
    """Whether this command has written its object."""
    return bool(_emitted)


def begin_command() -> None:
    """Forget what an earlier command of this process has written."""
    _emitted.clear()


_EVERY_SECONDS = 0.1
"""Minimum seconds between two updates."""


class ProgressLine:
    """A progress line on stderr that is overwritten; nothing if stderr is not a terminal."""

    def __init__(self) -> None:
        self._shown = sys.stderr.isatty()
        self._last = 0.0

    def __call__(self, doing: str, done: int, count: int) -> None:
        """Show the progress, a few times per second at most."""
        now = time.monotonic()
        if self._shown and now - self._last >= _EVERY_SECONDS:
            self._last = now
            share = f"{done} of {count}" if count else str(done)
            print(f"\r\x1b[K{doing}: {share}", end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        """Remove the line."""
        if self._last:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
            self._last = 0.0


def tell_private(findings: Sequence[PrivateFinding], head: str) -> None:
    """List private text on stderr below a heading."""
    from ..record.private_text import listed

    if findings:
        print(f"-- {head}:", file=sys.stderr)
    for line in listed(findings):
        print(f"   {one_line(line)}", file=sys.stderr)


def private_data(findings: Sequence[PrivateFinding], *, removed: bool) -> list[dict[str, Any]]:
    """The findings as data for JSON."""
    return [found._asdict() | {"removed": removed} for found in findings]


@contextmanager
def search_paused() -> Iterator[None]:
    """Pause garbage collection, since each pass would go through everything created so far."""
    searched = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if searched:
            gc.enable()


FOR_CODE = "pip install 'quizlog-tui[solver]' installs the libraries that models' code may use"
"""The hint for a missing library that the sandbox would load."""


def needs(extra: str, *modules: str) -> None:
    """Make sure that the libraries of an extra are installed.

    Raises:
        UsageError: One is missing.
    """
    from importlib.util import find_spec

    missing = [name for name in modules if find_spec(name) is None]
    if missing:
        hint = f"pip install 'quizlog-tui[{extra}]'"
        raise UsageError(f"needs {' and '.join(missing)}", hint=hint)
