"""The bytes of a quiz process's streams, and the texts that a worker reports of them.

The bytes are the truth. The report only says where one `print()` ends and the next one begins. Text
that the bytes do not confirm is replaced by the bytes. Decides no verdict.
"""

from __future__ import annotations

import codecs
import os
import resource
from collections.abc import Iterable
from typing import Any

from .protocol import RawStep, Violation

MAX_UNREPORTED = 1 << 20
"""Maximum bytes of output of answered questions that the process need not report at once."""
_MOST_UNWRITTEN = 1 << 16
"""Maximum bytes of text in a script's buffers at a question; each buffer holds 8 KiB."""


class CapturedOutput:
    """The files for stdout and stderr, and the positions of the last reported stop.

    Args:
        out: Descriptor of the file for stdout.
        err: Descriptor of the file for stderr.
        limit: Maximum bytes from one stop to the next; 0 for no limit.
    """

    def __init__(self, out: int, err: int, limit: int) -> None:
        self.out, self.err = out, err
        self._limit = limit
        self._reported = 0
        self._out_end = self._err_end = 0
        self._room = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
        """Maximum bytes of a file on this system; negative for no bound."""

    def stop(self, size: int) -> bool:
        """Note the next stop; return whether it was reached within the limit.

        Args:
            size: Bytes in both files at the stop.
        """
        before, self._reported = self._reported, size
        return not self._limit or size - before <= self._limit

    @property
    def size(self) -> int:
        """Present number of bytes in both files."""
        return os.fstat(self.out).st_size + os.fstat(self.err).st_size

    @property
    def full(self) -> bool:
        """Whether one of the files can take no more, so that the script's writes fail."""
        if self._room == resource.RLIM_INFINITY:
            return False
        return max(os.fstat(self.out).st_size, os.fstat(self.err).st_size) >= self._room

    def check(self, steps: Iterable[RawStep]) -> None:
        """Check the positions that steps claim against the files.

        Raises:
            Violation: There are no such positions.
        """
        out_before, err_before = self._out_end, self._err_end
        for step in steps:
            at = self._out_end
            for entry in step.entries + step.asked:
                if not isinstance(entry, str):
                    if not at <= entry[0] <= entry[1] <= step.out_end:
                        raise Violation("it reported output that does not exist")
                    at = entry[1]
            if step.out_end < at or step.err_end < self._err_end:
                raise Violation("it reported output that does not exist")
            self._out_end, self._err_end = step.out_end, step.err_end
        # Positions only rise: the last one covers all; one that has not risen was checked before.
        if self._out_end != out_before:
            _check_reached(self.out, self._out_end)
        if self._err_end != err_before:
            _check_reached(self.err, self._err_end)

    def floods(self) -> bool:
        """Whether more was written than one step and the unreported ones may write."""
        return bool(self._limit) and self.size - self._reported > self._limit + MAX_UNREPORTED

    def stdout(self, start: int, end: int | None = None) -> bytes:
        """Bytes of stdout between two positions."""
        return _read(self.out, start, end)

    def stderr(self, start: int, end: int | None = None) -> bytes:
        """Bytes of stderr between two positions."""
        return _read(self.err, start, end)

    def close(self) -> bool:
        """Close the files; return whether they were open."""
        if self.out < 0:
            return False
        os.close(self.out)
        os.close(self.err)
        self.out = self.err = -1
        return True


def _check_reached(fd: int, end: int) -> None:
    """Check a claimed position against the size of a file."""
    if end > os.fstat(fd).st_size:
        raise Violation("it reported output that does not exist")


def _read(fd: int, start: int, end: int | None) -> bytes:
    size = (os.fstat(fd).st_size if end is None else end) - start
    parts = []
    while size > 0 and (part := os.pread(fd, min(size, 1 << 26), start)):
        parts.append(part)
        start, size = start + len(part), size - len(part)
    return b"".join(parts)


class WrittenText:
    """Checks the output of one process from stop to stop."""

    def __init__(self) -> None:
        self.unwritten = b""
        """Text that was reported and has not left the process yet."""
        self.disagrees = False
        """Whether a report contradicted the bytes, and nothing explains it."""

    def copy(self) -> WrittenText:
        """The state for a copy of the process, which continues at the same stop."""
        copy = WrittenText()
        copy.unwritten, copy.disagrees = self.unwritten, self.disagrees
        return copy

    def texts(self, step: RawStep, data: bytes, writing: tuple[str, str] | None) -> tuple[str, ...]:
        """The strings written in one step, prompt excluded.

        Args:
            step: The worker's report of the step.
            data: The bytes of the step.
            writing: Encoding and newline; None unless the script changed them.
        """
        start = step.out_end - len(data)
        account = step.entries + step.asked
        texts = [entry for entry in account if isinstance(entry, str)]
        own = data if len(texts) == len(account) else _without(account, data, start)
        reported = _encoded("".join(texts), writing)
        if reported is not None and self._confirms(reported, own):
            return tuple(_strings(step.entries, data, start))
        self.unwritten = b""
        self.disagrees = self.disagrees or writing is None
        return tuple(lines(data, writing))

    def late(self, data: bytes) -> tuple[str, ...]:
        """The strings written after the worker's last report."""
        new = data.removeprefix(self.unwritten)
        self.unwritten = b""
        return tuple(lines(new))

    def _confirms(self, reported: bytes, own: bytes) -> bool:
        """Whether the bytes are as reported, except for text that waits in a buffer."""
        reported = self.unwritten + reported
        rest = reported[len(own) :]
        if not reported.startswith(own) or len(rest) > _MOST_UNWRITTEN:
            return False
        self.unwritten = rest
        return True


def _strings(entries: Iterable[Any], data: bytes, start: int) -> Iterable[str]:
    for entry in entries:
        if isinstance(entry, str):
            yield entry
        else:
            yield from lines(data[entry[0] - start : entry[1] - start])


def lines(data: bytes, writing: tuple[str, str] | None = None) -> list[str]:
    """Bytes as lines of text; undecodable bytes are kept as surrogates."""
    encoding = _known(writing[0]) if writing else None
    text = data.decode(encoding or "utf-8", "surrogateescape")
    parts = text.split("\n")
    return [f"{line}\n" for line in parts[:-1]] + [line for line in parts[-1:] if line]


def _encoded(text: str, writing: tuple[str, str] | None) -> bytes | None:
    """The bytes of the interpreter's own text; None if they cannot be known."""
    encoding = "utf-8"
    if writing is not None:
        known = _known(writing[0])
        if known is None:
            return None
        encoding, newline = known, writing[1]
        text = text.replace("\n", newline) if newline else text
    try:
        return text.encode(encoding, "surrogateescape")
    except UnicodeError:
        return None


def _known(encoding: str) -> str | None:
    """The encoding if it has no state between characters; None if it has or is unknown."""
    try:
        found = codecs.lookup(encoding).name
    except (LookupError, ValueError):
        return None
    plain = found in ("ascii", "utf-8") or found.startswith(("iso8859-", "cp125", "koi8"))
    return found if plain else None


def _without(entries: Iterable[Any], data: bytes, start: int) -> bytes:
    """The bytes of a step without those that others wrote."""
    parts, at = [], 0
    for entry in entries:
        if not isinstance(entry, str):
            parts.append(data[at : entry[0] - start])
            at = entry[1] - start
    return b"".join([*parts, data[at:]])
