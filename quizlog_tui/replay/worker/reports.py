"""Sends the guard's reports to quizlog, line by line, without blocking.

If the guard waited, nobody would watch the script.
"""

from __future__ import annotations

import _thread
import os


class Reports:
    """Lines to be sent; several threads may add some.

    Args:
        fd: The socket to quizlog.
    """

    def __init__(self, fd: int) -> None:
        os.set_blocking(fd, False)
        self._fd = fd
        self._adding = _thread.allocate_lock()
        self.waiting = b""
        """The data for which the socket had no room yet."""

    def add(self, line: bytes) -> None:
        """Send a line, or keep it for `send`."""
        with self._adding:
            self.waiting += line
            self._send()

    def send(self) -> None:
        """Send as much as the socket has room for."""
        with self._adding:
            self._send()

    @property
    def too_many(self) -> bool:
        """Whether too much data waits, so that nobody seems to read it."""
        return len(self.waiting) > _MOST

    def _send(self) -> None:
        if not self.waiting:
            return
        try:
            self.waiting = self.waiting[os.write(self._fd, self.waiting) :]
        except BlockingIOError:
            return
        except OSError:  # quizlog is gone
            self.waiting = b""


_MOST = 1 << 20
