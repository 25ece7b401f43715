"""Whom a script would signal is judged from outside it: it ends none of its own checkpoints."""

from __future__ import annotations

import mmap
import os
import socket
import sys
from pathlib import Path

import pytest

from quizlog_tui.replay import run_cache as lines
from quizlog_tui.replay.process import spawn
from quizlog_tui.replay.replayer import Replayer
from quizlog_tui.replay.worker.guard import Reports
from quizlog_tui.replay.worker.taint import shared_maps
from tests.support.build import Build
from tests.support.isolation import needs_isolation
from tests.support.long_runs import few

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="walls need Linux")

SIGNALS = """
import ctypes, fcntl, os, struct
libc = ctypes.CDLL(None)
KILL, TKILL, TGKILL, QUEUE, THREAD_QUEUE = {
    "x86_64": (62, 200, 234, 129, 297), "aarch64": (129, 130, 131, 138, 240)}[os.uname().machine]
info = struct.pack("=iii", 9, 0, -1) + bytes(116)
def end(pid):
    libc.syscall(KILL, pid, 9)
    libc.syscall(KILL, -pid, 9)
    libc.syscall(TKILL, pid, 9)
    libc.syscall(TGKILL, pid, pid, 9)
    libc.syscall(QUEUE, pid, 9, info)
    libc.syscall(THREAD_QUEUE, pid, pid, 9, info)
    handle = libc.syscall(434, pid, 0)
    libc.syscall(424, handle, 9, None, 0)
    folder = os.open(f"/proc/{pid}", os.O_RDONLY)
    libc.syscall(424, folder, 9, None, 0)
    os.close(folder)
    reader, writer = os.pipe()
    libc.fcntl(reader, 8, pid)
    libc.fcntl(reader, 10, 9)
    libc.fcntl(reader, fcntl.F_SETFL, os.O_ASYNC)
    os.write(writer, b"x")
def end_all(pids):
    for pid in pids:
        end(pid)
    libc.syscall(KILL, -1, 9)
    return "tried"
def end_all_by_child(pids):
    child = os.fork()
    if child == 0:
        end_all(pids)
        os._exit(0)
    os.waitpid(child, 0)
    return "tried"
def own():
    child = os.fork()
    if child == 0:
        while True: os.wait4(-1, os.WNOHANG) if False else os.sched_yield()
    os.kill(child, 9)
    return os.waitpid(child, 0)[1]
while True:
    print(eval(input("? ")))
"""


def test_a_run_ends_none_of_its_checkpoints(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "_LEAST_GAP", 0.0)
    monkeypatch.setattr(lines, "measured_gap", lambda started: 0.0)
    script = build.script(SIGNALS)
    answers = ["0", "1", "2"]
    with Replayer() as cached:
        for count in range(4):
            needs_isolation(*cached.replay(script, 1, answers[:count]).unavailable)
        frozen = [point.process.pid for point in cached.checkpoints if point.process.settle()]
        assert len(frozen) >= 3
        attack = [*answers, f"end_all({frozen})"]
        assert cached.replay(script, 1, attack).print[-1] == "tried"
        assert [pid for pid in frozen if _lives(pid)] == frozen
        by_child = [*attack, f"end_all_by_child({frozen})"]

        def none(*args: object, **options: object) -> spawn.Spawned:
            raise AssertionError("it was run from the start again")

        monkeypatch.setattr("quizlog_tui.replay.process.process.take", none)
        assert cached.replay(script, 1, ["0", "1", "7"]).print == ("0", "1", "7")
        assert cached.replay(script, 1, by_child).print[-1] == "tried"
        assert [pid for pid in frozen if _lives(pid)] == frozen


def test_a_run_signals_itself_and_what_it_started(build: Build) -> None:
    asked = ["os.kill(os.getpid(), 0)", "os.killpg(os.getpgrp(), 0)", "own()", "os.getpgrp()"]
    with Replayer() as cached:
        script = build.script(SIGNALS)
        cached.replay(script, 1, ["1"])
        on = cached.replay(script, 1, ["1", *asked])
        copied = cached.replay(script, 1, ["1", "2", *asked])
        assert on.print[1:4] == copied.print[2:5] == ("None", "None", "9")
        assert on.print[4] == copied.print[5], "a copy is in a group with a number of its own"


def _lives(pid: int | None) -> bool:
    return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def test_the_guard_never_waits_for_a_listener() -> None:
    """It would watch nothing more while it waits. What it reports stays whole and in order."""
    told = [b"%d 0\n" % number for number in range(20_000)]
    ours, theirs = socket.socketpair()
    with ours, theirs:
        reports = Reports(theirs.fileno())
        for line in told:
            reports.add(line)
        assert reports.waiting and not reports.too_many
        heard = b""
        while len(heard) < sum(map(len, told)):
            heard += ours.recv(65536)
            reports.send()
        assert heard.splitlines(keepends=True) == told and not reports.waiting
        while not reports.too_many:
            reports.add(bytes(65536))


PAST_PYTHON = {
    "time by number": ("libc.syscall(CLOCK, 0, room)", "clock"),
    "counter by number": ("libc.syscall(CLOCK, 1, room)", "clock"),
    "time in a thread": ("in_thread(lambda: libc.syscall(CLOCK, 5, room))", "clock"),
    "time in a child": ("in_child(lambda: libc.syscall(CLOCK, 0, room))", "clock"),
    "files by number": ("libc.syscall(STAT, b'/', room)", "raw"),
    "machine by number": ("libc.syscall(SYSINFO, room)", "raw"),
    "locks of others": (
        "import fcntl; f = open(os.__file__); fcntl.flock(f, fcntl.LOCK_SH); f.close()",
        "held",
    ),
    "locks asked for": (
        "import fcntl; f = open(os.__file__); fcntl.fcntl(f, fcntl.F_GETLK, bytes(32)); f.close()",
        "held",
    ),
    "who is at the other end": (
        "import socket; a, b = socket.socketpair(); a.getsockopt(1, 17, 12); a.close(); b.close()",
        "system",
    ),
    "how long a timer has run": (
        "import signal; signal.setitimer(0, 99999); signal.getitimer(0); signal.setitimer(0, 0)",
        "clock",
    ),
    "use of resources by its C module": ("import posix; posix.times()", "system"),
    "use of resources past Python": ("libc.getrusage(0, room)", "system"),
}
LIBC = """
import ctypes, os, threading
libc, room = ctypes.CDLL(None), ctypes.create_string_buffer(1000)
CLOCK, STAT, SYSINFO = (228, 4, 99) if os.uname().machine == "x86_64" else (113, 49, 179)
def in_thread(call):
    thread = threading.Thread(target=call)
    thread.start()
    thread.join()
def in_child(call):
    if os.fork() == 0:
        call()
        os._exit(0)
    os.wait()
input("? ")
"""


_SOME_PAST_PYTHON = (
    *("time by number", "time in a thread", "time in a child", "machine by number"),
    *("locks asked for", "how long a timer has run", "use of resources past Python"),
)


@pytest.mark.parametrize("row", few(PAST_PYTHON, *_SOME_PAST_PYTHON))
def test_what_is_asked_past_python_is_noted(row: str, build: Build) -> None:
    act, observed = PAST_PYTHON[row]
    with Replayer() as cached:
        script = build.script(f"{LIBC}{act}\ninput('? ')\n{'' if 'child' in act else 'input()'}\n")
        before = cached.replay(script, 1, [])
        needs_isolation(*before.unavailable)
        assert before.observed == ()
        assert observed in cached.replay(script, 1, ["a"]).observed
        assert observed in cached.replay(script, 1, ["a", "b"]).observed, "in copies of it, too"


def test_no_other_process_exists_for_a_run(build: Build) -> None:
    script = build.script(
        """
        import os, sys, threading
        def known(ask, *words):
            try: ask(*words)
            except ProcessLookupError: return False
            return True
        for pid in (1, os.getppid(), int(input("pid? "))):
            print(*(known(ask, pid) for ask in (os.getpgid, os.getsid, os.sched_getscheduler, os.sched_getaffinity)), known(os.kill, pid, 0), known(os.getpriority, os.PRIO_PROCESS, pid))
        own = os.getpid()
        print(known(os.getpgid, own), known(os.getsid, own), known(os.kill, own, 0), threading.get_native_id() == own)
        if child := os.fork():
            print(known(os.getpgid, child), known(os.kill, child, 0), known(os.getpriority, os.PRIO_PROCESS, child))
            os.kill(child, 9); os.waitpid(child, 0)
        else:
            while True: os.sched_yield()
        """
    )
    with Replayer() as cached:
        run = cached.replay(script, 1, [str(os.getpid())])
        needs_isolation(*run.unavailable)
        assert [*run.print] == [" ".join(["False"] * 6)] * 3 + [
            "True True True True",
            "True True True",
        ]


QUIET = """
import asyncio, concurrent.futures, ctypes, datetime, os, secrets, signal, sqlite3, ssl, tempfile
import threading, time, zoneinfo
print(time.time(), time.process_time(), datetime.datetime.now(), time.perf_counter())
os.listdir("."); os.stat("."); os.path.exists("x"); secrets.token_hex(); ctypes.CDLL(None).getpid()
threading.Thread(target=print).start()
with concurrent.futures.ThreadPoolExecutor(1) as pool:
    pool.submit(time.sleep, 0.01).result(10)
asyncio.run(asyncio.wait_for(asyncio.sleep(0.01), 5))
threading.Event().wait(0.01); threading.Lock().acquire(timeout=1)
sqlite3.connect(":memory:").execute("select 1").fetchall()
try:
    import numpy, pandas
    print(numpy.sort(numpy.arange(100_000)[::-1])[:3], pandas.DataFrame({"a": [2, 1]}).describe())
except ImportError:
    pass
signal.alarm(9999); signal.alarm(0); signal.setitimer(0, 99); signal.setitimer(0, 0)
input("? ")
"""


def test_what_python_and_libraries_ask_by_themselves_is_not_noted(build: Build) -> None:
    with Replayer() as cached:
        observed = cached.replay(build.script(QUIET), 1, []).observed
        assert {"clock", "raw", "system"}.isdisjoint(observed)


def test_what_a_process_shares_is_listed_where_no_witness_sees_it() -> None:
    before = shared_maps()
    with mmap.mmap(-1, 4096):
        assert len(shared_maps() - before) == 1
    with mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS):
        assert shared_maps() == before
