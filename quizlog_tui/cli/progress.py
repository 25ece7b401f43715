"""How far long work has come, on stderr where that is a terminal."""

from __future__ import annotations

import sys
import time

_EVERY = 0.1
"""Seconds between two lines."""


class ProgressLine:
    """One line on stderr that is written over; nothing where stderr is no terminal."""

    def __init__(self) -> None:
        self._shown = sys.stderr.isatty()
        self._last = 0.0

    def __call__(self, doing: str, done: int, count: int) -> None:
        """Tell how far it is, at most some times a second."""
        now = time.monotonic()
        if self._shown and now - self._last >= _EVERY:
            self._last = now
            share = f"{done} of {count}" if count else str(done)
            print(f"\r\x1b[K{doing}: {share}", end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        """Take the line away."""
        if self._last:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
            self._last = 0.0
