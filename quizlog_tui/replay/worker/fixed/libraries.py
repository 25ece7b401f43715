"""Fixes the clock for libraries written in C, which do not ask the interpreter.

Such a library calls functions of the system by a table of addresses. An address of a function that
returns the time is replaced in the table. Nothing else of the library changes.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from time import clock_gettime_ns  # the original: the script's view of `time` is patched later

from . import elf
from .clock import VirtualClock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SYSTEM_CLOCK = "_ZNSt6chrono3_V212system_clock3nowEv"
"""`std::chrono::system_clock::now` of C++."""
CLOCKS = ("time", "gettimeofday", "clock_gettime", SYSTEM_CLOCK)
"""Functions of the system and of C++ that return the time of day."""
_OF_DAY = (0, 5, 11)
"""Numbers of the clocks of `clock_gettime` for the time of day."""
FIXED_LIBRARIES = frozenset(
    {"numpy._core._multiarray_umath", "numpy.core._multiarray_umath", "whenever._whenever"}
)
"""Libraries that always get the virtual clock: they ask on behalf of the script, in its thread.
Others may ask in their own threads to know how long to wait; `below_python` tells them another time
only to find out whether the script shows it."""
_READ_WRITE = 1 | 2


def install(clock: VirtualClock) -> None:
    """Fix the clock of each such library that is imported from now on."""
    if not elf.readable():
        return
    import _imp

    plain = _imp.create_dynamic
    held = _ClockFunctions(clock)

    def create_dynamic(spec: Any, *rest: Any) -> Any:
        module = plain(spec, *rest)
        if spec.name in FIXED_LIBRARIES:
            with contextlib.suppress(OSError, elf.Unreadable):
                _put(spec.origin, held.function)
        return module

    _imp.create_dynamic = create_dynamic


def _put(path: str, function: Callable[[Any, str], int]) -> None:
    """Put functions in the table of a library that was just loaded.

    Args:
        path: The library.
        function: Returns the address for a name, given `ctypes`.
    """
    for name, at in elf.places(path, CLOCKS):
        import ctypes

        handle = ctypes.CDLL(path, os.RTLD_NOLOAD | os.RTLD_LAZY)._handle
        start = ctypes.c_size_t.from_address(handle).value  # the first thing it points to
        _protect(ctypes, start + at, _READ_WRITE)  # some tables are read-only once they are filled
        ctypes.c_size_t.from_address(start + at).value = function(ctypes, name)


class _ClockFunctions:
    """Functions that C can call, which return the time of the virtual clock."""

    def __init__(self, clock: VirtualClock) -> None:
        self._clock = clock
        self._functions: dict[str, Any] = {}

    def function(self, ctypes: Any, name: str) -> int:
        """The address of a function."""
        if not self._functions:
            self._functions = self._made(ctypes)
        address: int = ctypes.cast(self._functions[name], ctypes.c_void_p).value
        return address

    def _made(self, ctypes: Any) -> dict[str, Any]:
        now, pointer, whole = self._clock.read, ctypes.c_void_p, ctypes.c_int64

        def put(where: int | None, nanoseconds: int, unit: int) -> int:
            if where:
                parts = (whole * 2).from_address(where)
                parts[0], parts[1] = nanoseconds // 10**9, nanoseconds % 10**9 // unit
            return 0

        def time(where: int | None) -> int:
            seconds = now() // 10**9
            if where:
                whole.from_address(where).value = seconds
            return seconds

        def gettimeofday(where: int | None, zone: int | None) -> int:
            return put(where, now(), 1000)

        def clock_gettime(which: int, where: int | None) -> int:
            return put(where, now() if which in _OF_DAY else clock_gettime_ns(which), 1)

        return {
            "time": ctypes.CFUNCTYPE(whole, pointer)(time),
            "gettimeofday": ctypes.CFUNCTYPE(ctypes.c_int, pointer, pointer)(gettimeofday),
            "clock_gettime": ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, pointer)(clock_gettime),
            SYSTEM_CLOCK: ctypes.CFUNCTYPE(whole)(now),
        }


def _protect(ctypes: Any, place: int, rights: int) -> None:
    size = os.sysconf("SC_PAGESIZE")
    page = ctypes.c_void_p(place - place % size)
    if ctypes.CDLL(None).mprotect(page, ctypes.c_size_t(size), rights):
        raise OSError("memory cannot be changed")
