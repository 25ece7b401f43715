"""Processes: those below this one, waiting for a state of theirs, and a sign that a script is up."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from quizlog_tui.errors import CancelledError


def wait_for(condition: Callable[[], object], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def gone(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return True
    return state in "ZX"


_NAME = "quiz-is-up"
IS_UP = f"__import__('ctypes').CDLL(None).prctl(15, b'{_NAME}', 0, 0, 0)"
"""A statement for a script: its process takes a name that others see."""


def below(pid: int) -> list[int]:
    """All processes that any thread of `pid` started, and those they did, but for what has ended."""
    children: list[int] = []
    with contextlib.suppress(OSError):  # it has just ended
        for thread in os.listdir(f"/proc/{pid}/task"):
            children += map(int, Path(f"/proc/{pid}/task/{thread}/children").read_text().split())
    alive = [child for child in children if not gone(child)]
    return alive + [deep for child in alive for deep in below(child)]


def is_up() -> bool:
    """Whether a script below this process has come to `IS_UP`."""
    if sys.platform != "linux":
        pytest.skip("the names of processes are read from /proc")
    return any(name_of(pid) == _NAME for pid in below(os.getpid()))


def gives_up(run: Callable[[], object], give_up: Callable[[], None]) -> bool:
    """Whether `run`, whose script comes to `IS_UP`, ends as cancelled once `give_up` was called."""
    with ThreadPoolExecutor(1) as threads:
        future = threads.submit(run)
        while not is_up():
            assert not future.done()
            time.sleep(0.01)
        give_up()
        return isinstance(future.exception(20), CancelledError)


def exit_code_of(acts: Callable[[], int]) -> int:
    """What something returns in a process of its own, as far as an exit code can say it; 99 if it fails."""
    child = os.fork()
    if child == 0:
        code = 99
        with contextlib.suppress(BaseException):
            code = acts()
        os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def bury(which: int = -1) -> None:
    """Take note of the end of children, as nobody else does of adopted ones.

    Args:
        which: As for `os.waitpid`: all of them, or minus the number of a group.
    """
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(which, os.WNOHANG)[0]:
            pass


def command_of(pid: int) -> str:
    """How a process was started, and its number, for a message."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_text(errors="replace").split("\0")
    except OSError:
        words = ["?"]
    return f"process {pid} ({' '.join(words)[:200].strip()})"


def name_of(pid: int) -> str:
    """What a process is called; empty if it is gone."""
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""
