"""Finds where a library keeps the addresses of functions of other libraries (ELF files).

A loaded library finds such functions by a table. The file says which place in the table belongs to
which name. Only these parts of the file are read, as they are small even in big libraries.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from struct import Struct, error

_OF_FUNCTIONS = {"x86_64": (6, 7), "aarch64": (1025, 1026)}
"""Kinds of relocations that put an address into the table, by machine."""
_HEADER, _KNOWN = Struct("<6s34xQ10xHH2x"), b"\x7fELF\2\1"
_SECTION, _SYMBOLS, _RELOCATIONS = Struct("<4xI16xQQI20x"), 11, 4
_NAME, _HOME, _PLACE, _SOURCE = Struct("<I"), Struct("<6xH"), Struct("<Q"), Struct("<II")
_ENTRY, _SOURCE_AT = 24, 8
"""Bytes of a symbol and of a relocation, and the offset of the symbol in a relocation."""


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


_Section = tuple[int, int, int, int]
"""Kind, start in the file, length, and the number of a related section."""


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
