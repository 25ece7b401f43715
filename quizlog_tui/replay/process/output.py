"""What a quiz process wrote: the files that take its streams, and how much of it is new."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterable

from .protocol import RawStep, Violation

MAX_UNREPORTED = 1 << 20
"""Bytes of answered questions of which the process need not tell at once."""


class Output:
    """The files that take stdout and stderr, and where the last stop told of lies in them.

    Args:
        out: Descriptor of the one for stdout.
        err: Of the one for stderr.
        limit: Bytes that may be written from one stop to the next; 0 for no limit.
    """

    def __init__(self, out: int, err: int, limit: int) -> None:
        self.out, self.err = out, err
        self._limit = limit
        self._reported = 0
        self._out_end = self._err_end = 0
        self._room = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
        """Bytes that the system lets a file have; negative for no bound."""

    def stop(self, size: int) -> bool:
        """Note the next stop; whether it was reached within the limit.

        Args:
            size: Bytes in both files by then.
        """
        before, self._reported = self._reported, size
        return not self._limit or size - before <= self._limit

    @property
    def size(self) -> int:
        """Bytes in both files now."""
        return os.fstat(self.out).st_size + os.fstat(self.err).st_size

    @property
    def full(self) -> bool:
        """Whether one of the files can take no more: what the script writes then fails."""
        if self._room == resource.RLIM_INFINITY:
            return False
        return max(os.fstat(self.out).st_size, os.fstat(self.err).st_size) >= self._room

    def check(self, steps: Iterable[RawStep]) -> None:
        """Hold the positions that steps claim against the files.

        Raises:
            Violation: There are no such positions.
        """
        out_before, err_before = self._out_end, self._err_end
        for step in steps:
            at = self._out_end
            for entry in step.entries + step.asked:
                if not isinstance(entry, str):
                    if not at <= entry[0] <= entry[1] <= step.out_end:
                        raise Violation("it told of output that is not there")
                    at = entry[1]
            if step.out_end < at or step.err_end < self._err_end:
                raise Violation("it told of output that is not there")
            self._out_end, self._err_end = step.out_end, step.err_end
        # Positions only rise: the last stands for all, and one that has not risen was looked at.
        if self._out_end != out_before:
            _check_reached(self.out, self._out_end)
        if self._err_end != err_before:
            _check_reached(self.err, self._err_end)

    def floods(self) -> bool:
        """Whether more was written than can be of one step and of those not told of."""
        return bool(self._limit) and self.size - self._reported > self._limit + MAX_UNREPORTED

    def stdout(self, start: int, end: int | None = None) -> bytes:
        """Bytes of stdout between two positions."""
        return _read(self.out, start, end)

    def stderr(self, start: int, end: int | None = None) -> bytes:
        """Bytes of stderr between two positions."""
        return _read(self.err, start, end)

    def close(self) -> bool:
        """Give the files back; whether they were not yet."""
        if self.out < 0:
            return False
        os.close(self.out)
        os.close(self.err)
        self.out = self.err = -1
        return True


def _check_reached(fd: int, end: int) -> None:
    """Hold a position that is claimed in a file against it."""
    if end > os.fstat(fd).st_size:
        raise Violation("it told of output that is not there")


def _read(fd: int, start: int, end: int | None) -> bytes:
    size = (os.fstat(fd).st_size if end is None else end) - start
    parts = []
    while size > 0 and (part := os.pread(fd, min(size, 1 << 26), start)):
        parts.append(part)
        start, size = start + len(part), size - len(part)
    return b"".join(parts)
