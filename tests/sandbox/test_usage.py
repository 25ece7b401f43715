"""What a tree of processes holds, as it is counted from outside."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from mmap import mmap

import pytest

from quizlog_tui.sandbox import usage

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="this is read in /proc")
MEGA = 2**20
SIZE = 40 * MEGA


def grown(count: Callable[[list[int]], int], hold: Callable[[], object]) -> int:
    before = count([os.getpid()])
    held = hold()
    after = count([os.getpid()])
    del held
    return after - before


def shared() -> mmap:
    held = mmap(-1, SIZE)
    held[:] = bytes(SIZE)
    return held


def test_memory_that_could_be_shared_is_in_the_shares_and_not_in_the_private_ones() -> None:
    assert grown(usage.shares, shared) > SIZE - MEGA
    assert grown(usage.private_shares, shared) < SIZE / 2


def test_memory_of_one_process_alone_is_in_both() -> None:
    for count in (usage.shares, usage.private_shares):
        assert grown(count, lambda: bytearray(os.urandom(MEGA)) * (SIZE // MEGA)) > SIZE - MEGA
