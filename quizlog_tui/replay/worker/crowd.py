"""How many processes a script has started, and what memory they hold; both are bounded together.

Seen from outside, by the guard: what the script says of itself does not count. A limit of the
system would not do: it spares root, or counts what else the user runs.
"""

from __future__ import annotations

import contextlib
import os

_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
_SHARED_BY_FORKS = 8
"""Processes up to which copied memory counts in full; shares cost a millisecond each."""


class Crowd:
    """The bounds of one family of processes; 0 means none."""

    def __init__(self) -> None:
        self.processes = 0
        """How many the script may have started that run at a time."""
        self.memory = 0
        """Bytes that these may hold together."""
        self.quizzes: set[int] = set()
        """The processes that run the script itself: bounded each by itself."""

    def started(self, below: list[int]) -> list[int]:
        """Those of all processes that the script started."""
        return [pid for pid in below if pid not in self.quizzes]

    def exceeds(self, started: list[int]) -> str:
        """Which bound they are over: `processes`, `memory`; empty if none."""
        if self.processes and len(started) > self.processes:
            return "processes"
        if self.memory and sum(map(_resident, started)) > self.memory:
            exact = len(started) <= _SHARED_BY_FORKS
            if exact or sum(map(_share, started)) > self.memory:
                return "memory"
        return ""


def children(pid: int) -> list[int]:
    """The children of a process, whichever of its threads started them."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
                found += [int(word) for word in file.read().split()]
    return found


def _resident(pid: int) -> int:
    """Bytes of its own in memory, and of what it shares by forks."""
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            fields = file.read().split()
    except OSError:
        return 0
    return (int(fields[1]) - int(fields[2])) * _PAGE


def _share(pid: int) -> int:
    """Bytes in memory, what it shares divided among all that do."""
    try:
        with open(f"/proc/{pid}/smaps_rollup", "rb") as file:
            lines = file.read().splitlines()
    except OSError:
        return _resident(pid)
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(b"Pss:"))
