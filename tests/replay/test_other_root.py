"""The judging world has another root and other files, whoever asks; innocents work there as ever."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from quizlog_tui.proof.verify import verify
from quizlog_tui.replay.replayer import replay
from quizlog_tui.replay.script.granted import grant, granted_source
from quizlog_tui.replay.script.source import read_source
from quizlog_tui.replay.transcript import Transcript
from quizlog_tui.replay.uncached_runs import UncachedRuns
from quizlog_tui.replay.worker import other_metadata
from quizlog_tui.replay.worker.fixed.other_machine import OtherMachine
from quizlog_tui.replay.worker.other_root import OtherSystem
from quizlog_tui.replay.world import FIXED_CONDITIONS, OPEN_CONDITIONS, UNAVAILABLE, World
from quizlog_tui.session.session import Session
from tests.support.build import Build
from tests.support.isolation import needs_isolation
from tests.support.long_runs import few
from tests.support.open_python import open_python

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")

ALL = (*FIXED_CONDITIONS, *OPEN_CONDITIONS)
NOBODY = 65534


def ran(script: Path, *changed: str) -> Transcript:
    """A run in a world with these conditions changed; skips the test where it is not isolated."""
    run = UncachedRuns().replay(read_source(script), World(7).but(changed), [])
    needs_isolation(*run.unavailable)
    assert run.status == "success", run.stderr
    return run


def shown(script: Path, *changed: str) -> tuple[str, ...]:
    return ran(script, *changed).print


ASKING = """
import ctypes, importlib, os, posix
libc = ctypes.CDLL(None, use_errno=True)
def in_python(path):
    try: return bool(posix.stat(path))
    except OSError: return False
def by_import(path):
    try: return bool(importlib._bootstrap_external._path_stat(path))
    except OSError: return False
def in_c(path):
    return libc.access(os.fsencode(path), 0) == 0
"""
WAYS = ("in_python", "by_import", "in_c")


@pytest.mark.parametrize("way", WAYS)
def test_what_is_not_listed_does_not_exist_whoever_asks(way: str, build: Build) -> None:
    outside = build.outside / "file"
    outside.touch()
    paths = ["/proc/self/exe", "/sys/devices", "/etc/shadow", str(outside), os.devnull, "/usr/lib"]
    script = build.script(ASKING + f"print(*map({way}, {paths}))\n")
    assert shown(script) == ("True True True True True True",)
    assert shown(script, "home", "system") == ("False False False False True True",)


def test_each_condition_hides_its_own_part(build: Build) -> None:
    script = build.script(
        """
        import posix
        try: print(posix.readlink("/proc/self")[:0] + "link")
        except OSError as error: print(error.strerror)
        print(posix.access("/etc/shadow", 0))
        """
    )
    assert shown(script) == ("link", "True")
    assert shown(script, "home") == ("link", "False")
    assert shown(script, "system") == ("No such file or directory", "True")


def test_nothing_leads_back_to_the_old_root(build: Build) -> None:
    old = os.stat("/etc")
    script = build.script(
        f"""
        import os, posix
        def asked(path, fd=None):
            try: found = posix.stat(f"{{path}}/etc", dir_fd=fd)
            except OSError: return False
            return (found.st_dev, found.st_ino) == {(old.st_dev, old.st_ino)}
        ways = (".", "..", "../..", "../../..", "../../../..")
        print(any(asked(way, fd) for fd in range(3, 200) for way in ways))
        print(any(asked("../" * depth) for depth in range(1, 20)), asked("/.."), asked(""))
        print(any(asked(f"/proc/{{pid}}/root") for pid in ("self", 1, posix.getppid())))
        """
    )
    assert shown(script) == ("True", "True True True", "True")
    assert shown(script, "home") == ("False", "False False False", "False")


MACHINE = {
    "programs": "import os; print(os.path.exists('/usr/bin/env'), len(os.listdir('/usr/bin')))",
    "system": "print(open('/etc/os-release').read(), open('/usr/lib/os-release').read())",
    "users": "import pwd; print(sorted(user.pw_name for user in pwd.getpwall()))",
    "names": "print(open('/etc/hosts').read())",
}


@pytest.mark.parametrize("what", MACHINE)
def test_another_machine_is_shown(what: str, build: Build) -> None:
    script = build.script(MACHINE[what])
    here, there = shown(script), shown(script, "home", "starts")
    assert here != there
    assert there == shown(script, "home", "starts")


def test_only_basic_programs_exist_there_unless_programs_may_be_started(build: Build) -> None:
    script = build.script(
        """
        import os, shutil, sys
        print(*[bool(shutil.which(name)) for name in ("sh", "env", "ls", "cat", "dpkg", "apt-get")])
        print(os.access(sys.executable, os.X_OK))
        """
    )
    (here, runs), (there, runs_there) = shown(script), shown(script, "home", "starts")
    assert there == "True True True True False False"
    assert shown(script, "home")[0] == here
    assert runs == runs_there == "True"


def mias(seed: int) -> OtherSystem:
    services = [(f"service{at}", 100 + at) for at in range(9)]
    return OtherSystem(seed, user="mia", number=1234, home="/home/mia", services=services)


def test_every_user_number_has_a_name_there() -> None:
    machine = mias(3)
    rows = [line.split(":") for line in machine.settings()["passwd"].decode().splitlines()]
    assert ["mia", "x", "1234", "1234", "Mia", "/home/mia", "/bin/bash"] in rows
    assert str(os.getuid()) in {row[2] for row in rows}
    assert len({row[0] for row in rows}) == len({row[2] for row in rows}) == len(rows)
    assert mias(3).settings() == mias(3).settings()
    assert len({mias(seed).settings()["passwd"] for seed in range(9)}) > 1


@pytest.mark.parametrize("seed", range(6))
def test_the_other_system_is_another_one(seed: int) -> None:
    here = Path("/etc/os-release")
    own = here.read_text() if here.exists() else ""
    there = mias(seed).settings()["os-release"].decode()
    name = next(line for line in there.splitlines() if line.startswith("ID="))
    assert name not in own.splitlines()


SHAKY = {
    "the number of a file": "import posix; print(posix.stat(__file__).st_ino)",
    "its time": "import posix; print(posix.stat(__file__).st_mtime_ns)",
    "its time, by import": (
        "import importlib; print(importlib._bootstrap_external._path_stat(__file__).st_mtime)"
    ),
    "a program": "import posix; print(posix.access('/usr/bin/dpkg', 0))",
    "a state": "import posix; print(posix.access('/proc/self', 0))",
    "a file elsewhere": "import posix; print(posix.access(OUTSIDE, 0))",
}
CAUSES = {
    "the number of a file": "file-metadata",
    "its time": "file-metadata",
    "its time, by import": "file-metadata",
}


@pytest.mark.parametrize("what", few(SHAKY, "its time, by import", "a program", "a state"))
def test_what_it_shows_of_here_is_never_reproducible(what: str, build: Build) -> None:
    (build.outside / "file").touch()
    text = SHAKY[what].replace("OUTSIDE", repr(str(build.outside / "file")))
    path = build.record(f"{text}\ninput('? ')\n")
    with Session(path) as session:
        session.answer("1")
        needs_isolation(*session.transcript.unavailable)
    verdict = verify(path)
    assert verdict.verdict == "fragile"
    assert verdict.cause == CAUSES.get(what, "environment")
    assert "starts" not in (verdict.reason or "")


LISTING = """
import os, posix
for here, _, names in sorted(os.walk(".")):
    for name in sorted(names):
        found = posix.lstat(f"{here}/{name}")
        print(f"{here}/{name}"[2:], found.st_ino, found.st_mtime_ns, found.st_mode, found.st_uid)
"""


def listing(script: Path, *changed: str) -> dict[str, list[int]]:
    rows = (line.rsplit(" ", 4) for line in shown(script, *changed))
    return {name: [*map(int, values)] for name, *values in rows}


def test_files_have_other_numbers_and_times_in_reverse_order(build: Build) -> None:
    for at, name in enumerate(("a", "b", "sub/c", "sub/deep/d", "quiz.py")):
        (build.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (build.folder / name).write_text(LISTING if name == "quiz.py" else name)
        os.utime(build.folder / name, (10**9 + 99 * at,) * 2)
    (build.folder / "b").chmod(0o604)
    (build.folder / "link").symlink_to("a")
    os.utime(build.folder / "link", (10**9,) * 2, follow_symlinks=False)
    here, there = (listing(build.folder / "quiz.py", *ch) for ch in ((), ("metadata",)))
    assert here.keys() == there.keys()
    for column in (0, 1):
        assert not {row[column] for row in here.values()} & {row[column] for row in there.values()}
        orders = [sorted(one, key=lambda name: (one[name][column], name)) for one in (here, there)]
        if column:  # those of one time stay together
            orders = [[name for name in order if name != "link"] for order in orders]
        assert orders[0] == orders[1][::-1]
    assert [row[2:] for row in here.values()] == [row[2:] for row in there.values()]


def test_what_a_granted_script_finds_has_other_metadata_too(build: Build) -> None:
    script = build.script(f"#quizlog: real-environment\n{LISTING}")
    for name in ("a", "b"):
        (build.folder / name).touch()
    grant(read_source(script), ["real-environment"])
    source = granted_source(script)
    assert source.allowed
    here, there = (
        UncachedRuns().replay(source, World(7).but(changed), []) for changed in ((), ("metadata",))
    )
    needs_isolation(*here.unavailable)
    rows = [[line.split() for line in run.print] for run in (here, there)]
    for column in (1, 2):
        old, new = ({row[column] for row in found} for found in rows)
        assert len(rows[0]) == len(rows[1]) == 3 and not old & new


def test_a_script_that_asks_for_real_files_finds_them_there(build: Build) -> None:
    (build.outside / "file").write_text("text")
    path = build.outside / "file"
    script = build.script(f"#quizlog: real-files\nprint(open({str(path)!r}).read())\n")
    grant(read_source(script), ["real-files"])
    run = UncachedRuns().replay(granted_source(script), World(7).but(ALL), [])
    assert run.print == ("text",), run.stderr


def test_in_a_folder_that_is_too_big_some_files_have_other_metadata(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(9):
        (build.folder / str(number)).write_text("x" * 100)
    monkeypatch.chdir(build.folder)
    found = other_metadata._Search(".", 350, 100)
    assert len([*found.below([""])]) == 3 and not found.whole
    found = other_metadata._Search(".", 10**6, 4)
    assert len([*found.below([""])]) == 4 and not found.whole
    found = other_metadata._Search(".", 10**6, 100)
    assert len([*found.below([""])]) == 9 and found.whole


INNOCENT = """
import json, os, sqlite3, ssl, tempfile, zoneinfo
import mpmath, numpy, pandas
import pack.inner, beside
print(numpy.linalg.det(numpy.eye(3)), pandas.DataFrame({"a": [1]}).sum().a, mpmath.sqrt(8))
print(zoneinfo.ZoneInfo("Europe/Berlin"), sqlite3.connect(":memory:").execute("select 1").fetchone())
print(ssl.create_default_context().verify_mode, len(ssl.create_default_context().get_ca_certs()))
print(open("data.txt").read(), open("sub/deep.txt").read(), open("link").read(), pack.inner.VALUE)
print(len(open("big", "rb").read()), sorted(map(os.fsencode, os.listdir("sub"))), beside.VALUE)
with tempfile.TemporaryDirectory() as name: open(f"{name}/x", "w").write("x")
with tempfile.NamedTemporaryFile() as file: file.write(b"x")
print(open("/dev/null").read(), open("/dev/zero", "rb").read(1), open("/dev/shm/x", "w").write("x"))
open("made", "w").write("x"); os.rename("data.txt", "moved"); os.unlink("sub/deep.txt")
os.makedirs("new/sub"); os.rename("new", "other"); print(open("moved", "a").write("y"))
print(json.dumps(sorted(os.listdir("sub"), key=os.fsencode)), os.path.realpath("link")[-9:])
print(os.path.isdir("/tmp"), os.path.isdir("/etc"), os.access("/usr", os.W_OK))
"""


def innocent(folder: Path) -> Path:
    """A script that does what scripts do, with files of many kinds beside it."""
    for name in ("sub", "pack"):
        (folder / name).mkdir()
    (folder / "data.txt").write_text("data")
    (folder / "sub/deep.txt").write_text("deep")
    (folder / "link").symlink_to("sub/deep.txt")
    (folder / "dangling").symlink_to("nowhere")
    (folder / "pack/__init__.py").touch()
    (folder / "pack/inner.py").write_text("VALUE = 3\n")
    (folder / "beside.py").write_text("VALUE = 4\n")
    with (folder / "big").open("wb") as file:
        file.write(b"0123456789" * 3_000_000)
    Path(os.fsdecode(bytes(folder / "sub") + b"/\xff")).touch()
    os.mkfifo(folder / "pipe")
    script = folder / "quiz.py"
    script.write_text(INNOCENT)
    return script


def test_innocents_work_there(build: Build) -> None:
    script = innocent(build.folder)
    without = [name for name in ALL if name not in ("leftovers", "folder")]
    assert shown(script) == shown(script, *without) == shown(script, *ALL)


@pytest.mark.parametrize("name", ["home", "tmp"])
def test_a_script_in_the_home_or_beside_everybodys_files_works_there(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = tmp_path if name == "home" else Path(tempfile.gettempdir())
    script = folder / f"quizlog-other-root-{os.getpid()}.py"
    script.write_text(
        "import os, tempfile\nopen('own', 'w').close()\n"
        "print(os.path.exists(os.path.basename(__file__)), tempfile.mkdtemp()[:4])\n"
    )
    try:
        assert shown(script) == shown(script, *ALL) == ("True /tmp",)
    finally:
        script.unlink()


def test_a_script_behind_links_works_there(tmp_path: Path) -> None:
    (tmp_path / "real" / "quiz").mkdir(parents=True)
    (tmp_path / "other").symlink_to("real")
    (tmp_path / "link").symlink_to(tmp_path / "other" / "quiz")
    (tmp_path / "real/quiz/beside.py").write_text("VALUE = 5\n")
    script = tmp_path / "link" / "quiz.py"
    script.write_text("import beside\nprint(beside.VALUE, open(__file__).read()[:6])\n")
    assert shown(script) == shown(script, *ALL) == ("5 import",)


def test_a_script_at_the_root_works_there() -> None:
    script = Path(f"/quizlog-other-root-{os.getpid()}.py")
    try:
        script.write_text("print(1)\n")
    except OSError:
        pytest.skip("nobody may write there")
    try:
        run = UncachedRuns().replay(read_source(script), World(7).but(ALL), [])
        assert run.print == ("1",), run.stderr
    finally:
        script.unlink()


@pytest.mark.parametrize("also_read", ["", "/", "/etc", "/usr/bin"])
def test_files_of_this_machine_stay_as_they_are(
    also_read: str, build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", also_read)
    names = ("hostname", "hosts", "passwd", "os-release")
    places = ["/usr", "/usr/bin", "/usr/lib", "/dev/null", sys.prefix, "/etc"]
    places += [path for name in names if os.path.exists(path := f"/etc/{name}")]
    before = [(os.stat(path).st_mtime_ns, os.stat(path).st_size) for path in places]
    assert shown(build.script("print(1)\n"), *ALL) == ("1",)
    assert [(os.stat(path).st_mtime_ns, os.stat(path).st_size) for path in places] == before


def test_nothing_stays_mounted_here(build: Build) -> None:
    before = Path("/proc/self/mounts").read_text()
    ran(build.script("print(1)\n"), *ALL)
    assert Path("/proc/self/mounts").read_text() == before


FALLING_BACK = """
import os, sys
from types import SimpleNamespace
sys.path.insert(0, {worker!r})
from worker import folder
from worker.folder import Folder
job = SimpleNamespace(seed=1, changed=frozenset(("home", "system", "metadata")), path={script!r},
    name="quiz.py", at="", files_folder="", looked_at={{}}, private=[], asked=frozenset(),
    libraries="", source=b"")
def fails(*_): raise OSError("no room")
Folder._build_other_root = Folder._change_metadata = fails
one = Folder()
one.prepare()
open("/dev/shm/kept", "w").close()
one.enter(job)
one.seal(["/usr"])
print(one.way, one.turned, os.listdir("/proc"), os.listdir("/dev/shm"), os.path.exists("/etc"),
    os.getcwd() == os.path.dirname({script!r}), os.path.exists("quiz.py"))
"""


def test_where_it_cannot_be_built_all_is_as_it_would_be_without(build: Build) -> None:
    script = build.script("print(1)\n")
    needs_isolation(*UncachedRuns().replay(read_source(script), World(7), []).unavailable)
    worker = str(Path(other_metadata.__file__).parents[1])
    program = FALLING_BACK.format(worker=worker, script=str(script))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "overlay False [] ['kept'] True True True\n", done.stderr


@pytest.fixture
def python() -> Iterator[Path]:
    """An interpreter that every user can run."""
    with open_python() as made:
        yield made


AS_USER = """
import sys
sys.path.insert(0, {ours!r})
from pathlib import Path
from quizlog_tui.replay.script.granted import grant, granted_source
from quizlog_tui.replay.script.source import read_source
from quizlog_tui.replay.uncached_runs import UncachedRuns
from quizlog_tui.replay.world import World
source = read_source(Path({script!r}))
for changed in {worlds!r}:
    run = UncachedRuns().replay(source, World(7).but(changed), [])
    print(run.unavailable, run.print, run.stderr)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="the tests beside this run as an ordinary user")
def test_it_holds_for_an_ordinary_user(python: Path) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        script, data, others = folder / "quiz.py", folder / "data.txt", folder / "others"
        others.mkdir(0o700)
        script.write_text(
            "import posix, pwd, ssl\n"
            "print(posix.access('/proc/self', 0), posix.access('/usr/bin/dpkg', 0),"
            " posix.stat('data.txt').st_ino, open('data.txt').read(), bool(pwd.getpwuid(posix.getuid())),"
            " posix.access('others', 0), posix.access('others', 4))\n"
        )
        data.write_text("data")
        for path in (folder, script, data):
            os.chown(path, NOBODY, NOBODY)
        worlds = [(), ALL]
        program = AS_USER.format(
            ours=str(Path(other_metadata.__file__).parents[3]), script=str(script), worlds=worlds
        )
        done = subprocess.run(
            [python, "-c", program],
            cwd=folder,
            env={"PATH": os.environ["PATH"], "HOME": name, "TMPDIR": name},
            capture_output=True,
            text=True,
            check=False,
            user=NOBODY,
            group=NOBODY,
            extra_groups=[],
        )
        here, there = done.stdout.splitlines() or [done.stderr, done.stderr]
    if "folder" in here or "isolation" in here:
        pytest.skip("this system permits an ordinary user no mounts")
    assert "True True" in here and "data True True False" in here, here
    assert "False False" in there and "data True True False" in there, there
    numbers = [line.partition("data")[0].split()[-1] for line in (here, there)]
    assert numbers[0] != numbers[1]


def test_the_streams_have_their_names_in_every_world(build: Build) -> None:
    names = ("/dev/stdin", "/dev/stdout", "/dev/stderr")
    script = build.script(f"import os\nprint([os.path.exists(name) for name in {names}])\n")
    here = shown(script)
    assert shown(script, "home") == shown(script, "home", "system") == here


LOOK = """
import os, sys
print(sorted(os.path.join(at, name)[2:] for at, _, names in os.walk(".") for name in names))
"""


def files_found(build: Build, *hidden: str) -> set[str]:
    """The files that a run finds, if it does not find those."""
    run = replay(build.script(LOOK), replace(World(3).but(["leftovers"]), hidden=hidden), [])
    if "folder" in run.unavailable:
        pytest.skip(UNAVAILABLE["folder"])
    return set(eval(run.print[0]))


def test_two_files_are_added_that_are_not_there(build: Build) -> None:
    kinds = OtherMachine(3).left
    assert files_found(build) == {"quiz.py", *(names[0][0] for names in kinds)}
    for names in kinds:
        (build.folder / names[0][0]).write_text("the user's own")
    own = {"quiz.py", *(names[0][0] for names in kinds)}
    assert files_found(build) == own | {names[1][0] for names in kinds}
    for names in kinds:
        for name, _ in names:
            (build.folder / name).write_text("the user's own")
    assert files_found(build) == {path.name for path in build.folder.iterdir()}


def test_files_that_the_script_writes_are_not_there_wherever_they_lie(build: Build) -> None:
    below = build.folder / "a" / "b"
    below.mkdir(parents=True)
    for folder in (build.folder, below.parent, below):
        for name in ("kept", "own"):
            (folder / name).touch()
    (build.folder / "link").symlink_to("a")
    shown = files_found(build, "own", "a/b/own", "link/own", "none", "a/none")
    added = {names[0][0] for names in OtherMachine(3).left}
    assert shown - added == {"quiz.py", "kept", "a/kept", "a/b/kept"}
    assert (below / "own").exists() and (build.folder / "link").is_symlink()


def test_nothing_seems_to_be_written_and_times_and_modes_are_usual(build: Build) -> None:
    (build.folder / "own").touch()
    (build.folder / "a").mkdir(mode=0o750)
    (build.folder / "a" / "own").touch()
    os.utime(build.folder / "a", (10**9, 10**9))
    look = """
    import os, sys
    print(sys.stdout.log.world.folder.touched())
    print([one.name for one in os.scandir() if os.stat(one).st_mtime > os.stat("quiz.py").st_mtime])
    print(os.stat("a").st_mtime, oct(os.stat("a").st_mode))
    """
    world = replace(World(3).but(["leftovers"]), hidden=("own", "a/own"))
    run = replay(build.script(look), world, [])
    assert run.status == "success", run.stderr
    assert run.print == ("False", "[]", "1000000000.0 0o40750")
