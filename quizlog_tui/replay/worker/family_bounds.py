"""Bounds on the number and the memory of all processes that a script has started.

The guard checks them from outside, as the script cannot be trusted. Limits of the system would not
do: they spare root, or count other processes of the user.
"""

from __future__ import annotations

import contextlib
import math
import os
from time import monotonic

_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
_SHARED_BY_FORKS = 8
"""Number of processes up to which shared memory counts in full; shares cost 1 ms each."""
_AT_LEAST, _OFTEN, _SELDOM = 0.01, 0.05, 1.0
"""Seconds between two checks: after a change, while there are processes, while there are none."""


class FamilyBounds:
    """The bounds of one family of processes; 0 means none."""

    def __init__(self) -> None:
        self.processes = 0
        """Maximum number of concurrent processes of the script; threads count as processes."""
        self.memory = 0
        """Maximum bytes of memory of all of them together."""
        self.quizzes: set[int] = set()
        """The processes that run the script itself; each is bounded alone."""
        self.schedule = CheckSchedule()

    def started(self, below: list[int]) -> list[int]:
        """The processes that the script started, among all below the guard."""
        return [pid for pid in below if pid not in self.quizzes]

    def exceeds(self, started: list[int]) -> str:
        """The exceeded bound: `processes`, `threads` or `memory`; empty if none."""
        if self.processes and len(started) > self.processes:
            return "processes"
        if self.processes and sum(map(_threads, started)) > self.processes:
            return "threads"
        return "memory" if self.memory and self._hold_too_much(started) else ""

    def _hold_too_much(self, started: list[int]) -> bool:
        if sum(sum(_pages(pid)) for pid in started) <= self.memory:
            return False  # every sum below is smaller
        own, shared = map(sum, zip(*map(_held, started)))
        if own > self.memory and len(started) <= _SHARED_BY_FORKS:
            return True
        return own + shared > self.memory and sum(map(_share, started)) > self.memory

    def exceeded_by_quiz(self) -> str:
        """The bound that a process of the script itself exceeds: `threads`, or `shared` memory.

        Its private memory is bounded by the system, which does not count shared memory.
        """
        if self.processes and any(_threads(pid) - 1 > self.processes for pid in self.quizzes):
            return "threads"
        most = self.memory or math.inf
        much = (pid for pid in self.quizzes if _pages(pid)[1] > most)
        return "shared" if any(_held(pid)[1] > most for pid in much) else ""


class CheckSchedule:
    """When to check the bounds: after each change, but not all the time."""

    def __init__(self) -> None:
        self._due = self._least = 0.0

    def request(self) -> None:
        """Request a check as soon as the minimum time since the last one is over."""
        self._due = min(self._due, self._least)

    def finish(self, began: float, *, found: bool) -> None:
        """Note the end of a check.

        Args:
            began: The time at which it began.
            found: Whether there were processes.
        """
        now = monotonic()
        self._least = now + max(
            _AT_LEAST, now - began
        )  # at most half of the time is spent on checks
        self._due = max(self._least, now + (_OFTEN if found else _SELDOM))

    @property
    def pause(self) -> float:
        """Seconds until the next check; 0 if it is due."""
        return max(0.0, self._due - monotonic())


def children(pid: int) -> list[int]:
    """The children of a process, whichever of its threads started them."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            words = contents(f"/proc/{pid}/task/{thread}/children").split()
            found += [int(word) for word in words]
    return found


def contents(path: str) -> bytes:
    """The content of a file in /proc, read without a file object, which would cost more."""
    fd, parts = os.open(path, os.O_RDONLY), []
    try:
        while part := os.read(fd, 1 << 16):
            parts.append(part)
    finally:
        os.close(fd)
    return b"".join(parts)


def _threads(pid: int) -> int:
    """Number of threads of a process."""
    try:
        return os.stat(f"/proc/{pid}/task").st_nlink - 2
    except OSError:
        return 1


def _pages(pid: int) -> tuple[int, int]:
    """Bytes of private memory, and of files and shared memory."""
    try:
        fields = contents(f"/proc/{pid}/statm").split()
    except OSError:
        return 0, 0
    shared = int(fields[2]) * _PAGE
    return int(fields[1]) * _PAGE - shared, shared


def _held(pid: int) -> tuple[int, int]:
    """Bytes of private memory, including that shared by forks; and of shared memory."""
    try:
        status = contents(f"/proc/{pid}/status")
    except OSError:
        return 0, 0
    return _kilobytes(status, b"RssAnon:"), _kilobytes(status, b"RssShmem:")


def _kilobytes(status: bytes, name: bytes) -> int:
    words = status.partition(name)[2].split(maxsplit=1)
    return int(words[0]) * 1024 if words else 0  # one that has ended holds nothing


def _share(pid: int) -> int:
    """Bytes of memory, with shared pages divided among all their users."""
    try:
        lines = contents(f"/proc/{pid}/smaps_rollup").splitlines()
    except OSError:  # its memory cannot be examined
        return sum(_held(pid))
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(b"Pss:"))
