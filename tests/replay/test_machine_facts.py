"""What differs between machines and users: a script that shows it is not `reproducible`."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from quizlog_tui.proof.verdict import Verdict
from quizlog_tui.proof.verify import verify
from quizlog_tui.replay import worker
from quizlog_tui.replay.replayer import replay
from quizlog_tui.replay.world import UNAVAILABLE, World
from tests.support.build import Build
from tests.support.long_runs import few

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")
below_python = pytest.mark.skipif(
    platform.machine() != "x86_64" or platform.libc_ver()[0] != "glibc",
    reason="functions of the C library are replaced there only",
)

FACTS = {
    "user in C": "ctypes.CDLL(None).getuid()",
    "user of a fresh module": "fresh('posix').getuid()",
    "user's name": "pwd.getpwuid(os.getuid()).pw_name",
    "users": "len(pwd.getpwall())",
    "this user": "[one.pw_name for one in pwd.getpwall() if one.pw_uid == os.getuid()]",
    "user's home": "pwd.getpwuid(os.getuid()).pw_dir",
    "group's name": "grp.getgrgid(os.getgid()).gr_name",
    "groups": "len(grp.getgrall())",
    "login": "tried(os.getlogin)",
    "processors in C": "ctypes.CDLL(None).get_nprocs()",
    "processors online": "os.sysconf('SC_NPROCESSORS_ONLN')",
    "processors built in": "os.sysconf('SC_NPROCESSORS_CONF')",
    "processors of a pool": "multiprocessing.cpu_count()",
    "memory": "os.sysconf('SC_PHYS_PAGES')",
    "C library": "platform.libc_ver()",
    "C library in C": "in_c_text('gnu_get_libc_version')",
    "release": "platform.release()",
    "version in C": "in_c(ctypes.CDLL(None).uname, 390)[195:260]",
    "open files": "resource.getrlimit(resource.RLIMIT_NOFILE)",
    "open files of the system": "os.sysconf('SC_OPEN_MAX')",
    "processes": "resource.getrlimit(resource.RLIMIT_NPROC)",
    "signals": "resource.getrlimit(resource.RLIMIT_SIGPENDING)",
    "locked memory": "resource.getrlimit(resource.RLIMIT_MEMLOCK)",
    "stack": "resource.getrlimit(resource.RLIMIT_STACK)",
    "modes of new files": "(m := os.umask(0), os.umask(m))",
    "own packages": "site.getuserbase()",
}
HEAD = """
import _imp, ctypes, grp, importlib.machinery, multiprocessing, os, platform, pwd, resource, site, sys
def fresh(name): return _imp.create_builtin(importlib.machinery.ModuleSpec(name, None))
def tried(act):
    try: return act()
    except OSError as error: return type(error).__name__
def in_c_text(name):
    act = ctypes.CDLL(None)[name]
    act.restype = ctypes.c_char_p
    return act()
def in_c(act, size):
    place = ctypes.create_string_buffer(size)
    act(place)
    return place.raw
"""


def judged(build: Build, source: str) -> Verdict:
    found = verify(build.record(f"{source}\n"))
    if "folder" in found.unavailable:
        pytest.skip(UNAVAILABLE["folder"])
    return found


@below_python
@pytest.mark.parametrize("fact", few(FACTS, *list(FACTS)[::3]))
def test_what_machines_differ_in_is_found(fact: str, build: Build) -> None:
    found = judged(build, f"{HEAD}print({FACTS[fact]})")
    assert (found.verdict, found.cause) == ("fragile", "environment"), found.headline


@pytest.mark.parametrize("name", ["PYTHONPATH", "LD_LIBRARY_PATH", "CONDA_PREFIX"])
def test_search_paths_that_are_set_are_found(
    name: str, build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, str(build.outside))
    found = judged(build, f"import os; print(os.environ['{name}'])")
    assert (found.verdict, found.cause) == ("fragile", "environment"), found.headline


def test_no_variable_is_set_that_is_not_set_here(build: Build) -> None:
    script = build.script("import os; print(sorted(os.environ))")
    plain, other = (replay(script, World(1).but(one), []) for one in ((), ("environment", "home")))
    assert plain.print == other.print


SAME = {
    "a user's own number": "os.getuid() == os.geteuid() == pwd.getpwnam(pwd.getpwuid(os.getuid()).pw_name).pw_uid",
    "home": "os.path.expanduser('~') == os.environ['HOME']",
    "processors": "len({os.cpu_count(), len(os.sched_getaffinity(0)), os.sysconf('SC_NPROCESSORS_ONLN')})",
    "root": "pwd.getpwnam('root').pw_uid, grp.getgrnam('root').gr_gid",
    "what the C library tells": "os.confstr('CS_PATH'), tried_with(os.confstr, 1, 2) != ''",
    "page": "os.sysconf('SC_PAGESIZE'), os.sysconf('SC_ARG_MAX') > 0",
    "a limit that it sets": "(resource.setrlimit(resource.RLIMIT_NOFILE, (512, 512)), os.sysconf('SC_OPEN_MAX'))",
    "wrong arguments": "tried_with(os.getuid, 1), tried_with(sys.getswitchinterval, 1)",
}


@pytest.mark.parametrize("row", few(SAME))
def test_what_is_the_same_everywhere_stays_reproducible(row: str, build: Build) -> None:
    tried_with = """
def tried_with(act, *given):
    try: return act(*given)
    except TypeError as error: return str(error)
"""
    found = judged(build, f"{HEAD}{tried_with}print({SAME[row]})")
    assert found.verdict == "reproducible", found.headline


WITHOUT = """
import os, sys
sys.path.insert(0, sys.argv[1])
from worker.fixed import varying
from worker.fixed.other_machine import OtherMachine
def impossible(place): raise OSError("no code can be put in place")
varying.Native = impossible
machine = OtherMachine(3)
varying._home(machine, starts=False)
assert os.getuid() == os.geteuid() == machine.number
assert os.getresgid() == (machine.number,) * 3 and os.getgroups() == list(machine.groups)
assert os.cpu_count() == len(os.sched_getaffinity(0)) == machine.processors
assert (os.uname().release, os.uname().machine) == (machine.release, os.uname()[4])
assert os.environ["HOME"] == machine.home
"""


def test_where_code_cannot_be_replaced_functions_of_python_are() -> None:
    folder = Path(worker.__file__).parents[1]
    subprocess.run([sys.executable, "-c", WITHOUT, str(folder)], check=True)


def test_nothing_that_is_other_there_stays(build: Build) -> None:
    def state() -> tuple[bytes, list[str], list[str]]:
        rooms = [name for name in ("/srv", "/media") if Path(name).exists()]
        names = [name for room in rooms for name in os.listdir(room)]
        return Path("/etc/passwd").read_bytes(), names, sorted(os.listdir(build.folder))

    path = build.record("import os; print(os.getuid())\n")
    before = state()
    assert verify(path).verdict == "fragile"
    assert state() == before
