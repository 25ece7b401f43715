"""What a run that is no box of its own may start and hold, and that all of it is ended."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from mmap import mmap
from pathlib import Path

import pytest

import quizlog_tui
from quizlog_tui.sandbox import usage
from quizlog_tui.sandbox.inside import confine, server
from tests.support.open_python import open_python
from tests.support.processes import exit_code_of

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are seen in /proc")
_STRANGER = 61_234
"""A user who runs nothing else."""
PACKAGE = Path(quizlog_tui.__file__).parent
COUNTS = f"""
import os, sys
sys.path.insert(0, {str(PACKAGE / "sandbox")!r})
from inside.confine import _others
before = _others()
pipe, _ = os.pipe()
for _ in range(20):
    os.fork() or os.read(pipe, 1)
print(_others() - before)
os.killpg(0, 9)
"""


def test_who_counts_against_the_limit_is_asked_of_the_system() -> None:
    user = {"user": _STRANGER, "group": _STRANGER, "extra_groups": []} if os.geteuid() == 0 else {}
    with open_python() as python:
        done = subprocess.run(
            [python, "-u", "-c", COUNTS],
            capture_output=True,
            text=True,
            start_new_session=True,
            **user,  # type: ignore[call-overload]
        )
    assert done.stdout, done.stderr
    assert abs(int(done.stdout) - 20) < 10  # others of this user come and go


def test_the_limit_is_as_before_when_it_was_asked() -> None:
    before = resource.getrlimit(resource.RLIMIT_NPROC)
    confine._others()
    assert resource.getrlimit(resource.RLIMIT_NPROC) == before


MOST = 200 + (confine._others() if os.geteuid() else 0)
CHAIN = f"""
import os, resource, signal, time
os.read(0, 1)
end = time.monotonic() + 20
signal.signal(signal.SIGTERM, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_NPROC, ({MOST}, {MOST}))
if os.geteuid() == 0:  # who is not bounded
    os.setresuid({_STRANGER}, {_STRANGER}, {_STRANGER})
while time.monotonic() < end:
    try:
        if os.fork():
            os._exit(0)
    except BlockingIOError:
        time.sleep(0.001)
"""
"""Bounded as code in a box is: on a busy machine it would take all numbers of processes."""


def test_those_that_follow_each_other_are_all_ended() -> None:
    """A keeper of its own process: what is below this one is not its business."""

    def keep() -> int:
        from quizlog_tui.sandbox.inside import kernel

        kernel.prctl(kernel.SET_CHILD_SUBREAPER, 1)
        waits, begin = os.pipe()
        for _ in range(6):
            subprocess.Popen([sys.executable, "-c", CHAIN], stdin=waits, start_new_session=True)
        # All begin now: until they are ended, each leaves a dead one behind at each step.
        os.close(begin)
        while len(server._descendants(os.getpid())) < 12:
            signal.sigtimedwait([], 0.01)
        server.end_descendants()
        return len(server._descendants(os.getpid()))

    assert exit_code_of(keep) == 0


def test_the_dead_of_a_run_take_no_numbers_while_it_is_stopped() -> None:
    def keep() -> int:
        ended = os.fork() or os._exit(0)
        os.waitid(os.P_PID, ended, os.WEXITED | os.WNOWAIT)
        server._freeze()
        return len(server._descendants(os.getpid()))

    assert exit_code_of(keep) == 0


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


def own() -> bytearray:
    return bytearray(os.urandom(MEGA)) * (SIZE // MEGA)


def test_memory_is_in_the_shares_whether_it_could_be_shared_or_not() -> None:
    for hold in (shared, own):
        assert grown(usage.shares, hold) > SIZE - MEGA
