"""What this process has from whoever started it, made fit to work with."""

from __future__ import annotations

import os

_OWN = 0o700
"""The rights of a file's owner, in a mode."""


def open_standard_descriptors() -> None:
    """Open those of the descriptors 0 to 2 that are closed on the null device.

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


def keep_own_rights() -> None:
    """Let new files be readable and writable by their owner, whatever the mask for new files is.

    Under a mask that takes these rights, a lock or a folder made here could not be opened again.
    """
    os.umask(os.umask(_OWN) & ~_OWN)
