"""Every command in surroundings that lack something: no traceback, no false record, a true word."""

from __future__ import annotations

import errno
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
import yaml

from quizlog_tui import open as open_record
from quizlog_tui.errors import MachineError, refusal
from quizlog_tui.files.paths import typed_path
from tests.cli.conftest import Run
from tests.support.build import Build
from tests.support.long_runs import few
from tests.support.terminal import Terminal, quizlog

QUIZ = """\
print("start")
total = 0
for i in range(3):
    total += int(input(f"number {i}? "))
    print("total", total)
"""
COMMANDS = {
    "show": "r.yaml",
    "answer": "r.yaml 4",
    "answer, JSON": "r.yaml 4 --json",
    "new": "new quiz.py -o made.yaml --seed 7",
    "fork": "fork r.yaml 1 9",
    "note": "note r.yaml other remark",
    "steps": "steps r.yaml",
    "sweep": "sweep r.yaml 1 5 6",
    "verify": "verify r.yaml",
    "diff": "diff r.yaml@main r.yaml@other",
    "export": "export r.yaml -o made.html",
    "bundle": "bundle r.yaml -o made.zip",
    "list": "list",
    "config": "config show",
    "models": "models",
    "solve": "solve r.yaml",
    "screenshot": "screenshot r.yaml",
    "doctor": "doctor",
}
ABOUT_THE_MACHINE = {"config", "doctor"}
"""Commands whose output tells of the surroundings."""


@dataclass(frozen=True)
class Surroundings:
    """Surroundings to run a command in."""

    shell: str
    """Shell text that runs "$@" in them."""
    usual: bool = False
    """Whether every command shall do there what it does elsewhere."""
    silent: bool = False
    """Whether nothing of stdout is there to be read."""
    encoding: str = "utf-8"
    """What the terminal can show."""


NO_RIGHTS = "setpriv --inh-caps=-all --bounding-set=-all" if os.getuid() == 0 else ""
"""Takes root's right to read and write what is not its own."""
OWN_MOUNTS = "unshare --mount" if os.getuid() == 0 else "unshare --map-root-user --mount"
"""Gives file systems of its own."""
NO_DEVICES = "mount -t tmpfs tmpfs /dev"
NO_ROOM = 'mkdir "$TMPDIR"; mount -t tmpfs -o nr_inodes=2 tmpfs "$TMPDIR"'
SURROUNDINGS = {
    "closed stdin": Surroundings('exec "$@" <&-', usual=True),
    "closed stdout": Surroundings('exec "$@" >&-', usual=True, silent=True),
    "closed stderr": Surroundings('exec "$@" 2>&-', usual=True),
    "all closed": Surroundings('exec "$@" <&- >&- 2>&-', usual=True, silent=True),
    "full stdout": Surroundings('exec "$@" >/dev/full', silent=True),
    "full stderr": Surroundings('exec "$@" 2>/dev/full', usual=True),
    "ASCII": Surroundings(
        'LC_ALL=C PYTHONUTF8=0 PYTHONCOERCECLOCALE=0 exec "$@"', usual=True, encoding="ascii"
    ),
    "no home and no name": Surroundings(
        'unset HOME USER LOGNAME; exec unshare --user --map-user=54321 --map-group=54321 "$@"',
        usual=True,
    ),
    "a home that is not ours": Surroundings(f'chmod 0 "$HOME"; exec {NO_RIGHTS} "$@"', usual=True),
    "15 files": Surroundings('ulimit -n 15; exec "$@"'),
    "60 files": Surroundings('ulimit -n 60; exec "$@"'),
    "files without bytes": Surroundings('ulimit -f 0; exec "$@"'),
    "new files closed to all": Surroundings(f'umask 0777; exec {NO_RIGHTS} "$@"', usual=True),
    "no devices": Surroundings(f'exec {OWN_MOUNTS} sh -c \'{NO_DEVICES}; exec "$@"\' sh "$@"'),
    "no room for temporary files": Surroundings(
        f'export TMPDIR="$HOME/tmp"; exec {OWN_MOUNTS} sh -c \'{NO_ROOM}; exec "$@"\' sh "$@"'
    ),
    "a home that is no folder": Surroundings('rmdir "$HOME"; : >"$HOME"; exec "$@"', usual=True),
}


@dataclass(frozen=True)
class Done:
    """What a command did."""

    code: int
    out: str
    err: str
    record: dict[str, Any]
    """What decides where the record stands."""
    changed: bool
    """Whether the record's file is another than before."""
    files: frozenset[str]
    """What is in the folder now."""


def _need(around: Surroundings) -> None:
    """Skip where this machine cannot make such surroundings."""
    if lacks := _lacks(around):
        pytest.skip(f"not possible here: {lacks}")


@cache
def _lacks(around: Surroundings) -> str:
    """Why this machine cannot make such surroundings; empty if it can."""
    command = ["sh", "-c", around.shell, "sh", sys.executable, "-c", "import quizlog_tui"]
    with tempfile.TemporaryDirectory() as name:
        home = Path(name, "home")
        home.mkdir()
        tried = subprocess.run(
            command, env=os.environ | {"HOME": str(home)}, capture_output=True, check=False
        )
    return tried.stderr.decode().strip() or "it fails" if tried.returncode else ""


@pytest.fixture(scope="module")
def perform(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], Done]:
    """Runs a command in surroundings, in a folder of its own; each pair once."""
    base = tmp_path_factory.mktemp("base")
    build = Build(base, dedent)
    with open_record(build.record(QUIZ, "1", "2", name="r.yaml")) as session:
        session.fork(1, "3", "other")
        session.switch("main")
        session.rewind(1)

    @cache
    def run(command: str, shell: str) -> Done:
        folder = tmp_path_factory.mktemp("odd") / "folder"
        shutil.copytree(base, folder)
        return _run(folder, command, shell, (base / "r.yaml").read_bytes())

    return run


def _run(folder: Path, command: str, shell: str, before: bytes) -> Done:
    home = folder.parent / "home"
    home.mkdir()
    environment = {k: v for k, v in os.environ.items() if not k.startswith("XDG_")}
    done = subprocess.run(
        ["sh", "-c", shell, "sh", sys.executable, "-m", "quizlog_tui", *shlex.split(command)],
        cwd=folder,
        env=environment | {"HOME": str(home)},
        capture_output=True,
        check=False,
        timeout=120,
    )
    after = (folder / "r.yaml").read_bytes()
    data = yaml.safe_load(after)
    stand = {name: data.get(name) for name in ("inputs", "pointer", "branch", "print", "status")}
    files = frozenset(path.name for path in folder.iterdir())
    out, err = re.sub(rb" *[0-9.]+ ms", b" TIME", done.stdout).decode(), done.stderr.decode()
    return Done(done.returncode, out, err, stand, after != before, files)


def _pairs() -> Iterator[object]:
    """Every surroundings with every command; in a plain run with one in eighteen, in turn."""
    for turn, name in enumerate(SURROUNDINGS):
        for place, command in enumerate(COMMANDS):
            marks = () if place % 18 == turn % 18 else pytest.mark.long
            yield pytest.param(name, command, marks=marks, id=f"{name}-{command}")


@pytest.mark.parametrize(("name", "command"), list(_pairs()))
def test_a_command_works_or_says_what_to_do(
    name: str, command: str, perform: Callable[[str, str], Done]
) -> None:
    around = SURROUNDINGS[name]
    _need(around)
    usual, odd = perform(COMMANDS[command], 'exec "$@"'), perform(COMMANDS[command], around.shell)
    assert "Traceback" not in odd.out + odd.err
    assert odd.files <= usual.files
    if around.usual or odd.code == usual.code:
        assert (odd.code, odd.record) == (usual.code, usual.record)
        if command == "screenshot" and around.encoding == "ascii":
            assert odd.out.isascii() and "\\u" not in odd.out  # it has signs of its own for this
        elif command not in ABOUT_THE_MACHINE:
            out = usual.out.encode(around.encoding, "backslashreplace").decode()
            assert odd.out == ("" if around.silent else out)
    else:
        _refused(odd, usual)


def _refused(odd: Done, usual: Done) -> None:
    """It did nothing, or what it says."""
    if odd.out.startswith("cannot be verified: "):
        assert (odd.code, odd.changed) == (4, False)
        return
    *notes, complaint = odd.err.splitlines()
    assert odd.code in (2, 4), odd
    assert complaint.startswith("quizlog: ") and complaint.endswith(")"), odd.err
    assert not any(line.startswith("quizlog: ") for line in notes if ": note:" not in line)
    if odd.changed:
        assert odd.record == usual.record
        assert "(the change is in r.yaml" in complaint
    if "made.yaml" in odd.files:
        assert "(made.yaml was made" in complaint


@pytest.mark.skipif(sys.platform != "linux", reason="no bound on memory is heeded here")
@pytest.mark.parametrize("bounds", few([range(64, 8, -1), range(34, 8, -3)], range(34, 8, -3)))
def test_an_answer_that_memory_does_not_suffice_for_is_refused(build: Build, bounds: range) -> None:
    path = build.record(QUIZ)
    before = path.read_bytes()
    for megabytes in bounds:
        path.write_bytes(before)
        command = f"ulimit -v {megabytes * 1000}; exec {sys.executable} -m quizlog_tui {path} 4"
        done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
        assert (path.read_bytes() == before) == (done.returncode != 0)
        if done.returncode:
            break
    assert done.returncode == 4, done.stderr
    assert done.stderr.startswith("quizlog: ") and done.stderr.count("\n") == 1
    assert "ulimit -v" in done.stderr


@pytest.mark.parametrize(
    ("error", "hint"),
    [
        (MemoryError(), "ulimit -v"),
        (SystemError("error return without exception set"), "ulimit -v"),
        (ImportError("x.so: failed to map segment from shared object"), "ulimit -v"),
        (RuntimeError("can't start new thread"), "ulimit -u"),
        (OSError(errno.EMFILE, "Too many open files"), "ulimit -n"),
        (OSError(errno.EFBIG, "File too large", "x"), "ulimit -f"),
        (OSError(errno.ENOSPC, "No space left on device", "x"), "make room"),
        (BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable"), "ulimit -u"),
    ],
)
def test_what_the_machine_lacks_is_code_4_and_a_hint(error: Exception, hint: str) -> None:
    error.add_note("r.yaml was made")
    told = refusal(error)
    assert isinstance(told, MachineError) and told.exit_code == 4
    assert told.hint and hint in told.hint and told.hint.startswith("r.yaml was made; ")


def test_a_defect_is_no_refusal() -> None:
    assert refusal(RuntimeError("x")) is refusal(ValueError("x")) is None


def test_a_closed_stdin_is_no_empty_answer(build: Build) -> None:
    path = build.record(QUIZ)
    before = path.read_bytes()
    command = f"{sys.executable} -m quizlog_tui {path} --stdin <&-"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("quizlog: stdin: cannot read: ") and done.stderr.count("\n") == 1
    assert path.read_bytes() == before


@pytest.mark.parametrize("closed", few(["<&-", ">&-", "2>&-", "<&- >&- 2>&-"], "<&- >&- 2>&-"))
def test_a_run_has_its_own_streams_where_the_program_has_none(closed: str, build: Build) -> None:
    path = build.script(QUIZ)
    code = f"import quizlog_tui as q; open('said', 'w').write(q.replay({str(path)!r}, 7, ['1']).stdout)"
    command = f"exec {sys.executable} -c {shlex.quote(code)} {closed}"
    subprocess.run(["sh", "-c", command], cwd=build.folder, check=True, timeout=60)
    assert (build.folder / "said").read_text() == "start\nnumber 0? total 1\nnumber 1? "


def test_the_installed_command_takes_closed_streams(build: Build) -> None:
    path = build.record(QUIZ)
    command = f"{Path(sys.executable).with_name('quizlog')} {path} 4 <&- >&- 2>&-"
    assert subprocess.run(["sh", "-c", command], check=False).returncode == 0
    assert yaml.safe_load(path.read_text())["inputs"] == ["4"]


def test_the_screens_open_without_a_home(build: Build) -> None:
    path = build.record(QUIZ)
    nobody = SURROUNDINGS["no home and no name"]
    _need(nobody)
    command = ["sh", "-c", nobody.shell, "sh", *quizlog("tui", str(path))]
    with Terminal(command, cwd=build.folder) as terminal:
        terminal.wait_for("number 0?")
        terminal.rest()
        terminal.send("4\r")
        terminal.wait_for("number 1?")
        terminal.send("\x11")
        assert terminal.end() == 0
    assert yaml.safe_load(path.read_text())["inputs"] == ["4"]


@pytest.mark.parametrize("words", [("arithmetic",), ("config", "init")])
def test_what_needs_a_home_says_so(
    words: tuple[str, ...], run: Run, build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = build.folder / "home"
    home.write_text("")
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(home))
    code, out, err = run(*words)
    assert (code, out) == (2, "") and err.count("\n") == 1
    assert f"quizlog: {home}" in err and "_HOME to a folder that you can write)" in err


def test_a_home_that_nobody_knows_stays_a_name() -> None:
    assert typed_path("~nobody-has-this-name/x") == Path("~nobody-has-this-name/x")
