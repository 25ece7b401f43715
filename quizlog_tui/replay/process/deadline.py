"""The end of the time that a script has for a step; a busy machine does not use it up."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from pathlib import Path

MOST = 10
"""A step ends at the latest after this many times its seconds, however busy the machine is."""


class Deadline:
    """When a step has had its time.

    The time in which the script was ready to run, and the machine ran others, does not count.

    Args:
        seconds: Seconds that the step may take; 0 for no limit.
        fresh: Whether the process begins with this step, so that all its waiting is part of it.

    Attributes:
        was_over: Whether it was found to be over.
    """

    def __init__(self, seconds: float, *, fresh: bool = False) -> None:
        self.seconds = seconds
        self.was_over = False
        self._began = time.monotonic()
        self._waited_before = 0.0 if fresh else None

    def is_over(self, waited: Callable[[], float]) -> bool:
        """Whether the time is over.

        Args:
            waited: Returns the seconds that the process has waited for a processor in its life.
                Called the first time, and when the wall time is over.
        """
        if self._waited_before is None:
            self._waited_before = waited()
        passed = time.monotonic() - self._began
        if not self.seconds or passed <= self.seconds:
            return False
        own = passed - max(0.0, waited() - self._waited_before)
        self.was_over = own > self.seconds or passed > MOST * self.seconds
        return self.was_over


def children(pid: int) -> set[int]:
    """The children of a process, as far as the system tells."""
    found: set[int] = set()
    with contextlib.suppress(OSError):  # gone, or another system
        for listing in Path(f"/proc/{pid}/task").glob("*/children"):
            found.update(map(int, listing.read_text().split()))
    return found


def seconds_waited(pid: int) -> float:
    """Seconds that a process was ready to run and waited for a processor; 0 if not known."""
    try:
        with open(f"/proc/{pid}/schedstat", encoding="ascii") as file:
            return int(file.read().split()[1]) / 1e9
    except (OSError, ValueError, IndexError):  # gone, or another system
        return 0.0
