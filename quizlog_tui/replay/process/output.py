"""The output of a quiz process: the files for its streams, and how much of it is new."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterable

from .protocol import RawStep, Violation

MAX_UNREPORTED = 1 << 20
"""Maximum bytes of output of answered questions that the process need not report at once."""


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
