"""Keeps tests that change the machine's devices apart from those that look whether somebody did."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def devices(*, changed: bool) -> Iterator[None]:
    """Wait until the devices may be changed, or will not be, and hold them like that.

    The lock is on the folder of devices, which all runs of tests on a machine share.
    """
    folder = os.open("/dev", os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX if changed else fcntl.LOCK_SH)
        yield
    finally:
        os.close(folder)
