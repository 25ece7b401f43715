"""Shows the progress of long work on stderr if that is a terminal."""

from __future__ import annotations

import sys
import time

_EVERY = 0.1
"""Minimum seconds between two updates."""


class ProgressLine:
    """A progress line on stderr that is overwritten; nothing if stderr is not a terminal."""

    def __init__(self) -> None:
        self._shown = sys.stderr.isatty()
        self._last = 0.0

    def __call__(self, doing: str, done: int, count: int) -> None:
        """Show the progress, a few times per second at most."""
        now = time.monotonic()
        if self._shown and now - self._last >= _EVERY:
            self._last = now
            share = f"{done} of {count}" if count else str(done)
            print(f"\r\x1b[K{doing}: {share}", end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        """Remove the line."""
        if self._last:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
            self._last = 0.0
