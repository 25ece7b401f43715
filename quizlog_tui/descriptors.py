"""The standard descriptors, 0 to 2, of the process that quizlog runs in."""

from __future__ import annotations

import os


def open_standard() -> None:
    """Open those of 0, 1 and 2 that are closed on the null device.

    Otherwise the next file or socket that is opened gets the number, and whatever is meant for the
    stream with it. All are opened for writing only: reading an input that was closed goes on
    failing, so that nobody takes it for an empty answer.
    """
    for fd in range(3):
        try:
            os.fstat(fd)
        except OSError:
            os.open(os.devnull, os.O_WRONLY)  # gets the lowest free number, which is this one
            os.set_inheritable(fd, True)
