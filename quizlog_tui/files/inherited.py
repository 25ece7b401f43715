"""Corrects what this process inherited from its parent: closed descriptors and the umask."""

from __future__ import annotations

import os

_OWN = 0o700
"""The owner's permission bits of a file mode."""


def open_standard_descriptors() -> None:
    """Open the null device on each of the descriptors 0 to 2 that is closed.

    Otherwise the next file or socket to be opened would get that number, and with it the output
    meant for the standard stream. All are opened for writing only, so that reading from a closed
    stdin still fails and is not taken for an empty answer.
    """
    for fd in range(3):
        try:
            os.fstat(fd)
        except OSError:
            os.open(os.devnull, os.O_WRONLY)  # gets the lowest free number, which is this one
            os.set_inheritable(fd, True)


def keep_own_rights() -> None:
    """Make new files readable and writable by their owner, whatever the umask is.

    If the umask removed these permissions, a lock or folder made here could not be opened again.
    """
    os.umask(os.umask(_OWN) & ~_OWN)
