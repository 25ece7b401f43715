"""A compact set of fingerprints, to find duplicates in a file of any size.

A set of Python integers takes ten times as much memory. The probability that two different things
have the same fingerprint is one in 2**63.
"""

from __future__ import annotations

from array import array
from collections.abc import Hashable

_BITS = 0x7FFF_FFFF_FFFF_FFFF


class Fingerprints:
    """An open hash table with eight bytes per slot, at most three quarters full."""

    def __init__(self) -> None:
        self._size = 1024
        self._used = 0
        self._table = array("Q", bytes(8 * self._size))

    def add(self, thing: Hashable) -> bool:
        """Add a thing; return whether it was there already."""
        mark = (hash(thing) & _BITS) or 1
        at = self._slot(mark)
        if self._table[at]:
            return True
        self._table[at] = mark
        self._used += 1
        if 4 * self._used > 3 * self._size:
            self._grow()
        return False

    def _slot(self, mark: int) -> int:
        """The index of a fingerprint, or of the free slot for it."""
        table, last = self._table, self._size - 1
        at = mark & last
        while table[at] and table[at] != mark:
            at = (at + 1) & last
        return at

    def _grow(self) -> None:
        before = self._table
        self._size *= 2
        self._table = array("Q", bytes(8 * self._size))
        for mark in before:
            if mark:
                self._table[self._slot(mark)] = mark
