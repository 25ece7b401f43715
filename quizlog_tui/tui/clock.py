"""Formats durations and ages on the screens. A frozen clock is for tests."""

from __future__ import annotations

import time
from datetime import datetime

from ..text import duration, one_line


class Clock:
    """The clock of the machine."""

    def now(self) -> float:
        """Seconds since 1970."""
        return time.time()

    def duration(self, seconds: float) -> str:
        """Format a duration in a few characters."""
        return duration(seconds)

    def ago(self, then: float) -> str:
        """Format how long ago a moment was."""
        seconds = max(0.0, self.now() - then)
        for size, unit in ((365 * 86400, "y"), (86400, "d"), (3600, "h"), (60, "min")):
            if seconds >= size:
                return f"{seconds / size:.0f} {unit} ago"
        return "just now"

    def describe(self, time: str | None) -> str:
        """Format a recorded time as an age; return the text unchanged if it is not a time."""
        try:
            return self.ago(datetime.fromisoformat(time or "").timestamp())
        except (ValueError, OverflowError, OSError):
            return one_line(time or "")


class FrozenClock(Clock):
    """A clock that stands still, for reproducible pictures."""

    def now(self) -> float:
        """Always the same moment."""
        return 0.0

    def duration(self, seconds: float) -> str:
        """Always the same."""
        return "0 ms"
