"""What a hostile script sees of the judging world: nothing there tells it from any real machine."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from quizlog_tui.proof.verify import elsewhere
from quizlog_tui.replay.replayer import replay
from quizlog_tui.replay.script.source import read_source
from quizlog_tui.replay.transcript import Transcript
from quizlog_tui.replay.worker.fixed import other_machine
from quizlog_tui.replay.worker.fixed.other_machine import OtherMachine
from quizlog_tui.replay.world import FIXED_CONDITIONS, OPEN_CONDITIONS, UNAVAILABLE, World
from tests.support.build import Build

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")

CONDITIONS = tuple(name for name in (*FIXED_CONDITIONS, *OPEN_CONDITIONS) if name != "entropy")
SEEDS = range(1, 7)
LOOK = r"""
import builtins, gc, getpass, grp, json, locale, multiprocessing, os, platform, posix, pwd, re
import resource, shutil, signal, site, socket, sys, sysconfig, threading, time, types

def kind(value):
    words = [type(value).__name__, str(getattr(value, "__module__", "")), getattr(value, "__doc__", "")]
    def shown(one): return re.sub("0x[0-9a-f]+", "", repr(one)).replace(sys.executable, "")
    if isinstance(value, (types.FunctionType, types.BuiltinFunctionType, types.MethodType, type)):
        words += [shown(value), value.__qualname__]
        words += [shown(getattr(value, name, None)) for name in ("__text_signature__", "__defaults__")]
        words += [str(len(getattr(value, "__closure__", None) or ()))]
    return words

def is_open(number):
    try: os.fstat(number)
    except OSError: return False
    return True

def tried(act):
    try: return act()
    except OSError as error: return type(error).__name__

modules = (builtins, gc, grp, os, platform, posix, pwd, resource, shutil, signal, site, socket, sys, time)
user = pwd.getpwuid(os.getuid())
names = {
    "variables": sorted(os.environ),
    "order of variables": list(os.environ),
    "modules": sorted(sys.modules),
    "descriptors": [number for number in range(1024) if is_open(number)],
    "attributes": {f"{m.__name__}.{n}": kind(getattr(m, n)) for m in modules for n in dir(m)},
    "environ": kind(os.environ), "main": sorted(globals()),
    "finders": [kind(one) for one in sys.meta_path], "hooks": len(sys.path_hooks),
    "flags": list(sys.flags), "handlers": [str(signal.getsignal(n)) for n in range(1, 32)],
    "threads": [threading.active_count(), len(sys._current_frames())],
    "limits": [sys.getrecursionlimit(), gc.get_threshold(), gc.isenabled(), gc.get_freeze_count() > 0],
    "tracing": [str(sys.gettrace()), str(sys.getprofile())],
    "argv": sys.argv, "locale": locale.getlocale(), "length of path": len(sys.path),
    "timers": [signal.getitimer(n) for n in range(3)], "mask": sorted(signal.pthread_sigmask(0, ())),
    "interval": sys.getswitchinterval(),
    "is home": [os.path.expanduser("~") == os.environ["HOME"], getpass.getuser() == os.environ["USER"]],
    "packages": [site.getuserbase() == os.environ["HOME"] + "/.local", len(site.getsitepackages())],
    "numbers": [os.getuid() == os.geteuid(), os.getgid() == os.getegid(), os.getppid() - os.getpid()],
    "prefixes": [os.path.exists(one) for one in (sys.prefix, sys.base_prefix, sys.executable)],
    "interpreter": [sys.executable == one for one in (sys._base_executable, sys.orig_argv[0])],
    "its folder": [os.environ["PATH"].split(":")[0], sys.prefix + "/bin"] == [os.path.dirname(sys.executable)] * 2,
    "its packages": [os.path.relpath(one, sys.prefix) for one in sys.path if one.startswith(sys.prefix)],
    "stdlib": [os.__file__.startswith(sys.base_prefix), sysconfig.get_path("stdlib") in sys.path],
}
values = {
    "variables": dict(os.environ), "path": sys.path, "folder": os.getcwd(), "file": __file__,
    "files": sorted(os.listdir()), "contents": {n: open(n).read() for n in sorted(os.listdir())},
    "process": os.getpid(), "terminal": list(os.get_terminal_size()), "zone": time.tzname,
    "user": os.getuid(), "users": list(os.getresuid()), "group": os.getgid(), "groups": os.getgroups(),
    "account": [user.pw_name, user.pw_uid, user.pw_gid, user.pw_dir],
    "its group": grp.getgrgid(os.getgid()).gr_name, "accounts": len(pwd.getpwall()),
    "system": list(os.uname()), "platform": platform.platform(), "login": tried(os.getlogin),
    "processors": [os.cpu_count(), multiprocessing.cpu_count(), len(os.sched_getaffinity(0)),
                   os.sysconf("SC_NPROCESSORS_ONLN"), os.sysconf("SC_NPROCESSORS_CONF"),
                   getattr(os, "process_cpu_count", os.cpu_count)()],
    "pages": [os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_AVPHYS_PAGES")],
    "limits": {n: resource.getrlimit(getattr(resource, n)) for n in dir(resource) if n[:7] == "RLIMIT_"},
    "python": [sys.executable, sys.prefix, sys.exec_prefix, sys.base_prefix],
    "mask": [mask := os.umask(0), os.umask(mask)][0], "host": socket.gethostname(),
}
print(json.dumps([names, values]))
"""
MIRRORED = frozenset({"stat", "lstat", "fstat", "scandir"})
"""Functions that are replaced in Python where metadata are changed."""
MARKS = re.compile(r"nonexistent|elsewhere|somebody|varied|stray|judg|\(other\)|/\.{1,2}(/|$)|zz")
PEOPLE = re.compile(r"[a-z]{2,12}")


def run_in(script: Path, seed: int, changed: Iterable[str]) -> Transcript:
    """A run in a world in which conditions are changed."""
    source = read_source(script)
    world = World(seed).but(changed)
    if "folder" not in world.changed:
        return replay(source, world, [])
    with elsewhere(source.path.parent, seed) as at:
        return replay(source, replace(world, at=at), [])


class Looks:
    """What the script sees in worlds."""

    def __init__(self, folder: Path) -> None:
        self._script = Build(folder, str).script(LOOK)
        (folder / "data.txt").write_text("1 2 3\n")
        self._known: dict[tuple[int, tuple[str, ...]], tuple[Any, Any]] = {}
        pairs = [(seed, changed) for seed in (1, 2) for changed in ((), *zip(CONDITIONS))]
        pairs += [(seed, CONDITIONS) for seed in SEEDS]
        with ThreadPoolExecutor(2) as pool:
            self._known.update(zip(pairs, pool.map(self._look, pairs), strict=True))

    def _look(self, of: tuple[int, tuple[str, ...]]) -> tuple[Any, Any]:
        run = run_in(self._script, *of)
        assert run.status == "success", run.stderr
        if run.unavailable:
            pytest.skip(", ".join(UNAVAILABLE[name] for name in run.unavailable))
        names, values = json.loads(run.print[0])
        return names, values

    def names(self, seed: int, changed: Iterable[str] = ()) -> Any:
        return self._known[seed, tuple(changed)][0]

    def values(self, seed: int, changed: Iterable[str] = ()) -> Any:
        return self._known[seed, tuple(changed)][1]


@pytest.fixture(scope="module")
def looks(tmp_path_factory: pytest.TempPathFactory) -> Looks:
    return Looks(tmp_path_factory.mktemp("quiz"))


@pytest.mark.parametrize("changed", [*zip(CONDITIONS), CONDITIONS], ids=" ".join)
def test_no_name_or_kind_is_other_in_the_judging_world(
    changed: tuple[str, ...], looks: Looks
) -> None:
    for seed in (1, 2):
        here, there = looks.names(seed), looks.names(seed, changed)
        for each in here:
            if each == "attributes":
                assert set(here[each]) == set(there[each])
                other = {name for name in here[each] if here[each][name] != there[each][name]}
                mirrored = MIRRORED if "metadata" in changed else ()
                assert {name for name in other if name.split(".")[1] not in mirrored} == set()
            else:
                assert here[each] == there[each], each


def is_person(name: str) -> bool:
    return PEOPLE.fullmatch(name) is not None and name not in ("quizlog", "root")


REAL: dict[str, Callable[[Any], bool]] = {
    "a name": lambda v: is_person(v["variables"]["USER"]),
    "one name": lambda v: v["variables"]["USER"] == v["variables"]["LOGNAME"] == v["login"],
    "a home": lambda v: v["variables"]["HOME"] == f"/home/{v['variables']['USER']}",
    "a zone": lambda v: (
        (Path("/usr/share/zoneinfo") / v["variables"]["TZ"]).exists()
        or not Path("/usr/share/zoneinfo").exists()
    ),
    "a language": lambda v: (
        re.fullmatch(r"[a-z]{2}_[A-Z]{2}\.UTF-8", v["variables"]["LANG"]) is not None
    ),
    "a search path": lambda v: v["variables"]["PATH"].split(":")[-1].startswith("/home/"),
    "an account": lambda v: (
        v["account"] == [v["variables"]["USER"], v["user"], v["group"], v["variables"]["HOME"]]
    ),
    "a group": lambda v: v["its group"] == v["account"][0] and v["group"] in v["groups"],
    "a number": lambda v: 1000 <= v["user"] < 1100 and v["users"] == [v["user"]] * 3,
    "some accounts": lambda v: 5 < v["accounts"] < 100,
    "a process": lambda v: 300 < v["process"] < 2**22,
    "a terminal": lambda v: 80 <= v["terminal"][0] <= 300 and 24 <= v["terminal"][1] <= 100,
    "a release": lambda v: (
        re.fullmatch(r"[56]\.\d+\.\d+-[\w.]+(-\w+)?", v["system"][2]) is not None
    ),
    "a version": lambda v: (
        re.match(r"#\d+[~.\d]*(-Ubuntu)? SMP", v["system"][3]) is not None
        and len(v["system"][3]) <= 64
    ),
    "one system": lambda v: v["system"][2] in v["platform"],
    "processors": lambda v: len(set(v["processors"])) == 1 and v["processors"][0] % 2 == 0,
    "memory": lambda v: 2**19 < v["pages"][0] < 2**25 and 0 < v["pages"][1] < v["pages"][0],
    "limits": lambda v: (
        all(s <= h or h == -1 for s, h in v["limits"].values())
        and v["limits"]["RLIMIT_NOFILE"][0] >= 1024
    ),
    "an interpreter": lambda v: (
        re.fullmatch(r"python(3(\.\d+)?)?", Path(v["python"][0]).name) is not None
    ),
    "a mask": lambda v: v["mask"] in (0o002, 0o022, 0o027),
    "a folder": lambda v: re.fullmatch(r"/[a-z]+(/[\w.-]+)+", v["folder"]) is not None,
    "files": lambda v: all(re.fullmatch(r"[a-z]+\.[a-z]+", name) for name in v["files"]),
    "contents": lambda v: all(v["contents"].values()) and "left" not in str(v["contents"]),
}


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_shown_there_is_what_real_machines_show(seed: int, looks: Looks) -> None:
    values = looks.values(seed, CONDITIONS)
    assert [name for name, is_real in REAL.items() if not is_real(values)] == []
    values["contents"].pop("quiz.py")
    assert MARKS.findall(json.dumps(values)) == []


OTHER: dict[str, Callable[[Any], Any]] = {
    "user": lambda v: v["variables"]["USER"],
    "zone": lambda v: v["variables"]["TZ"],
    "language": lambda v: v["variables"]["LANG"],
    "search path": lambda v: v["variables"]["PATH"],
    "hashes": lambda v: v["variables"]["PYTHONHASHSEED"],
    "number": lambda v: v["user"],
    "groups": lambda v: v["groups"],
    "accounts": lambda v: v["accounts"],
    "process": lambda v: v["process"],
    "terminal": lambda v: v["terminal"],
    "release": lambda v: v["system"][2],
    "version": lambda v: v["system"][3],
    "processors": lambda v: v["processors"][0],
    "memory": lambda v: v["pages"][0],
    "free memory": lambda v: v["pages"][1],
    "folder": lambda v: v["folder"],
    "files": lambda v: v["files"],
}


@pytest.mark.parametrize("fact", OTHER)
def test_each_seed_has_another_machine_and_none_is_this_one(fact: str, looks: Looks) -> None:
    of = OTHER[fact]
    there = [of(looks.values(seed, CONDITIONS)) for seed in SEEDS]
    assert of(looks.values(1)) not in there
    assert len({json.dumps(one) for one in there}) > 1


FEW: dict[str, Callable[[Any], Any]] = {
    "mask": lambda v: v["mask"],
    "open files": lambda v: v["limits"]["RLIMIT_NOFILE"],
    "core": lambda v: v["limits"]["RLIMIT_CORE"],
}
"""Facts of which real machines have only a few."""


@pytest.mark.parametrize("fact", FEW)
def test_other_machines_differ_from_this_one_in_common_facts(fact: str, looks: Looks) -> None:
    of = FEW[fact]
    assert of(looks.values(1)) not in [of(looks.values(seed, CONDITIONS)) for seed in SEEDS]


def test_nobody_who_knows_the_seed_knows_what_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    here, again = vars(OtherMachine(1)), vars(OtherMachine(1))
    assert {name for name in here if here[name] != again[name]} == {"_draw"}
    monkeypatch.setattr(other_machine, "_UNREADABLE", "/nonexistent")
    assert here["left"] != OtherMachine(1).left


WALK = r"""
import builtins, os, platform, sys, time, types
LEAVES = (str, bytes, int, float, bool, type(None), types.CodeType, types.ModuleType, type)
seen, found = set(), {}

def plain(text):
    return text.replace(os.path.dirname(__file__), "HERE").replace(platform.libc_ver()[1], "VERSION")

def parts(value):
    if isinstance(value, dict):
        yield from ((f"[{key}]", one) for key, one in value.items() if isinstance(key, (str, int)))
    elif isinstance(value, (list, tuple)):
        yield from ((f"[{at}]", one) for at, one in enumerate(value))
    elif isinstance(value, (set, frozenset)):
        yield from (("{}", one) for one in sorted(map(str, value)))
    elif isinstance(value, types.MethodType):
        yield from ((".self", value.__self__), (".function", value.__func__))
    elif isinstance(value, types.FunctionType):
        yield from ((f".cell{at}", cell) for at, cell in enumerate(value.__closure__ or ()))
        yield ".defaults", value.__defaults__
        if value.__globals__.get("__name__", "").split(".")[0] in ("worker", "inside"):
            yield ".globals", value.__globals__
    elif isinstance(value, types.CellType):
        try: yield ".content", value.cell_contents
        except ValueError: pass
    elif isinstance(value, types.FrameType):
        yield ".locals", dict(value.f_locals)
        yield ".back", value.f_back
    else:
        yield ".attributes", getattr(value, "__dict__", None)

def walk(path, value):
    path = plain(path)
    if isinstance(value, LEAVES):
        found[path] = plain(repr(value)) if isinstance(value, (str, bool)) else type(value).__name__
    elif id(value) not in seen and path.count(".") < 40:
        if not isinstance(value, tuple):
            seen.add(id(value))
        kept.append(value)
        found[path] = type(value).__name__
        for step, one in parts(value):
            walk(path + step, one)

kept = []
sys.setrecursionlimit(9000)
modules = (builtins, os, time, sys)
functions = [getattr(module, name) for module in modules for name in sorted(vars(module))]
walk("frame", sys._getframe().f_back)
walk("out", sys.stdout)
walk("finders", sys.meta_path)
for function in functions:
    if isinstance(function, (types.FunctionType, types.MethodType)):
        walk(f"function {function.__name__}", function)
import json
print(json.dumps(found))
"""


def test_no_object_within_reach_knows_what_was_changed(build: Build) -> None:
    """Ours are within reach of a script: by the streams, by frames, by functions in our place."""
    script = build.script(WALK)
    here = json.loads(run_in(script, 1, ()).print[0])
    for changed in (*zip(CONDITIONS), CONDITIONS):
        there = json.loads(run_in(script, 1, changed).print[0])
        mirrored = tuple(f"function {name}" for name in MIRRORED) if "metadata" in changed else ()
        other = {path for path in {*here, *there} if here.get(path) != there.get(path)}
        other = {path for path in other if "[_descriptors]" not in path}  # others in each run
        assert {path for path in other if not path.startswith(mirrored or "none")} == set(), changed


def test_a_script_that_sets_the_switch_interval_finds_what_it_set(build: Build) -> None:
    script = build.script(
        """
        import sys
        print(sys.getswitchinterval())
        try: sys.setswitchinterval("soon")
        except TypeError as error: print(error)
        try: sys.setswitchinterval(-1)
        except ValueError as error: print(error)
        print(sys.getswitchinterval())
        sys.setswitchinterval(1e-6)
        print(sys.getswitchinterval())
        """
    )
    plain = replay(script, World(1), [])
    assert plain.print[0] == plain.print[3] == "0.005" and plain.print[4] == "1e-06"
    assert replay(script, World(1).but(["threads"]), []).print == plain.print
