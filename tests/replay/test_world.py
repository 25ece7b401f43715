"""The fixed world: one row a source of nondeterminism, fixed or detected and named, never silent."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from quizlog_tui.proof.verdict import Verdict
from quizlog_tui.proof.verify import verify_branches
from quizlog_tui.record.append_only_list import AppendOnlyList
from quizlog_tui.record.model import Record
from quizlog_tui.replay.replayer import replay
from quizlog_tui.replay.script.source import read_source
from quizlog_tui.replay.transcript import Transcript
from quizlog_tui.replay.uncached_runs import UncachedRuns
from quizlog_tui.replay.world import (
    FIXED,
    FIXED_CONDITIONS,
    OPEN_CONDITIONS,
    REMARKABLE,
    START,
    UNAVAILABLE,
    UNVERIFIABLE,
    World,
    parse_world,
    start_of,
    world_entries,
)
from tests.support.build import Build
from tests.support.long_runs import few

pytestmark = pytest.mark.early
linux = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")
REPLAYS = (4, 20)

ADDRESS_ROWS = {
    "id": "id(object())",
    "order of a set of objects": "[a.n for a in {Thing(i) for i in range(30)}]",
    "dict of objects": "{Thing(i): i for i in range(3)}",
    "weak set": "[a.n for a in weakref.WeakSet(things)]",
    "hash of None": "hash(None), hash(object())",
}
"""What follows from addresses in memory: equal in folders whose paths are of one length."""

FIXED_ROWS = {
    "hash order of strings": "{'a', 'b', 'c', 'd', 'e'}, hash('x'), hash(b'x')",
    "garbage collection order": "collected()",
    "random": "random.random(), random.sample(range(99), 3)",
    "unseeded Random": "random.Random().random(), random.SystemRandom().random()",
    "reseeded random": "random.seed() or random.random()",
    "uuid1": "uuid.uuid1()",
    "uuid4": "uuid.uuid4()",
    "node": "uuid.getnode()",
    "os.urandom": "os.urandom(8), os.getrandom(4)",
    "dev urandom": "open('/dev/urandom', 'rb').read(5)",
    "secrets": "secrets.token_hex(4), secrets.randbelow(1000), secrets.choice('abcdef')",
    "time": "time.time(), time.time_ns(), time.monotonic(), time.monotonic_ns()",
    "cpu time": "time.process_time(), time.thread_time(), time.process_time_ns()",
    "clock_gettime": "time.clock_gettime(0), time.clock_gettime_ns(time.CLOCK_MONOTONIC)",
    "local time": "time.localtime(), time.gmtime(), time.ctime(), time.asctime(), time.strftime('%c')",
    "datetime now": "datetime.datetime.now(), datetime.datetime.now(datetime.UTC)",
    "datetime utcnow": "datetime.datetime.utcnow()",
    "datetime today": "datetime.datetime.today(), datetime.date.today()",
    "perf_counter": "time.perf_counter(), time.perf_counter_ns()",
    "os.times": "os.times()",
    "use of time and memory": "[resource.getrusage(who) for who in (0, -1)], waited()",
    "sqlite's clock": "sql(\"select date('now'), current_timestamp, strftime('%s'), time('NOW', '+1 hour')\")",
    "sqlite's chance": "sql('select random(), hex(randomblob(4))')",
    "ssl": "ssl.RAND_bytes(4)",
    "sleep": "time.sleep(500), time.time()",
    "asyncio sleep": "asyncio.run(slept())",
    "time zone": "time.tzname, time.timezone, datetime.datetime.now().astimezone()",
    "locale": "locale.getlocale(), locale.getpreferredencoding(), sys.getfilesystemencoding()",
    "environment": "sorted(set(os.environ) - {'HOME', 'PYTHONUNBUFFERED'}), os.environ['LANG']",
    "host name": "socket.gethostname(), platform.node(), os.uname().nodename",
    "pid": "os.getpid(), os.getppid(), os.getpgrp(), os.getsid(0)",
    "user": "getpass.getuser(), os.environ['LOGNAME']",
    "listdir": "os.listdir(), os.listdir(b'.')",
    "scandir": "[entry.name for entry in os.scandir()]",
    "glob": "glob.glob('*'), list(pathlib.Path().glob('*.txt')), list(os.walk('.'))",
    "temporary names": "tempfile.mkdtemp(), tempfile.mkstemp()[1], tempfile.mktemp()",
    "leftover files": "os.path.exists('left'), open('left', 'w').close(), os.path.exists('left')",
    "terminal size": "os.get_terminal_size(), shutil.get_terminal_size(), sys.stdout.isatty(), os.path.exists('/dev/tty')",
    "argv": "sys.argv, __name__",
    "network": "refused(), unresolved()",
    "BLAS sums": "(numpy.random.rand(300, 300) @ numpy.random.rand(300, 300)).sum()",
    "numpy legacy": "numpy.random.rand(), numpy.random.randint(99)",
    "unseeded default_rng": "numpy.random.default_rng().random(), numpy.random.RandomState().rand()",
    "numpy's clock": "numpy.datetime64('now'), numpy.datetime64('today'), numpy.array(['now'], 'M8[s]')",
    "randMatrix": "sympy.randMatrix(2), sympy.randMatrix(2)",
}
"""What is equal in every replay, wherever it runs. The slow modules come last."""

HEAD = """
import asyncio, datetime, gc, getpass, glob, locale, os, pathlib, platform, random, resource, secrets
import shutil, socket, sqlite3, ssl, sys, tempfile, time, uuid, weakref
class Thing:
    def __init__(self, n): self.n = n
    def __del__(self): seen.append(self.n)
seen = []
things = [Thing(i) for i in range(20)]
def collected():
    for i in range(9):
        one, two = Thing(i), Thing(i)
        one.other, two.other = two, one
    del one, two
    gc.collect()
    return seen[-18:]
async def slept():
    await asyncio.gather(asyncio.sleep(300), asyncio.sleep(200))
    return asyncio.get_running_loop().time()
def waited():
    if os.fork() == 0: os._exit(sum(range(10**5)) % 7)
    return os.wait4(-1, 0)[1:]
def sql(query): return sqlite3.connect(":memory:").execute(query).fetchone()
def refused():
    try: socket.create_connection(("192.0.2.1", 80), 1)
    except OSError as error: return error
def unresolved():
    try: socket.getaddrinfo("example.com", 80)
    except OSError as error: return error
"""


def _row(value: str) -> str:
    heavy = [f"import {name}" for name in ("numpy", "numpy.random", "sympy") if name in value]
    return "\n".join([*heavy, f"print(({value},))", ""])


def side_by_side(
    count: int, base: Path, source: str, name: Callable[[int], str]
) -> list[Transcript]:
    """Replays side by side, in folders of their own whose files were made in different orders."""

    def run(index: int) -> Transcript:
        folder = base / name(index)
        folder.mkdir()
        (folder / "quiz.py").write_text(source)
        for number in sorted(range(12), key=lambda n: (n * (index + 5)) % 13):
            (folder / f"{number}.txt").touch()
        return replay(folder / "quiz.py", 5, [])

    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(run, range(count)))


@pytest.fixture(scope="module", params=few(REPLAYS, 4))
def replays(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> list[Transcript]:
    source = HEAD + "".join(map(_row, FIXED_ROWS.values()))
    base = tmp_path_factory.mktemp("any")
    return side_by_side(request.param, base, source, lambda i: "f" * (1 + i % 7) + str(i))


@pytest.fixture(scope="module", params=few(REPLAYS, 4))
def alike(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> list[Transcript]:
    source = HEAD + "import numpy\n" + "".join(map(_row, ADDRESS_ROWS.values()))
    return side_by_side(request.param, tmp_path_factory.mktemp("alike"), source, "{:02}".format)


@pytest.mark.parametrize("row", FIXED_ROWS)
def test_what_is_fixed_is_equal_in_all_replays(row: str, replays: list[Transcript]) -> None:
    equal(list(FIXED_ROWS).index(row), replays)


@pytest.mark.parametrize("row", ADDRESS_ROWS)
def test_addresses_are_equal_in_all_replays(row: str, alike: list[Transcript]) -> None:
    equal(list(ADDRESS_ROWS).index(row), alike)


LAID_OUT = """
import os, sys
from quizlog_tui.replay.replayer import replay
first = replay(sys.argv[1], 1, [])
held = [open(os.devnull) for _ in range(120)]
assert "class" in first.stderr, first
print(first.unavailable or first.stderr == replay(sys.argv[1], 1, []).stderr)
"""


@linux
def test_memory_is_laid_out_alike_however_many_files_are_open_here(build: Build) -> None:
    script = build.script("import sys; sys._debugmallocstats()")
    command = [sys.executable, "-c", LAID_OUT, str(script)]  # a process with few open files
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout != "False\n"


def equal(index: int, runs: list[Transcript]) -> None:
    if missing := {name for run in runs for name in run.unavailable}:
        pytest.skip(f"this system lacks: {', '.join(UNAVAILABLE[name] for name in missing)}")
    assert runs[0].status == "success", runs[0].stderr
    assert len({run.print[index] for run in runs}) == 1


def verdict(build: Build, source: str, *answers: str) -> Verdict:
    """The verdict on a record of a script, made just now."""
    read = read_source(build.script(source))
    run = replay(read, 1, list(answers))
    record = Record(
        "quiz.py",
        1,
        AppendOnlyList(run.inputs),
        len(run.inputs),
        run.status,
        run.print,
        run.last_error,
        code_hash=read.code_hash,
    )
    return verify_branches(record, read, UncachedRuns())


DETECTED_ROWS = {
    "current folder": ("import os; print(os.getcwd())", "environment"),
    "__file__": ("print(__file__)", "environment"),
    "home": ("import os; print(os.path.expanduser('~'))", "environment"),
    "user number": ("import os; print(os.getuid())", "environment"),
    "groups": ("import os; print(os.getgroups(), os.getresgid())", "environment"),
    "real user": ("import os; print(os.getresuid())", "environment"),
    "interpreter": ("import sys; print(sys.executable)", "environment"),
    "prefix": ("import sys; print(sys.prefix)", "environment"),
    "system": ("import platform; print(platform.platform())", "environment"),
    "processors allowed": ("import os; print(len(os.sched_getaffinity(0)))", "environment"),
    "processors": ("import os; print(os.cpu_count())", "environment"),
    "other files": ("import os; print(os.listdir())", "leftover-file"),
    "own file, left over": (
        "import os\nprint(os.path.exists('state'))\nopen('state', 'w').close()",
        "leftover-file",
    ),
    "files outside": ("open('/var/tmp/quizlog-test', 'w').close(); print(1)", "leftover-file"),
    "times of files": ("import os; print(os.path.getmtime(__file__))", "file-metadata"),
    "numbers of files": ("import os; print(os.stat(__file__).st_ino)", "file-metadata"),
    "times in a listing": (
        "import os; print([e.stat().st_mtime for e in os.scandir() if e.name == 'state'])",
        "file-metadata",
    ),
    "numbers in a listing": (
        "import os; print([e.inode() for e in os.scandir() if e.name == 'state'])",
        "file-metadata",
    ),
    "order of times": (
        "import os; print(sorted(['quiz.py', 'state'], key=os.path.getmtime))",
        "file-metadata",
    ),
    "proc": ("print(open('/proc/self/stat').read())", "environment"),
    "load": ("import os; print(len(os.getloadavg()))", "environment"),
    "free space": ("import shutil; print(shutil.disk_usage('/').free > 0)", "environment"),
    "port": (
        "import socket; print(socket.create_server(('127.0.0.1', 0)).getsockname())",
        "network",
    ),
    "threads racing": (
        """
        import threading, time
        turns = []
        def work(name):
            for _ in range(3): turns.append(name); time.sleep(0.001)
        workers = [threading.Thread(target=work, args=(n,)) for n in range(4)]
        for one in workers: one.start()
        for one in workers: one.join()
        print(turns)
        """,
        "thread-order",
    ),
    "processes racing": (
        """
        import subprocess
        children = [subprocess.Popen(["sh", "-c", f"echo {n}"]) for n in range(3)]
        for one in children: one.wait()
        """,
        "process-order",
    ),
    "a thread beside the main program": (
        """
        import threading
        turns = []
        one = threading.Thread(target=turns.append, args=("thread",)); one.start()
        turns.append("main")
        one.join()
        print(sorted(turns))
        """,
        "thread-order",
    ),
    "a pool's thread beside the main program": (
        """
        from concurrent.futures import ThreadPoolExecutor
        pool = ThreadPoolExecutor(1)
        print(pool.submit(abs, 1).result())
        turns = []
        one = pool.submit(turns.append, "thread")
        turns.append("main")
        print(one.result(), sorted(turns))
        """,
        "thread-order",
    ),
    "a program beside the main one": (
        """
        import subprocess
        one = subprocess.Popen(["true"])
        print("main")
        one.wait()
        """,
        "process-order",
    ),
    "a fork beside the main program": (
        """
        import os
        pid = os.fork()
        if pid == 0: os._exit(0)
        print("main")
        os.waitpid(pid, 0)
        """,
        "process-order",
    ),
    "an interpreter beside the main one": (
        """
        import multiprocessing
        if __name__ == "__main__":
            one = multiprocessing.get_context("spawn").Process(target=abs, args=(1,)); one.start()
            print("main")
            one.join()
        """,
        "process-order",
    ),
    "addresses, where the folder's path counts": (
        """
        import hashlib, os
        class A: pass
        held = [A() for _ in range(int(hashlib.md5(os.getcwdb()).hexdigest()[:4], 16))]
        print([id(A()) for _ in range(3)])
        """,
        "address-order",
    ),
    "system's randomness": (
        "import os; print(os.read(os.open('/dev/urandom', os.O_RDONLY), 8))",
        "unseeded-generator",
    ),
    "the system's clock": (
        "import ctypes; print(ctypes.CDLL(None).time(None) // 10**9)",
        "clock",
    ),
    "the clock of a program": (
        "import subprocess; subprocess.run(['date', '+%s'])",
        "process-order",
    ),
    "real clock": ("import time  #quizlog: real-clock\nprint(time.time())", "clock"),
    "real network": (
        """
        import socket  #quizlog: real-network
        try: socket.getaddrinfo("quizlog.invalid", 80)
        except OSError: print("refused")
        """,
        "network",
    ),
    "real environment": ("print(1)  #quizlog: real-environment", "environment"),
}
"""What no replay can fix: the verdict names it."""
_FIRST_OF_CAUSE = {cause: row for row, (_, cause) in reversed(DETECTED_ROWS.items())}


@linux
@pytest.mark.parametrize("row", few(DETECTED_ROWS, *_FIRST_OF_CAUSE.values()))
def test_what_is_not_fixed_is_detected_and_named(row: str, build: Build) -> None:
    source, cause = DETECTED_ROWS[row]
    (build.folder / "state").touch()
    os.utime(build.folder / "state", (10**9, 10**9))
    found = verdict(build, source)
    if "folder" in found.unavailable:
        pytest.skip(UNAVAILABLE["folder"])
    assert found.verdict != "reproducible"
    assert found.cause == cause
    assert found.reason


COUNTS = """
    import os
    count = int(open("count").read()) if os.path.exists("count") else 0
    print(count)
    open("count", "w").write(str(count + 1))
    """


def test_data_that_a_script_reads_and_changes_is_its_own(build: Build) -> None:
    (build.folder / "count").write_text("7")
    found = verdict(build, COUNTS)
    assert found.verdict == "reproducible"
    assert "updates" in found.observed


def test_a_file_opened_to_be_changed_is_its_own(build: Build) -> None:
    (build.folder / "count").write_text("7")
    found = verdict(build, "with open('count', 'r+') as f: print(f.read()); f.write('8')")
    assert found.verdict == "reproducible"


@linux
def test_data_that_was_not_there_when_it_was_recorded_is_left_over(build: Build) -> None:
    read = read_source(build.script(COUNTS))
    record = Record(
        "quiz.py",
        1,
        AppendOnlyList(()),
        0,
        "success",
        AppendOnlyList(("0",)),
        None,
        code_hash=read.code_hash,
    )
    assert verify_branches(record, read, UncachedRuns()).verdict == "reproducible"
    (build.folder / "count").write_text("7")
    found = verify_branches(record, read, UncachedRuns())
    assert (found.verdict, found.cause) == ("diverges", "leftover-file")
    edited = replace(record, print=AppendOnlyList(("5",)))
    assert verify_branches(edited, read, UncachedRuns()).cause == "unknown"


@linux
def test_a_script_that_starts_python_finds_it_in_every_world(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VIRTUAL_ENV", sys.prefix)
    monkeypatch.setenv("PYTHONPATH", str(build.outside))
    (build.outside / "kept_there.py").touch()
    code = "import numpy, kept_there, os; print(numpy.pi, os.environ.get('VIRTUAL_ENV'))"
    source = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {code!r}], check=True)"
    assert verdict(build, source).verdict == "reproducible"


RELIED_ON = {
    "print({'a', 'b', 'c', 'd', 'e', 'f'})": ["hash-order"],
    "import time; print(time.time())": ["clock"],
    "import os; print(os.times())": ["clock"],
    "import resource as r; print(r.getrusage(0))": ["clock"],
    "import time; print(time.clock_gettime(time.CLOCK_PROCESS_CPUTIME_ID))": ["clock"],
    "import numpy; print(numpy.datetime64('now'))": ["clock"],
    "import sqlite3; print(*sqlite3.connect(':memory:').execute('select date()'))": ["clock"],
    "print(id(object()))": ["address-order"],
    "import time; print(time.tzname)": ["environment"],
    "import os; print(os.getpid())": ["environment"],
    "import random; print(random.Random().random())": [],
    "print('the same')": [],
}


@linux
@pytest.mark.parametrize("source", few(RELIED_ON))
def test_what_the_fixed_world_alone_holds_is_said(source: str, build: Build) -> None:
    found = verdict(build, source)
    assert found.verdict == "reproducible"
    assert list(found.relies_on) == RELIED_ON[source]


@linux
def test_the_network_is_off_for_programs_too_but_within_the_machine(build: Build) -> None:
    script = build.script(
        """
        import socket, subprocess, sys
        server = socket.create_server(("127.0.0.1", 0))
        port = server.getsockname()[1]
        ask = f"import socket; s = socket.create_connection(('127.0.0.1', {port})); s.send(b'x')"
        subprocess.run([sys.executable, "-c", ask], check=True)
        print(server.accept()[0].recv(1))
        with open("/proc/net/dev") as cards: print([line.split(":")[0].strip() for line in cards][2:])
        """
    )
    run = replay(script, 1, [])
    if "folder" in run.unavailable:
        pytest.skip(UNAVAILABLE["folder"])
    assert run.print == ("b'x'", "['lo']")


@linux
def test_single_threads_and_programs_are_noted(build: Build) -> None:
    found = verdict(
        build,
        """
        import subprocess, threading
        one = threading.Thread(target=print, args=("in a thread",))
        one.start(); one.join()
        subprocess.run(["echo", "a program"])
        """,
    )
    assert found.verdict == "reproducible"
    assert {"thread", "program"} <= set(found.observed)


IN_TURN = {
    "a pool's work": """
        from concurrent.futures import ThreadPoolExecutor
        with ThreadPoolExecutor() as pool:
            for n in range(20): print(pool.submit(abs, n).result())
        """,
    "a loop's work": """
        import asyncio
        async def main():
            for n in range(5): print(await asyncio.to_thread(abs, n))
        asyncio.run(main())
        """,
    "a loop's program": """
        import asyncio
        async def main():
            one = await asyncio.create_subprocess_exec("echo", "a", stdout=-1)
            print(await one.communicate())
        asyncio.run(main())
        """,
    "programs": """
        import os, subprocess
        print(subprocess.check_output(["echo", "a"]), subprocess.getoutput("echo b"))
        subprocess.check_call(["echo", "c"])
        os.system("echo d")
        print(os.popen("echo e").read())
        """,
    "forks": """
        import os
        for n in range(2):
            if os.fork() == 0: os.write(1, b"child"); os._exit(0)
            os.wait()
            os.write(1, b"main")
        """,
    "processes": """
        import multiprocessing
        one = multiprocessing.get_context("fork").Process(target=abs, args=(1,)); one.start()
        one.join()
        print("in turn")
        """,
}
"""Threads and programs of which none runs beside another, or beside the main program."""


@linux
@pytest.mark.parametrize("row", few(IN_TURN, "a pool's work", "a loop's program", "forks"))
def test_what_runs_in_turn_is_no_race(row: str, build: Build) -> None:
    found = verdict(build, IN_TURN[row])
    assert found.verdict == "reproducible", found.headline
    assert {"thread", "program"} & set(found.observed)


LIBRARY = """
import ctypes, threading
class Spinner(threading.Thread):
    def __init__(self):
        super().__init__(daemon=True)
        self.ended = threading.Event()
    def run(self):
        self.ended.wait()
def spin(shown=""):
    spinners = [Spinner(), Spinner()]
    for one in spinners: one.start()
    print(shown and ctypes.pythonapi[shown]())
    for one in spinners: one.ended.set(); one.join()
"""
"""A library that runs two threads at a time."""


@pytest.mark.parametrize(
    ("shown", "expected"),
    [("", ("reproducible", None)), ("_PyEval_GetSwitchInterval", ("fragile", "thread-order"))],
)
def test_threads_of_libraries_are_judged_by_what_is_shown(
    shown: str, expected: tuple[str, str | None], build: Build
) -> None:
    (build.folder / "site-packages").mkdir()
    (build.folder / "site-packages" / "spinning.py").write_text(LIBRARY)
    source = "import sys; sys.path.append('site-packages'); import spinning; spinning.spin({!r})"
    found = verdict(build, source.format(shown))
    assert (found.verdict, found.cause) == expected, found.headline
    assert "library-threads" in found.observed


HIDDEN_ANSWERS = {
    "getpass": "import getpass\nprint(len(getpass.getpass('Secret: ')))\n",
    "click": "import click\nprint(len(click.prompt('Secret', hide_input=True)))\n",
    "the terminal": """
        try: out = open("/dev/tty", "w")
        except OSError: out = open("/dev/stderr", "w")
        with out: print("Secret: ", end="", file=out)
        print(len(input()))
        """,
}


@linux
@pytest.mark.parametrize("row", HIDDEN_ANSWERS)
def test_asking_at_a_terminal_that_no_run_has_is_no_writing(row: str, build: Build) -> None:
    if row == "click":
        pytest.importorskip("click")
    source = HIDDEN_ANSWERS[row]
    found = verdict(build, source, "abc")
    assert found.verdict == "reproducible", found.headline
    run = replay(build.script(source), 1, [])
    assert run.tainted is None and run.next_prompt == "Secret: "


@linux
def test_a_program_that_differs_each_time_is_no_edited_record(build: Build) -> None:
    read = read_source(build.script("import subprocess; print(1); subprocess.run(['true'])"))
    record = Record(
        "quiz.py",
        1,
        AppendOnlyList(()),
        0,
        "success",
        AppendOnlyList(("2",)),
        None,
        code_hash=read.code_hash,
    )
    found = verify_branches(record, read, UncachedRuns())
    assert (found.verdict, found.cause) == ("diverges", "process-order")
    assert "edited" not in str(found.reason)


def test_clocks_start_where_the_record_did() -> None:
    assert start_of("2026-05-01T10:00:00+00:00") == 1_777_629_600 * 10**9
    assert start_of("2026-05-01T12:00:00+02:00") == 1_777_629_600 * 10**9
    assert start_of("2026-05-01T10:00:00") == 1_777_629_600 * 10**9
    assert {start_of(bad) for bad in (None, "", "soon", 7, "0001-01-01T00:00:00")} == {START}


@given(st.datetimes(datetime(1971, 1, 1), datetime(9998, 1, 1), timezones=st.timezones()))
def test_any_time_is_read_as_the_library_reads_it(moment: datetime) -> None:
    assume(moment.utcoffset() is not None and not moment.utcoffset() % timedelta(minutes=1))
    since = (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    assert start_of(moment.isoformat()) == since * 1000


def test_the_record_tells_the_world() -> None:
    assert parse_world(world_entries(["addresses"], ["thread", "file x"])) == {
        "fixed": " ".join(name for name in FIXED if name != "addresses"),
        "missing": "addresses",
        "isolation": "landlock",
        "met": "thread",
        "python": ".".join(map(str, sys.version_info[:3])),
    }
    assert parse_world({"somebody": "else's"}) == parse_world([1]) == parse_world(None) == {}


def test_a_run_starts_at_its_worlds_time(build: Build) -> None:
    script = build.script("import datetime; print(datetime.datetime.now())\n")
    world = World(1, start_of("2026-05-01T10:00:00Z"))
    assert replay(script, world, []).print == ("2026-05-01 10:00:00.001000",)


def test_waiting_advances_the_clock_and_takes_no_time(build: Build) -> None:
    script = build.script(
        """
        import time, asyncio
        time.sleep(10_000)
        async def both(): await asyncio.gather(*(asyncio.sleep(n) for n in (3000, 5000)))
        asyncio.run(both())
        print(time.time() - 1735689600 >= 15_000)
        """
    )
    assert replay(script, 1, []).print == ("True",)


@linux
def test_time_outs_of_real_waiting_still_come(build: Build) -> None:
    script = build.script(
        """
        import queue, threading, subprocess
        try: queue.Queue().get(timeout=0.05)
        except queue.Empty: print("empty")
        try: subprocess.run(["sleep", "60"], timeout=0.05)
        except subprocess.TimeoutExpired: print("expired")
        print(threading.Event().wait(0.05))
        """
    )
    assert replay(script, 1, []).print == ("empty", "expired", "False")


def test_sqlite_tells_the_time_of_the_world_and_reckons_as_ever(build: Build) -> None:
    script = build.script(
        """
        import sqlite3
        base = sqlite3.connect("a.db")
        def ask(query): print(*base.execute(query).fetchone())
        ask("select date('now'), current_date, time(), datetime('now', 'start of month', '+1 month')")
        ask("select strftime('%Y'), strftime('%H:%M', '2020-02-29 12:34'), julianday('2000-01-01')")
        ask("select date(), date(NULL), date('x'), datetime(0, 'unixepoch'), datetime('now') = datetime()")
        base.execute("create table t(a, b default current_timestamp, c default (date('now')))")
        base.execute("create index i on t(date(b))")
        base.executemany("insert into t(a) values(?)", [(n,) for n in range(50)])
        ask("select * from t")
        rows = [row[0] for row in base.execute("select a from t order by random()")]
        print(rows != sorted(rows), sorted(rows) == list(range(50)))
        """
    )
    day = "2025-01-01"
    assert replay(script, 1, []).print == (
        f"{day} {day} 00:00:00 2025-02-01 00:00:00",
        "2025 12:34 2451544.5",
        f"{day} None None 1970-01-01 00:00:00 1",
        f"0 {day} 00:00:00 {day}",
        "True True",
    )


def test_dates_keep_their_types(build: Build) -> None:
    script = build.script(
        """
        import datetime, pickle
        class Day(datetime.datetime): pass
        now = datetime.datetime.now()
        print(type(now) is datetime.datetime, type(Day.now()) is Day, isinstance(now, datetime.date))
        print(pickle.loads(pickle.dumps(now)) == now, Day.utcnow().tzinfo)
        print(datetime.datetime.now(datetime.timezone.utc).tzinfo)
        """
    )
    assert replay(script, 1, []).print == ("True True True", "True None", "UTC")


def test_torch_is_seeded_where_it_is(build: Build) -> None:
    (build.folder / "torch.py").write_text("def manual_seed(seed): print('seeded', seed)\n")
    assert replay(build.script("import torch\n"), 9, []).print == ("seeded 9",)


def test_children_of_a_script_do_not_repeat_its_randomness(build: Build) -> None:
    script = build.script(
        """
        import os, random, sys
        for _ in range(2):
            if os.fork() == 0:
                print(os.urandom(4).hex(), random.random()); sys.stdout.flush(); os._exit(0)
            os.wait()
        print(os.urandom(4).hex(), random.random())
        """
    )
    runs = [replay(script, 1, []).print for _ in range(2)]
    assert runs[0] == runs[1]
    assert len(set(runs[0])) == 3


def test_standard_streams_have_the_size_of_a_terminal_and_are_none(build: Build) -> None:
    script = build.script(
        """
        import os, shutil, sys
        print([tuple(os.get_terminal_size(fd)) for fd in (0, 1, 2)], tuple(os.get_terminal_size()))
        print([os.isatty(fd) for fd in (0, 1, 2)], sys.stdout.isatty())
        print(tuple(shutil.get_terminal_size((61, 7))))
        with open(__file__) as file:
            try: os.get_terminal_size(file.fileno())
            except OSError: print("no terminal")
        """
    )
    run = replay(script, 1, [])
    assert list(run.print) == [
        "[(80, 24), (80, 24), (80, 24)] (80, 24)",
        "[False, False, False] False",
        "(61, 7)",
        "no terminal",
    ]


def test_every_name_is_explained() -> None:
    assert set(UNAVAILABLE) & set(FIXED) == {"addresses", "folder"}
    assert not set(UNVERIFIABLE) & set(REMARKABLE) and not set(FIXED_CONDITIONS) & set(
        OPEN_CONDITIONS
    )


@pytest.fixture(autouse=True)
def tidy() -> Iterator[None]:
    yield
    Path("/var/tmp/quizlog-test").unlink(missing_ok=True)
