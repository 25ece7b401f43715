"""The processes below this one, and a sign by which a script that is shut in shows that it runs."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

import pytest

_NAME = "quiz-is-up"
IS_UP = f"__import__('ctypes').CDLL(None).prctl(15, b'{_NAME}', 0, 0, 0)"
"""A statement for a script: its process takes a name that others see."""


def below(pid: int) -> list[int]:
    """All processes that any thread of `pid` started, and those they did."""
    children: list[int] = []
    with contextlib.suppress(OSError):  # it has just ended
        for thread in os.listdir(f"/proc/{pid}/task"):
            children += map(int, Path(f"/proc/{pid}/task/{thread}/children").read_text().split())
    return children + [deep for child in children for deep in below(child)]


def is_up() -> bool:
    """Whether a script below this process has come to `IS_UP`."""
    if sys.platform != "linux":
        pytest.skip("the names of processes are read from /proc")
    return any(name_of(pid) == _NAME for pid in below(os.getpid()))


def name_of(pid: int) -> str:
    """What a process is called; empty if it is gone."""
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""
