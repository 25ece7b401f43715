"""What a script starts is bounded together, closed to other sessions, and ended by its guard."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from types import SimpleNamespace
from typing import cast

import pytest

from quizlog_tui.errors import LimitError
from quizlog_tui.replay import worker
from quizlog_tui.replay.process.family import Family
from quizlog_tui.replay.process.process import Limits
from quizlog_tui.replay.process.spawn import _FOLDER, Spawned
from quizlog_tui.replay.replayer import Replayer, replay
from quizlog_tui.replay.worker.family_bounds import CheckSchedule, FamilyBounds
from tests.support.build import Build
from tests.support.processes import below
from tests.support.screens import patiently

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are seen in /proc")

SMALL = Limits(processes=8, memory=200 * 2**20)
STARTS = """
import os, subprocess, sys, time
count = int(input("how many? "))
started = [subprocess.Popen(["sleep", "60"]) for _ in range(count)]
for one in started if input("then? ") == "wait" else ():
    one.wait()
"""


def left() -> list[int]:
    return below(os.getpid())


def test_a_script_may_start_as_many_as_the_bound(build: Build) -> None:
    assert replay(build.script(STARTS), 1, ["8"], SMALL).status == "in_progress"


def test_more_processes_than_the_bound_end_the_run(build: Build) -> None:
    before = left()
    with pytest.raises(LimitError, match="more than 8 processes at a time"):
        replay(build.script(STARTS), 1, ["12", "wait"], SMALL)
    assert left() == before


def test_what_grows_while_the_script_waits_is_ended_too(build: Build) -> None:
    script = build.script("""
        import os, time
        if os.fork() == 0:
            os.setsid()
            while True:
                os.fork() or os.execvp("sleep", ["sleep", "60"])
                os.system("sleep 0.01")
        input("? ")
    """)
    with Replayer(SMALL) as replayer:
        replayer.replay(script, 1, [])
        (line,) = replayer._cache.runs
        family = line.run.process.family
        for _ in patiently():
            family.lost()
            if family.exceeded:
                break
        assert family.exceeded == "processes"


@pytest.mark.long  # one of the attacks that a plain run tries does the same
def test_a_relay_of_processes_is_stopped_and_nothing_is_left(build: Build) -> None:
    """Each starts the next ones and ends, so that none of them has a parent for long."""
    before = left()
    script = build.script("""
        import os, time
        def relay(depth):
            for _ in range(3):
                if os.fork() == 0:
                    os.setsid()
                    if depth:
                        relay(depth - 1)
                    os.execvp("sleep", ["sleep", "30"])
        input("? ")
        relay(6)
        while True:
            pass
    """)
    with pytest.raises(LimitError, match="more than 20 processes at a time"):
        replay(script, 1, ["go"], Limits(processes=20))
    assert left() == before


def test_memory_counts_together(build: Build) -> None:
    script = build.script("""
        import os, time
        input("? ")
        for _ in range(5):
            if os.fork() == 0:
                held = bytearray(os.urandom(1 << 20)) * 60
                os.execvp  # keeps it
                while True:
                    os.system("sleep 1")
        while True:
            os.system("sleep 1")
    """)
    with pytest.raises(
        LimitError, match=r"started processes that hold more than 0\.2 GB of memory"
    ):
        replay(script, 1, ["go"], Limits(memory=int(0.2 * 2**30)))


def test_bounds_count_only_what_the_script_started() -> None:
    bounds = FamilyBounds()
    bounds.quizzes.update([1, 2])
    assert bounds.started([1, 2, 3, 4]) == [3, 4]
    assert bounds.exceeds([3, 4]) == ""
    bounds.processes = 1
    assert bounds.exceeds([3, 4]) == "processes"
    bounds.processes, bounds.memory = 1000, 1  # whoever runs the tests has threads
    assert bounds.exceeds([os.getpid()]) == "memory"
    assert bounds.exceeds([2**22 + 1]) == ""


def test_copies_are_none_of_the_processes_that_the_script_started(build: Build) -> None:
    """However many of them there are, and however large the script is that they are copies of."""
    script = build.script("""
        held = bytearray(b"x" * (40 << 20))
        while True:
            sum(range(300_000 * len(input("? "))))
    """)
    with Replayer(Limits(processes=3, memory=150 << 20)) as replayer:
        reached = replayer.replay(script, 1, ["answer"] * 40)
        assert reached.status == "in_progress" and len(replayer.checkpoints) > 8
        tried = replayer.fan_out(script, 1, ["answer"] * 40, [f"{i:6}" for i in range(12)])
        assert [one.status for one in tried] == ["in_progress"] * 12


def test_threads_count_as_processes() -> None:
    bounds, waits = FamilyBounds(), threading.Event()
    bounds.processes = 4
    threads = [threading.Thread(target=waits.wait) for _ in range(6)]
    for thread in threads:
        thread.start()
    assert bounds.exceeds([os.getpid()]) == "threads" and bounds.exceeded_by_quiz() == ""
    bounds.quizzes.add(os.getpid())
    assert bounds.exceeded_by_quiz() == "threads"
    waits.set()
    for thread in threads:
        thread.join()


SHARES = """
import mmap, os
input("? ")
shared = mmap.mmap(-1, 96 << 20)
for at in range(0, 96 << 20, 4096):
    shared[at] = 1
for _ in range(3):
    if os.fork() == 0:
        sum(shared[at] for at in range(0, 96 << 20, 4096))
        os.system("sleep 1")
        os._exit(0)
while os.wait() and input("then? ") != "done":
    pass
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root is told who shares what")
def test_shared_memory_counts_once_however_many_share_it(build: Build) -> None:
    limits = Limits(memory=250 << 20)
    assert replay(build.script(SHARES), 1, ["go", "done"], limits).status == "success"


READS = """
import os
def readable():
    me, found = os.readlink("/proc/self"), []
    for name in os.listdir("/proc"):
        if name.isdigit() and name != me:
            for file in ("mem", "environ", "maps"):
                try:
                    with open(f"/proc/{name}/{file}", "rb") as opened:
                        found += [file] if file != "maps" or opened.read(1) else []
                except OSError:
                    pass
    return found
while True:
    print(eval(input("? ")))
"""


def test_no_session_reads_the_memory_of_another(build: Build) -> None:
    """Runs of one script and seed, the one that goes on and its copies, see each other in /proc."""
    script = build.script(READS)
    with Replayer() as replayer:
        trunk = replayer.replay(script, 1, ["1", "2", "'a secret'"])
        if "isolation" in trunk.unavailable:
            pytest.skip("this system shuts nothing in")
        copy = replayer.replay(script, 1, ["1", "readable()"])
        assert replayer.processes > 1
        assert copy.print[-1] == "[]"
        assert replayer.replay(script, 1, ["1", "2", "'a secret'", "readable()"]).print[-1] == "[]"


COUNTS = """
import os, socket, sys, time
sys.path.insert(0, {folder!r})
from worker import guard
(ours, theirs), (inbox, outlet) = socket.socketpair(), socket.socketpair()
looks, began = [], time.monotonic()
def look(*args):
    looks.append(time.monotonic())
    return plain(*args)
plain, guard._check_bounds = guard._check_bounds, look
if os.fork() == 0:
    ours.close()
    try:
        guard._watch(theirs.fileno(), inbox.fileno())
    finally:
        os.write(1, b"%d %d\\n" % (len(looks), (time.monotonic() - began) * 1000))
        os._exit(0)
theirs.close()
for number in range({orders}):
    ours.sendall({order!r})
    time.sleep(0.0005)
ours.close()
os.wait()
"""


def looked(order: bytes) -> tuple[int, int]:
    """How often a guard looks that is given an order very often, and in how many milliseconds."""
    code = COUNTS.format(folder=_FOLDER, orders=300, order=order)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    schedule, milliseconds = map(int, done.stdout.split())
    return schedule, milliseconds


def test_the_guard_looks_for_no_order_but_that_to_look_and_not_all_the_time() -> None:
    schedule, milliseconds = looked(b"quiz 1\n")
    assert 1 <= schedule <= 1 + milliseconds / 1000
    schedule, milliseconds = looked(b"look\n")
    assert 2 <= schedule <= 1 + milliseconds / 10


def test_a_look_is_asked_for_now_and_then_only() -> None:
    ours, theirs = socket.socketpair()
    family = Family(cast(Spawned, SimpleNamespace(guard=ours.detach(), pid=0)))
    began = time.monotonic()
    for _ in range(1000):
        family.check_bounds()
    asked = theirs.recv(1 << 16).count(b"look")
    assert 1 <= asked <= 1 + (time.monotonic() - began) / 0.05
    for end in (theirs, family._guard):
        end.close()


def test_a_look_that_takes_long_is_not_followed_by_the_next_at_once() -> None:
    schedule = CheckSchedule()
    schedule.finish(time.monotonic() - 5, found=True)
    schedule.request()
    assert schedule.pause > 4
    schedule.finish(time.monotonic(), found=False)
    assert schedule.pause > 0.5
    schedule.request()
    assert schedule.pause <= 0.01


END = """
import os, sys, time
sys.path.insert(0, sys.argv[1])
from worker import guard

def nothing(*_):  # as where a folder of /proc cannot be read for lack of memory
    raise OSError(12, "Cannot allocate memory")

guard.os.listdir = nothing
pid = os.fork()
if pid == 0:
    time.sleep(600)
guard._forked.append(pid)
guard._kill_all()
print(pid)
"""


@pytest.mark.skipif(not hasattr(os, "waitid"), reason="the system tells nothing of a child alone")
def test_the_quiz_is_killed_where_nothing_can_be_read_of_it() -> None:
    folder = os.path.dirname(os.path.dirname(worker.__file__))
    words = [sys.executable, "-c", END, folder]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=True)
    with pytest.raises(ProcessLookupError):
        os.kill(int(done.stdout), 0)
