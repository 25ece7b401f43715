"""Fixes the clock for libraries written in C, which do not ask the interpreter.

Such a library calls functions of the system by a table of addresses. An address of a function that
returns the time is replaced in the table. Nothing else of the library changes. Its file (ELF) says
which place in the table belongs to which name. Only these parts of the file are read, as they are
small even in big libraries.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from struct import Struct, error
from time import clock_gettime_ns  # the original: the script's view of `time` is patched later

from .clock import VirtualClock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_SYSTEM_CLOCK = "_ZNSt6chrono3_V212system_clock3nowEv"
"""`std::chrono::system_clock::now` of C++."""
CLOCKS = ("time", "gettimeofday", "clock_gettime", _SYSTEM_CLOCK)
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
_OF_FUNCTIONS = {"x86_64": (6, 7), "aarch64": (1025, 1026)}
"""Kinds of relocations that put an address into the table, by machine."""
_HEADER, _KNOWN = Struct("<6s34xQ10xHH2x"), b"\x7fELF\2\1"
_SECTION, _SYMBOLS, _RELOCATIONS = Struct("<4xI16xQQI20x"), 11, 4
_NAME, _HOME, _PLACE, _SOURCE = Struct("<I"), Struct("<6xH"), Struct("<Q"), Struct("<II")
_ENTRY, _SOURCE_AT = 24, 8
"""Bytes of a symbol and of a relocation, and the offset of the symbol in a relocation."""
_Section = tuple[int, int, int, int]
"""Kind, start in the file, length, and the number of a related section."""


def install(clock: VirtualClock) -> None:
    """Fix the clock of each such library that is imported from now on."""
    if not readable():
        return
    import _imp

    plain = _imp.create_dynamic
    held = _ClockFunctions(clock)

    def create_dynamic(spec: Any, *rest: Any) -> Any:
        module = plain(spec, *rest)
        if spec.name in FIXED_LIBRARIES:
            with contextlib.suppress(OSError, Unreadable):
                _put(spec.origin, held.function)
        return module

    _imp.create_dynamic = create_dynamic


def _put(path: str, function: Callable[[Any, str], int]) -> None:
    """Put functions in the table of a library that was just loaded.

    Args:
        path: The library.
        function: Returns the address for a name, given `ctypes`.
    """
    for name, at in places(path, CLOCKS):
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
            _SYSTEM_CLOCK: ctypes.CFUNCTYPE(whole)(now),
        }


def _protect(ctypes: Any, place: int, rights: int) -> None:
    size = os.sysconf("SC_PAGESIZE")
    page = ctypes.c_void_p(place - place % size)
    if ctypes.CDLL(None).mprotect(page, ctypes.c_size_t(size), rights):
        raise OSError("memory cannot be changed")


class Unreadable(Exception):
    """A file that can be loaded, but not understood."""


def readable() -> bool:
    """Whether the libraries of this machine are of a known kind."""
    return sys.platform == "linux" and os.uname().machine in _OF_FUNCTIONS


def places(path: str, names: Iterable[str]) -> Iterator[tuple[str, int]]:
    """The places where a library keeps the addresses of functions that it calls.

    Args:
        path: The library.
        names: The functions to find.

    Yields:
        The name of each function that it calls, and the offset of its place in the library.

    Raises:
        OSError: The file cannot be read.
        Unreadable: The file contradicts its own tables.
    """
    fd = os.open(path, os.O_RDONLY)
    try:
        sections = list(_sections(fd))
        for name, number in _called(fd, sections, names):
            for at in _relocated(fd, sections, number):
                yield name, at
    except (LookupError, error) as cause:
        raise Unreadable(path) from cause
    finally:
        os.close(fd)


def _sections(fd: int) -> Iterator[_Section]:
    """The sections of a file; none if it is of another kind."""
    kind, start, size, count = _HEADER.unpack(os.pread(fd, _HEADER.size, 0))
    if kind == _KNOWN and size == _SECTION.size:
        yield from _SECTION.iter_unpack(os.pread(fd, size * count, start))


def _content(fd: int, section: _Section) -> bytes:
    return os.pread(fd, section[2], section[1])


def _called(fd: int, sections: list[_Section], names: Iterable[str]) -> Iterator[tuple[str, int]]:
    """Functions that a library imports, with the numbers of their symbols."""
    for section in sections:
        if section[0] == _SYMBOLS:
            symbols, strings = _content(fd, section), _content(fd, sections[section[3]])
            for name in names:
                for at in _entries(strings, name.encode() + b"\0", 1, 0):
                    for found in _entries(symbols, _NAME.pack(at), _ENTRY, 0):
                        if _HOME.unpack_from(symbols, found) == (0,):
                            yield name, found // _ENTRY


def _relocated(fd: int, sections: list[_Section], number: int) -> Iterator[int]:
    """The places for the address of a symbol."""
    kinds = [_SOURCE.pack(kind, number) for kind in _OF_FUNCTIONS[os.uname().machine]]
    for section in sections:
        if section[0] == _RELOCATIONS:
            table = _content(fd, section)
            for kind in kinds:
                for found in _entries(table, kind, _ENTRY, _SOURCE_AT):
                    yield _PLACE.unpack_from(table, found)[0]


def _entries(table: bytes, wanted: bytes, size: int, at: int) -> Iterator[int]:
    """The starts of entries that have these bytes at a given offset."""
    found = table.find(wanted)
    while found >= 0:
        if found % size == at:
            yield found - at
        found = table.find(wanted, found + 1)
