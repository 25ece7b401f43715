"""Overwrites functions in the memory of the process above this one, which is as this one was.

Written there through `/proc`, code need not be made writable, not even for a moment.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping
from time import time

from ..job import Job
from .other_times import drawn, hidden
from .shifted_calls import CLOCKS, FILES, MACHINE, STATE, WAITS, empty, jump, shifted

_CODES = {"libraries": CLOCKS, "metadata": FILES, "system": STATE}
"""What takes the place of functions, by the condition that is changed."""


class Overwriting:
    """Overwrites the functions that the changed conditions of a job concern.

    Args:
        memory: A descriptor of the memory of the process above.
        room: Where there is room for code.
        job: The job.
        ticks: Hundredths of a second by which the machine shall have been running longer.

    Raises:
        OSError: The system does not permit it, or is not of the known kind.
    """

    def __init__(self, memory: int, room: range, job: Job, ticks: int) -> None:
        if os.uname().machine != MACHINE:
            raise OSError("not on this machine")
        self._memory, self._room, self._job = memory, room, job
        now = int(time())
        self.seconds = now - hidden(job.start // 10**9, now, job.seed)
        """What is taken from times of day."""
        self._address = _addresses()
        self._values = {
            "seconds": self.seconds,
            "ticks": ticks,
            "more": 2 * (drawn(job.seed) % 500) + 1,
            "errno": self._address("__errno_location"),
        }
        self._put(empty(_kernels_data()))

    def done(self, condition: str) -> bool:
        """Overwrite the functions of a condition if it is changed; return whether that was done."""
        if condition not in self._job.changed:
            return False
        with contextlib.suppress(OSError):
            for at, code in dict(self._functions(_CODES[condition])).items():
                os.pwrite(self._memory, jump(self._put(code)), at)
            return True
        return False

    def _functions(self, codes: Mapping[str, str]) -> Iterator[tuple[int, bytes]]:
        """The address of each function that there is, and the code for it."""
        for name, code in codes.items():
            with contextlib.suppress(OSError):  # some are only in older or newer libraries
                real = self._address(WAITS[name]) if name in WAITS else 0
                yield self._address(name), shifted(code, real=real, **self._values)

    def _put(self, code: bytes) -> int:
        """Put code where there is room, and return its address."""
        if len(code) > len(self._room):
            raise OSError("there is no room")
        os.pwrite(self._memory, code, self._room.start)
        place, self._room = self._room.start, self._room[len(code) :]
        return place


def _addresses() -> Callable[[str], int]:
    """A function that returns the address of another, and raises OSError if there is none."""
    import _ctypes

    loaded = os.RTLD_NOLOAD | os.RTLD_LAZY
    libc = _ctypes.dlopen("libc.so.6", loaded)
    kernels = _ctypes.dlopen("linux-vdso.so.1", loaded)
    return lambda name: _ctypes.dlsym(kernels if name.startswith("__vdso_") else libc, name)


def _kernels_data() -> Iterator[tuple[int, int]]:
    """Where the kernel shows its clocks to its own library: starts and lengths."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        for line in maps:
            if "[vvar" in line:
                first, _, last = line.partition(" ")[0].partition("-")
                yield int(first, 16), int(last, 16) - int(first, 16)
