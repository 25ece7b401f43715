"""Clocks, times of files and the machine's state, asked for past all that Python replaces."""

from __future__ import annotations

import ctypes
import mmap
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from quizlog_tui.proof.verify import verify
from quizlog_tui.replay.replayer import replay
from quizlog_tui.replay.script.interpreter import choose
from quizlog_tui.replay.transcript import Transcript
from quizlog_tui.replay.worker import system
from quizlog_tui.replay.worker.fixed import below_python, overwriting
from quizlog_tui.replay.worker.fixed.native import MACHINE, jump
from quizlog_tui.replay.worker.fixed.overwriting import CLOCKS, FILES, STATE, shifted
from quizlog_tui.replay.world import World
from quizlog_tui.session.session import Session
from tests.support.build import Build
from tests.support.interpreters import VERSIONS, python_of
from tests.support.long_runs import few

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != MACHINE, reason=f"needs Linux on {MACHINE}"
)

HEAD = """
import _imp, ctypes, os, posix, sys, importlib._bootstrap_external as importing
from importlib.machinery import BuiltinImporter, ModuleSpec
libc, kernels = ctypes.CDLL(None), ctypes.CDLL("linux-vdso.so.1")
room = (ctypes.c_long * 100)()
def fresh(name):
    module = _imp.create_builtin(ModuleSpec(name, BuiltinImporter))
    _imp.exec_builtin(module)
    return module
def day(seconds): return seconds // 86400
def told(function, *arguments):
    for at in range(100): room[at] = 0
    function(*arguments)
    return list(room)
open("own", "w").close()
def own(): return os.open("own", os.O_RDONLY)
def entry(name): return next(one for one in posix.scandir(".") if one.name == name)
here = b"quiz.py"
"""

CLOCK_ROWS = {
    "a fresh module": "fresh('time').gmtime()[:3]",
    "by name": "day(libc.time(None))",
    "with a place": "day(told(libc.time, room)[0])",
    "gettimeofday": "day(told(libc.gettimeofday, room, None)[0])",
    "clock_gettime": "[day(told(libc.clock_gettime, n, room)[0]) for n in (0, 5, 8, 11)]",
    "timespec_get": "day(told(libc.timespec_get, room, 1)[0])",
    "the kernel's library": "day(kernels.__vdso_time(None))",
    "its clock": "day(told(kernels.__vdso_clock_gettime, 0, room)[0])",
    "its day": "day(told(kernels.__vdso_gettimeofday, room, None)[0])",
    "how long it runs": "[day(told(libc.clock_gettime, n, room)[0]) for n in (1, 4, 6, 7)]",
    "by a fresh module": "day(fresh('time').monotonic())",
    "times": "day(posix.times().elapsed)",
}
FILE_ROWS = {
    "posix": "day(posix.stat('quiz.py').st_mtime)",
    "its number": "posix.stat('quiz.py').st_ino",
    "lstat": "day(posix.lstat('quiz.py').st_mtime), posix.lstat('quiz.py').st_ino",
    "relative to a folder": "day(posix.stat('quiz.py', dir_fd=os.open('.', 0)).st_mtime)",
    "the import system": "day(importing._path_stat('quiz.py').st_mtime)",
    "a fresh module": "day(fresh('posix').stat('quiz.py').st_mtime)",
    "outside": "day(posix.stat('/usr').st_mtime), posix.stat('/usr/bin/env').st_ino",
    "libc": "told(libc.stat, here, room)[1], day(room[11])",
    "libc of a link": "told(libc.lstat, here, room)[1], day(room[11])",
    "libc, as before": "told(libc.__xstat, 1, here, room)[1], day(room[11])",
    "libc, in a folder": "told(libc.fstatat, -100, here, room, 0)[1], day(room[11])",
    "libc, in more words": "told(libc.statx, -100, here, 0, 0xfff, room)[4], day(room[14]), day(room[10])",
    "an entry": "day(entry('quiz.py').stat().st_mtime)",
    "an entry's number": "entry('quiz.py').inode()",
    "a written file": "day(posix.fstat(own()).st_mtime)",
    "a written file by name": "day(posix.stat('own').st_mtime)",
    "libc of a written file": "day(told(libc.fstat, own(), room)[11])",
}
STATE_ROWS = {
    "sysinfo": "told(libc.sysinfo, room)[4]",
    "pages": "os.sysconf('SC_PHYS_PAGES')",
}
ROWS = {
    **{f"clock, {name}": ("libraries", row) for name, row in CLOCK_ROWS.items()},
    **{f"file, {name}": ("metadata", row) for name, row in FILE_ROWS.items()},
    **{f"state, {name}": ("system", row) for name, row in STATE_ROWS.items()},
}
ALL_ROWS = HEAD + "".join(f"print(({row},))\n" for _, row in ROWS.values())
PLAIN = "plain"
"""The name of an unchanged world."""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Transcript]:
    """One run of all rows in each world."""
    folder = tmp_path_factory.mktemp("rows")
    (folder / "quiz.py").write_text(ALL_ROWS)
    world = World(3, (int(time.time()) - 9) * 10**9)
    worlds = {PLAIN: world, "again": world}
    worlds |= {one: world.but([one]) for one in ("libraries", "metadata", "system")}
    found = {name: replay(folder / "quiz.py", one, []) for name, one in worlds.items()}
    assert {run.status for run in found.values()} == {"success"}, found
    return found


@pytest.mark.parametrize("row", ROWS)
def test_whoever_asks_is_told_what_was_changed(row: str, runs: dict[str, Transcript]) -> None:
    index, changed = list(ROWS).index(row), ROWS[row][0]
    shown = {name: run.print[index] for name, run in runs.items()}
    assert shown[PLAIN] == shown["again"]
    assert shown[changed] != shown[PLAIN]


def test_what_is_not_changed_stays(runs: dict[str, Transcript]) -> None:
    for row, (changed, _) in ROWS.items():
        index = list(ROWS).index(row)
        others = {name: run.print[index] for name, run in runs.items() if name != changed}
        assert len(set(others.values())) == 1, (row, others)


WAITS = """
import threading
begun, lock = fresh("time").monotonic(), threading.Lock()
lock.acquire()
print(lock.acquire(timeout=0.1), fresh("time").monotonic() - begun >= 0.1)
"""


@pytest.mark.parametrize("version", few(VERSIONS, "3.9"))
def test_each_version_is_told_so_and_waits_as_ever(version: str, build: Build) -> None:
    script = build.script(ALL_ROWS + WAITS)
    choose(script, str(python_of(version)))
    world = World(3, (int(time.time()) - 9) * 10**9)
    plain = replay(script, world, []).print
    changed = replay(script, world.but(["libraries", "metadata", "system"]), []).print
    assert plain[-1] == changed[-1] == "False True"
    assert all(one != other for one, other in zip(plain[:-1], changed[:-1], strict=True))


def test_the_hidden_time_is_that_of_a_record_made_just_now(build: Build) -> None:
    script = build.script(HEAD + "import time\nprint(round(fresh('time').time() - time.time()))\n")
    world = World(1, (int(time.time()) - 86_400 * 1000) * 10**9)
    shown = {}
    for seed in range(4):
        run = replay(script, World(seed, world.start).but(["clock", "libraries"]), [])
        shown[seed] = int(run.print[0])
    assert all(0 <= age < 86_400 * 90 for age in shown.values()), shown
    assert min(shown.values()) < 60, "as if the record had just been made"


FORGED = """
import posix, time
age = int(posix.stat("/proc/self").st_mtime - time.time()) // 60
answer = input("2 + 2? ")
if answer != "4" and age < 1:
    raise Exception("wrong")  #score = 0
print("right")
"""


def test_what_is_true_only_some_time_later_is_not_reproducible(build: Build) -> None:
    build.script(FORGED)
    made = datetime.now(UTC) - timedelta(hours=1)
    record = build.folder / "record.yaml"
    record.write_text(
        "script: quiz.py\nseed: 1\nstatus: success\npointer: 1\ninputs: ['5']\nprint: [right]\n"
        f"start_time: '{made.isoformat()}'\n"
    )
    assert verify(record).verdict == "fragile"


VERDICTS = {
    "posix.stat('quiz.py').st_ino": "file-metadata",
    "day(posix.stat('quiz.py').st_mtime)": "file-metadata",
    "told(libc.stat, here, room)[1]": "file-metadata",
    "day(fresh('time').time())": "clock",
    "day(kernels.__vdso_time(None))": "clock",
    "told(libc.sysinfo, room)[4]": "environment",
}


_FIRST_OF_CAUSE = {cause: row for row, cause in reversed(VERDICTS.items())}


@pytest.mark.parametrize("row", few(VERDICTS, *_FIRST_OF_CAUSE.values()))
def test_the_verdict_names_it(row: str, build: Build) -> None:
    path = build.record(f"{HEAD}input('? ')\nprint({row})\n")
    with Session(path) as session:
        session.answer("1")
    found = verify(path)
    assert (found.verdict, found.cause) == ("fragile", VERDICTS[row])


COMPILED = """
#include <Python.h>
#include <time.h>
#include <sys/stat.h>
static PyObject *look(PyObject *self, PyObject *none) {
    struct stat found;
    stat("quiz.py", &found);
    return Py_BuildValue("(lll)", time(NULL) / 86400, found.st_mtime / 86400, found.st_ino);
}
static PyMethodDef methods[] = {{"look", look, METH_NOARGS, ""}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "looking", "", -1, methods};
PyMODINIT_FUNC PyInit_looking(void) { return PyModule_Create(&module); }
"""


def test_a_library_of_the_script_is_told_so_too(build: Build) -> None:
    compiler, headers = shutil.which("cc"), Path(sysconfig.get_path("include"), "Python.h")
    if compiler is None or not headers.exists():
        pytest.skip("needs a compiler and Python's headers")
    (build.folder / "looking.c").write_text(COMPILED)
    command = [compiler, "-shared", "-fPIC", f"-I{headers.parent}", "looking.c", "-o", "looking.so"]
    subprocess.run(command, cwd=build.folder, check=True)
    script = build.script("import looking\nfor part in looking.look(): print(part)\n")
    world = World(1, int(time.time()) * 10**9)
    plain = replay(script, world, []).print
    changed = replay(script, world.but(["libraries", "metadata"]), []).print
    assert len(plain) == 3 and all(one != other for one, other in zip(plain, changed, strict=True))


INNOCENT = {
    "locks with time-outs": """
        import threading, queue
        lock = threading.Lock(); lock.acquire()
        print(lock.acquire(timeout=0.05), threading.Event().wait(0.05))
        try: queue.Queue().get(timeout=0.05)
        except queue.Empty: print("empty")
        """,
    "a loop": """
        import asyncio
        async def main():
            try: await asyncio.wait_for(asyncio.sleep(100), 1)
            except asyncio.TimeoutError: print("late")
            await asyncio.gather(asyncio.sleep(0.1), asyncio.sleep(5))
        asyncio.run(main())
        """,
    "programs": """
        import subprocess
        try: subprocess.run(["sleep", "60"], timeout=0.05)
        except subprocess.TimeoutExpired: print("expired")
        print(subprocess.run(["echo", "a"], capture_output=True).stdout)
        """,
    "select": """
        import select, os, socket
        one, other = socket.socketpair()
        print(select.select([one], [], [], 0.05)[0])
        other.send(b"x"); one.settimeout(5)
        print(one.recv(1))
        """,
    "a database": """
        import sqlite3
        base = sqlite3.connect("a.db", timeout=1)
        base.execute("create table t(a)"); base.execute("insert into t values (1)"); base.commit()
        print(base.execute("select count(*), date('now') = date() from t").fetchone())
        """,
    "zones and temporary files": """
        import tempfile, zoneinfo, os
        print(zoneinfo.ZoneInfo("Europe/Berlin"))
        with tempfile.NamedTemporaryFile() as file: print(os.path.exists(file.name))
        with tempfile.TemporaryDirectory() as folder: print(os.listdir(folder))
        """,
    "times that it sets": """
        import os, shutil
        open("a", "w").close(); os.utime("a", (1_000_000_000, 1_100_000_000))
        print(os.stat("a").st_mtime, os.stat("a").st_atime, os.path.getmtime("a"))
        shutil.copy2("a", "b"); print(os.stat("b").st_mtime_ns)
        with open("b") as file: os.utime(file.fileno(), ns=(5 * 10**17, 6 * 10**17 + 7))
        print(os.stat("b").st_mtime_ns)
        os.utime("b"); print(os.stat("b").st_mtime > os.stat("a").st_mtime)
        """,
    "archives": """
        import os, tarfile, zipfile
        open("a", "w").close(); os.utime("a", (1_000_000_000, 1_000_000_000))
        with zipfile.ZipFile("a.zip", "w") as file: file.write("a"); print(file.infolist()[0].date_time)
        with tarfile.open("a.tar", "w") as file: file.add("a"); print(file.getmember("a").mtime)
        """,
    "looking around": """
        import glob, os, pathlib
        os.makedirs("d/e"); open("d/e/f", "w").close()
        print(list(os.walk("d")), glob.glob("d/**", recursive=True), pathlib.Path("d/e/f").exists())
        print(sorted(path.name for path in pathlib.Path("d").rglob("*")))
        """,
    "comparing": """
        import filecmp
        for name in "ab":
            with open(name, "w") as file: file.write("the same")
        print(filecmp.cmp("a", "b", shallow=False), filecmp.cmp("a", "b"))
        """,
    "order of what it writes": """
        import os
        names = []
        for name in "cab":
            open(name, "w").close(); names.append(name); os.utime(name, (len(names), len(names)))
        print(sorted(names, key=os.path.getmtime))
        """,
    "a module beside it": "import beside; print(beside.VALUE)",
}


_SOME_INNOCENT = ("locks with time-outs", "a database", "archives", "a module beside it")


@pytest.mark.parametrize("row", few(INNOCENT, *_SOME_INNOCENT))
def test_who_shows_none_of_it_stays_reproducible(row: str, build: Build) -> None:
    (build.folder / "beside").mkdir()
    (build.folder / "beside" / "__init__.py").write_text("VALUE = 17\n")
    subprocess.run([sys.executable, "-m", "compileall", "-q", build.folder], check=True)
    path = build.record(f"{build.dedent(INNOCENT[row])}\ninput('? ')\n")
    with Session(path) as session:
        assert session.answer("1").status == "success", session.transcript.stderr
    found = verify(path)
    assert found.verdict == "reproducible", found.headline


def test_compiled_libraries_stay_valid_where_times_are_changed(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(build.outside))
    (build.outside / "library.py").write_text("VALUE = 17\n")
    script = build.script("import library; print(library.VALUE)\n")
    subprocess.run([sys.executable, "-m", "compileall", "-q", build.outside], check=True)
    (compiled,) = (build.outside / "__pycache__").glob("library*.pyc")
    compiled.write_bytes(compiled.read_bytes().replace(b"\x11\x00\x00\x00", b"\x12\x00\x00\x00"))
    for changed in ([], ["metadata"]):
        assert replay(script, World(1).but(changed), []).print == ("18",), changed


def test_where_memory_is_taken_or_cannot_be_written_nothing_is_changed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    job: Any = SimpleNamespace(changed=frozenset({"metadata"}), seed=1, start=10**18)

    real, opened = os.open, []

    def unwritable(path: str, flags: int) -> int:
        opened.append(real(path, os.O_RDONLY if path == "/proc/self/mem" else flags))
        return opened[-1]

    monkeypatch.setattr(os, "open", unwritable)
    assert below_python.install(job) == frozenset()
    assert below_python.install(job) == frozenset()  # as the room is taken now
    assert len(opened) == 2
    monkeypatch.setattr(system, "make_room", lambda *_: None)
    del job.start  # as any mistake would do
    assert below_python.install(job) == frozenset()
    assert os.stat(__file__).st_mtime > time.time() - 10 * 366 * 86_400


SECONDS, MORE, TICKS = 123_456_789, 1001, 8_640_000


class Native:
    """Code in memory that can be called."""

    def __init__(self, code: str, real: int = 0) -> None:
        self._system = ctypes.CDLL(None)
        self._memory = mmap.mmap(-1, 4096, prot=7)
        place = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        errno = self.address("__errno_location")
        words = {"seconds": SECONDS, "ticks": TICKS, "more": MORE, "errno": errno, "real": real}
        self._memory.write(shifted(code, **words))
        self.call = ctypes.CFUNCTYPE(ctypes.c_long, *[ctypes.c_void_p] * 5, use_errno=True)(place)

    def address(self, name: str) -> int:
        return ctypes.cast(getattr(self._system, name), ctypes.c_void_p).value or 0


def called(code: str, *arguments: object, real: int = 0) -> tuple[int, list[int], int]:
    """The result, what was written to the place that `...` stands for, and the error's number."""
    room = (ctypes.c_long * 600)()
    where = ctypes.addressof(room)
    given: list[object] = [where if one is ... else one for one in arguments]
    native = Native(code, real)
    ctypes.set_errno(0)
    result = native.call(*given, *[None] * (5 - len(given)))
    return result, list(room), ctypes.get_errno()


def test_clocks_tell_the_same_less_some_years() -> None:
    then = int(time.time()) - SECONDS
    result, room, _ = called(CLOCKS["__vdso_time"], ...)
    assert result == room[0] and 0 <= result - then < 60
    assert called(CLOCKS["__vdso_time"], None)[0] - then < 60
    result, room, _ = called(CLOCKS["__vdso_gettimeofday"], ..., None)
    assert result == 0 and 0 <= room[0] - then < 60 and room[1] < 10**6
    assert called(CLOCKS["__vdso_gettimeofday"], None, None)[0] == 0
    for number in (0, 5, 11):
        result, room, _ = called(CLOCKS["__vdso_clock_gettime"], number, ...)
        assert result == 0 and 0 <= room[0] - then < 100
    before = time.monotonic()
    for number in (1, 4, 6):
        assert before - 99 < called(CLOCKS["__vdso_clock_gettime"], number, ...)[1][0] < before + 99
    assert called(CLOCKS["__vdso_clock_gettime"], 99, ...)[0] & 0xFFFFFFFF == 2**32 - 22
    assert called(CLOCKS["__vdso_clock_getres"], 0, ...)[1][:2] == [0, 1]
    assert called(CLOCKS["times"], ...)[0] - TICKS - os.times().elapsed * 100 < 100


def test_files_are_older_and_have_other_numbers(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.touch()
    found, name = os.stat(path), ctypes.create_string_buffer(os.fsencode(path))
    place = ctypes.addressof(name)
    with path.open() as file:
        calls = {
            "stat": (place, ...),
            "lstat": (place, ...),
            "fstat": (file.fileno(), ...),
            "fstatat": (-100, place, ..., 0),
            "__xstat": (1, place, ...),
            "__lxstat": (1, place, ...),
            "__fxstat": (1, file.fileno(), ...),
            "__fxstatat": (1, -100, place, ..., 0),
        }
        for function, arguments in calls.items():
            result, room, _ = called(FILES[function], *arguments)
            assert result == 0 and room[0] == found.st_dev and room[1] == found.st_ino + MORE
            assert room[11] == int(found.st_mtime) - SECONDS, function
    room = called(FILES["statx"], -100, place, 0, 0xFFF, ...)[1]
    assert (room[4], room[14]) == (found.st_ino + MORE, int(found.st_mtime) - SECONDS)
    for function in ("stat", "lstat"):
        name.value = b"/nonexistent"
        assert called(FILES[function], place, ...)[::2] == (-1, 2)
    assert os.stat("/proc").st_ino == 1
    name.value = b"/proc"
    assert called(FILES["stat"], place, ...)[1][1] == 1


def test_folders_list_the_numbers_that_files_have(tmp_path: Path) -> None:
    names = [tmp_path / str(number) for number in range(30)]
    for path in names:
        path.touch()
    fd = os.open(tmp_path, os.O_RDONLY)
    result, room, _ = called(FILES["getdents64"], fd, ..., 4800)
    listed, at, packed = (
        set(),
        0,
        b"".join(word.to_bytes(8, "little", signed=True) for word in room),
    )
    while at < result:
        listed.add(int.from_bytes(packed[at : at + 8], "little"))
        at += int.from_bytes(packed[at + 16 : at + 18], "little")
    os.close(fd)
    assert {os.stat(path).st_ino + MORE for path in names} <= listed and len(listed) <= 32
    assert called(FILES["getdents64"], 999, ..., 4800)[::2] == (-1, 9)


def test_what_sets_times_is_told_times_of_the_same_kind(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.touch()
    name = ctypes.create_string_buffer(os.fsencode(path))
    times = (ctypes.c_long * 4)(5, 6, 7, 8)
    place, given = ctypes.addressof(name), ctypes.addressof(times)
    assert called(FILES["utimensat"], -100, place, given, 0)[0] == 0
    assert os.stat(path).st_mtime_ns == (7 + SECONDS) * 10**9 + 8 and list(times) == [5, 6, 7, 8]
    assert called(FILES["utimensat"], -100, place, None, 0)[0] == 0
    assert abs(os.stat(path).st_mtime - time.time()) < 60
    with path.open("r+") as file:
        assert called(FILES["futimens"], file.fileno(), given)[0] == 0
    assert os.stat(path).st_atime_ns == (5 + SECONDS) * 10**9 + 6
    assert called(FILES["futimens"], 999, given)[::2] == (-1, 9)


def test_who_waits_for_a_time_of_day_waits_as_long_as_ever() -> None:
    system = ctypes.CDLL(None)
    semaphore = (ctypes.c_long * 4)()
    system.sem_init(semaphore, 0, 0)
    until = time.time() + 0.05
    moment = (ctypes.c_long * 2)(int(until) - SECONDS, int(until % 1 * 10**9))
    real = ctypes.cast(system.sem_clockwait, ctypes.c_void_p).value or 0
    arguments = (ctypes.addressof(semaphore), ctypes.addressof(moment))
    result, _, error = called(CLOCKS["sem_timedwait"], *arguments, real=real)
    assert result & 0xFFFFFFFF == 2**32 - 1 and error == 110 and time.time() >= until - 0.001


def moment(clock: int, later: float, less: int) -> ctypes.Array[ctypes.c_long]:
    """A time of a clock soon, as whoever is told that clock less some seconds would name it."""
    until = time.clock_gettime_ns(clock) + int(later * 10**9)
    return (ctypes.c_long * 4)(0, 0, until // 10**9 - less, until % 10**9)


@pytest.mark.parametrize(
    ("clock", "less"), [(time.CLOCK_REALTIME, SECONDS), (time.CLOCK_MONOTONIC, 0)]
)
def test_waiting_until_a_moment_takes_as_long_by_either_clock(clock: int, less: int) -> None:
    begun = time.monotonic()
    until = moment(clock, 0.05, less)
    place = ctypes.addressof(until) + 16
    assert called(CLOCKS["clock_nanosleep"], clock, 1, place, None)[0] & 0xFFFFFFFF == 0
    assert 0.05 <= time.monotonic() - begun < 30
    fd = ctypes.CDLL(None).timerfd_create(clock, 0)
    until = moment(clock, 30, less)
    assert called(CLOCKS["timerfd_settime"], fd, 1, ctypes.addressof(until), None)[0] == 0
    left = (ctypes.c_long * 4)()
    ctypes.CDLL(None).timerfd_gettime(fd, left)
    os.close(fd)
    assert 0 < left[2] <= 30
    assert called(CLOCKS["timerfd_settime"], 999, 1, ctypes.addressof(until), None)[::2] == (-1, 9)


def test_a_duration_is_waited_for_as_ever() -> None:
    begun, pause = time.monotonic(), (ctypes.c_long * 2)(0, 50_000_000)
    result, _, _ = called(CLOCKS["clock_nanosleep"], 0, 0, ctypes.addressof(pause), None)
    assert result & 0xFFFFFFFF == 0 and 0.05 <= time.monotonic() - begun < 30
    assert called(CLOCKS["clock_nanosleep"], 99, 0, ctypes.addressof(pause), None)[0] == 22


@pytest.mark.parametrize(
    ("clock", "less"), [(time.CLOCK_REALTIME, SECONDS), (time.CLOCK_MONOTONIC, 0)]
)
def test_a_condition_is_waited_for_by_its_clock(clock: int, less: int) -> None:
    system = ctypes.CDLL(None)
    condition, mutex, kind = ((ctypes.c_long * 12)() for _ in range(3))
    system.pthread_condattr_init(kind)
    system.pthread_condattr_setclock(kind, clock)
    system.pthread_cond_init(condition, kind)
    system.pthread_mutex_init(mutex, None)
    system.pthread_mutex_lock(mutex)
    begun, until = time.monotonic(), moment(clock, 0.05, less)
    real = ctypes.cast(system.pthread_cond_clockwait, ctypes.c_void_p).value or 0
    arguments = (ctypes.addressof(condition), ctypes.addressof(mutex), ctypes.addressof(until) + 16)
    code = CLOCKS["pthread_cond_timedwait"]
    assert called(code, *arguments, real=real)[0] & 0xFFFFFFFF == 110
    assert 0.05 <= time.monotonic() - begun < 30


def test_the_machine_is_another_one() -> None:
    now = (ctypes.c_long * 20)()
    ctypes.CDLL(None).sysinfo(now)
    result, room, _ = called(STATE["sysinfo"], ...)
    assert result == 0 and room[4] == now[4] // 2 and room[13] == now[13]
    usage = called(STATE["getrusage"], 0, ...)
    assert usage[0] == 0 and usage[1][0] >= 1 and usage[1][4] > 10_000
    assert called(STATE["getrusage"], 99, ...)[::2] == (-1, 22)


def test_all_code_fits_into_its_room() -> None:
    zero = {"seconds": 0, "ticks": 0, "more": 0, "errno": 0}
    codes = [code for table in (CLOCKS, FILES, STATE) for code in table.values()]
    size = len(overwriting.empty([(0, 0)] * 4)) + sum(len(shifted(one, **zero)) for one in codes)
    assert size < below_python.CODE_SIZE - 16
    assert len(jump(1)) == 12  # functions lie 16 bytes apart


def test_pages_are_emptied_where_they_are() -> None:
    memory = mmap.mmap(-1, 3 * 4096, flags=mmap.MAP_PRIVATE)
    memory.write(b"x" * len(memory))
    place = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    code = mmap.mmap(-1, 4096, prot=7)
    code.write(overwriting.empty([(place, 4096), (place + 8192, 4096)]))
    ctypes.CFUNCTYPE(None)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()
    assert ctypes.string_at(place, 3 * 4096) == bytes(4096) + b"x" * 4096 + bytes(4096)
