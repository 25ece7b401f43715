"""How many processes a script has started, and what memory they hold; both are bounded together.

Seen from outside, by the guard: what the script says of itself does not count. A limit of the
system would not do: it spares root, or counts what else the user runs.
"""

from __future__ import annotations

import contextlib
import math
import os
from time import monotonic

_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
_SHARED_BY_FORKS = 8
"""Processes up to which copied memory counts in full; shares cost a millisecond each."""
_AT_LEAST, _OFTEN, _SELDOM = 0.01, 0.05, 1.0
"""Seconds from one look at what a script started to the next: where something may have changed,
while there is something, and while there is nothing."""


class Crowd:
    """The bounds of one family of processes; 0 means none."""

    def __init__(self) -> None:
        self.processes = 0
        """How many the script may have started that run at a time; threads count as processes."""
        self.memory = 0
        """Bytes that these may hold together."""
        self.quizzes: set[int] = set()
        """The processes that run the script itself: bounded each by itself."""
        self.looks = Looks()

    def started(self, below: list[int]) -> list[int]:
        """Those of all processes that the script started."""
        return [pid for pid in below if pid not in self.quizzes]

    def exceeds(self, started: list[int]) -> str:
        """Which bound they are over: `processes`, `memory`; empty if none."""
        if self.processes and len(started) > self.processes:
            return "processes"
        if self.processes and sum(map(_threads, started)) > self.processes:
            return "threads"
        return "memory" if self.memory and self._hold_too_much(started) else ""

    def _hold_too_much(self, started: list[int]) -> bool:
        if sum(sum(_pages(pid)) for pid in started) <= self.memory:
            return False  # no sum below is more
        own, shared = map(sum, zip(*map(_held, started), strict=True))
        if own > self.memory and len(started) <= _SHARED_BY_FORKS:
            return True
        return own + shared > self.memory and sum(map(_share, started)) > self.memory

    def outgrown(self) -> str:
        """Which bound a process is over that runs the script: `threads`, `shared` memory.

        Its own memory is bounded by the system, which does not count what could be shared.
        """
        if self.processes and any(_threads(pid) - 1 > self.processes for pid in self.quizzes):
            return "threads"
        most = self.memory or math.inf
        much = (pid for pid in self.quizzes if _pages(pid)[1] > most)
        return "shared" if any(_held(pid)[1] > most for pid in much) else ""


class Looks:
    """When to look at what a script started: as often as that may change, and not all the time."""

    def __init__(self) -> None:
        self._due = self._least = 0.0

    def soon(self) -> None:
        """Something may have changed: look as soon as the last look is a moment ago."""
        self._due = min(self._due, self._least)

    def over(self, began: float, *, found: bool) -> None:
        """A look is over.

        Args:
            began: When it began.
            found: Whether there was anything.
        """
        now = monotonic()
        self._least = now + max(_AT_LEAST, now - began)  # half of the time at most
        self._due = max(self._least, now + (_OFTEN if found else _SELDOM))

    @property
    def pause(self) -> float:
        """Seconds until the next one; 0 if it is due."""
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
    """What a file of /proc says; without the file object, which is most of the cost."""
    fd, parts = os.open(path, os.O_RDONLY), []
    try:
        while part := os.read(fd, 1 << 16):
            parts.append(part)
    finally:
        os.close(fd)
    return b"".join(parts)


def _threads(pid: int) -> int:
    """How many threads a process has."""
    try:
        return os.stat(f"/proc/{pid}/task").st_nlink - 2
    except OSError:
        return 1


def _pages(pid: int) -> tuple[int, int]:
    """Bytes in memory of its own, and of files and shared memory."""
    try:
        fields = contents(f"/proc/{pid}/statm").split()
    except OSError:
        return 0, 0
    shared = int(fields[2]) * _PAGE
    return int(fields[1]) * _PAGE - shared, shared


def _held(pid: int) -> tuple[int, int]:
    """Bytes in memory of its own, those it shares by forks among them; and of shared memory."""
    try:
        status = contents(f"/proc/{pid}/status")
    except OSError:
        return 0, 0
    return _kilobytes(status, b"RssAnon:"), _kilobytes(status, b"RssShmem:")


def _kilobytes(status: bytes, name: bytes) -> int:
    words = status.partition(name)[2].split(maxsplit=1)
    return int(words[0]) * 1024 if words else 0  # one that has ended holds nothing


def _share(pid: int) -> int:
    """Bytes in memory, what it shares divided among all that do."""
    try:
        lines = contents(f"/proc/{pid}/smaps_rollup").splitlines()
    except OSError:  # it is closed to such questions
        return sum(_held(pid))
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(b"Pss:"))
