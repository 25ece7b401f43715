"""Records on full disks and under others' hands: what the shell says, and what stays on the disk."""

from __future__ import annotations

import errno
import os
import resource
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from quizlog_tui.record.lock import lock_file
from quizlog_tui.record.store import RecordFile
from tests.cli.conftest import Run
from tests.support.build import Build
from tests.support.locks import LINUX, places
from tests.support.long_runs import few
from tests.support.processes import wait_for
from tests.support.sessions import QUIZ

CHANGES = (
    ("record.yaml", "5"),
    ("rewind", "record.yaml", "0"),
    ("fork", "record.yaml", "0", "8"),
    ("note", "record.yaml", "main", "looked at"),
    ("feedback", "record.yaml", "0", "good"),
    ("new", "quiz.py", "-o", "other.yaml"),
    ("export", "record.yaml", "-o", "x.html"),
    ("bundle", "record.yaml", "-o", "x.zip"),
)
SIZE = 4200
"""Of the greatest file that is allowed: smaller than a record, greater than a script's output."""
PYTHON = [sys.executable, "-m", "quizlog_tui"]


def quizlog(
    *words: str, limit: Callable[[], None] | None = None
) -> subprocess.CompletedProcess[str]:
    # An interpreter within such limits would leave halves of compiled modules behind.
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [*PYTHON, *words],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        preexec_fn=limit,
    )


def state(folder: Path) -> dict[str, bytes]:
    return {item.name: item.read_bytes() for item in folder.iterdir()}


@pytest.mark.parametrize(
    "words", few([each for each in CHANGES if each[0] != "new"]), ids=lambda words: words[0]
)
def test_a_limit_on_the_size_of_files_is_one_clear_line(
    words: tuple[str, ...], build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(build.folder)
    build.record(QUIZ)
    assert quizlog("record.yaml", "0" * SIZE).returncode == 0
    before = state(build.folder)
    done = quizlog(*words, limit=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (SIZE, SIZE)))
    assert done.returncode == 2, done.stderr
    assert "cannot write: File too large" in done.stderr and done.stderr.count("\n") == 1
    assert "`ulimit -f`" in done.stderr
    assert state(build.folder) == before


def test_a_full_disk_is_one_clear_line_and_the_record_stays(tmp_path: Path) -> None:
    private = ["unshare", "--mount", *(["--map-root-user"] if os.geteuid() else [])]
    mount = f"mount -t tmpfs -o size=64k tmpfs {tmp_path}"
    if (
        not shutil.which("unshare")
        or subprocess.run(
            [*private, "sh", "-c", mount], capture_output=True, check=False
        ).returncode
    ):
        pytest.skip("the system lets us mount no small disk")
    script = tmp_path.with_name("full_disk.py")
    script.write_text(ON_A_FULL_DISK.format(words=CHANGES, path=sys.path, quiz=QUIZ))
    command = f"{mount} && cd {tmp_path} && {sys.executable} {script}"
    done = subprocess.run(
        [*private, "sh", "-c", command], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


ON_A_FULL_DISK = """
import os, subprocess, sys
from pathlib import Path

QUIZ = {quiz!r}

def quizlog(*words):
    command = [sys.executable, "-m", "quizlog_tui", *words]
    environment = os.environ | {{"PYTHONPATH": os.pathsep.join({path!r}), "PYTHONDONTWRITEBYTECODE": "1"}}
    return subprocess.run(command, capture_output=True, text=True, env=environment)

def state():
    return {{path.name: path.read_bytes() for path in Path(".").iterdir()}}

Path("quiz.py").write_text(QUIZ)
assert quizlog("new", "quiz.py", "-o", "record.yaml").returncode == 0
assert quizlog("record.yaml", "4").returncode == 0
with open("fill", "wb", 0) as file:
    try:
        while True:
            file.write(bytes(512))
    except OSError:
        pass
before = state()
for words in {words!r}:
    done = quizlog(*words)
    assert done.returncode == 2, (words, done)
    assert "cannot write: No space left on device (make room" in done.stderr, (words, done.stderr)
    assert done.stderr.count("\\n") == 1, (words, done.stderr)
    assert state() == before, (words, list(state()))
assert quizlog("record.yaml").returncode == 0
os.unlink("fill")
assert quizlog("record.yaml", "5").returncode == 0
"""


def test_an_answer_that_may_not_survive_a_power_cut_is_told_and_taken(
    run: Run, build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = build.record(QUIZ)
    real = os.fsync

    def fsync(fd: int) -> None:
        if stat.S_ISDIR(os.fstat(fd).st_mode):
            raise OSError(errno.EIO, "Input/output error")
        real(fd)

    monkeypatch.setattr(os, "fsync", fsync)
    code, out, err = run("record.yaml", "4")
    assert code == 0 and "number 0? 4\n" in out
    assert "note: written, but not yet certain to survive a power cut: Input/output error" in err
    assert list(RecordFile(path).read().inputs) == ["4"]
    code, out, err = run("note", "record.yaml", "main", "mine")
    assert code == 0 and "not yet certain to survive" in err


def test_an_answer_through_a_hard_link_says_that_the_names_part(run: Run, build: Build) -> None:
    path = build.record(QUIZ)
    other = build.folder / "other.yaml"
    os.link(path, other)
    before = other.read_bytes()
    code, _, err = run("other.yaml")
    assert code == 0 and "other name" not in err
    code, _, err = run("record.yaml", "4")
    assert code == 0 and "is a separate file now: its other hard link keeps" in err
    assert other.read_bytes() == before
    code, _, err = run("record.yaml", "5")
    assert code == 0 and "other name" not in err


# -- what is no file

SHOWS = (
    ("{}",), ("{}", "4"), ("rewind", "{}", "0"), ("branches", "{}"), ("steps", "{}"),
    ("verify", "{}"), ("diff", "{}"), ("drift", "{}"), ("migrate", "{}"), ("bundle", "{}", "-o", "b"),
    ("export", "{}", "-o", "x.md"), ("feedback", "{}"),
    ("screenshot", "{}"), ("solve", "{}"),
)  # fmt: skip


@pytest.mark.parametrize("words", SHOWS, ids=lambda words: f"{words[0]} {len(words)}")
@pytest.mark.parametrize("kind", ["a pipe", "a device"])
def test_a_pipe_or_device_in_place_of_a_record_is_named(
    words: tuple[str, ...], kind: str, run: Run, build: Build
) -> None:
    build.script(QUIZ)
    os.mkfifo(build.folder / "pipe")
    name = {"a pipe": "pipe", "a device": "/dev/zero"}[kind]
    code, out, err = run(*(word.format(name) for word in words))
    assert code == 2 and not out
    assert f"{name}: cannot read: it is {kind}, not a regular file" in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("kind", ["a pipe", "a device"])
def test_a_pipe_or_device_in_place_of_a_script_is_named(kind: str, run: Run, build: Build) -> None:
    os.mkfifo(build.folder / "pipe")
    name = {"a pipe": "pipe", "a device": "/dev/zero"}[kind]
    (build.folder / "r.yaml").write_text(f"script: {name}\nseed: 1\n")
    for words in (
        *(tuple(word.format("r.yaml") for word in each) for each in SHOWS),
        ("new", name, "-o", "n.yaml"),
        ("lint", name),
        ("coverage", name),
    ):
        if words[0] not in ("feedback", "screenshot"):  # which show what the record holds
            code, out, err = run(*words)
            assert (code, out) == (2, ""), words
            assert f"cannot read: it is {kind}, not a regular file" in err, words
            assert err.count("\n") == 1
    code, out, _ = run("list", ".")
    assert code == 0 and "r.yaml" in out


def test_pipes_beside_a_record_hold_up_nothing(run: Run, build: Build) -> None:
    path = build.record(QUIZ)
    for name in ("record.decisions.jsonl", "record.yaml.lock", ".record.yaml.tmp", "data.yaml"):
        os.mkfifo(build.folder / name)
    assert run("record.yaml", "4")[0] == 0
    assert list(RecordFile(path).read().inputs) == ["4"]
    code, _, err = run("decisions", "record.yaml")
    assert code == 2 and "cannot read: it is a pipe" in err
    assert run("list", ".")[0] == 0


# -- several at once


@LINUX
def test_a_shell_waits_for_its_turn_and_goes_on_from_what_it_finds(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(build.folder)
    path = build.record(QUIZ)
    file = RecordFile(path)
    file.read()
    command = [*PYTHON, "record.yaml", "5", "--wait", "60", "--json"]
    with file.locked():
        shell = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            wait_for(lambda: places(path) or shell.poll() is not None)
            changed = build.record(QUIZ, "4", name="changed.yaml")
            file.write(RecordFile(changed).read())
        except BaseException:
            shell.kill()
            raise
    _, err = shell.communicate()
    assert shell.returncode == 0, err
    assert list(RecordFile(path).read().inputs) == ["4", "5"]


def test_many_shells_at_once_lose_no_answer_and_none_is_refused(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(build.folder)
    path = build.record("while True: input('? ')\n")
    answers = [str(number) for number in range(12)]
    command = [*PYTHON, "--wait", "120", "record.yaml"]
    shells = [
        subprocess.Popen([*command, one], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        for one in answers
    ]
    said = [shell.communicate()[1] for shell in shells]
    assert [shell.returncode for shell in shells] == [0] * len(answers), said
    record = RecordFile(path).read()
    assert sorted(record.inputs) == sorted(answers) and not record.branches


def test_one_need_not_wait(run: Run, build: Build) -> None:
    path = build.record(QUIZ)
    lock = lock_file(path)
    try:
        code, _, err = run("record.yaml", "4", "--wait", "0")
    finally:
        lock.release()
    assert code == 4 and "is locked by another process" in err and "--wait SECONDS" in err
    assert run("record.yaml", "4", "--wait", "0")[0] == 0
    for wrong in ("-1", "soon", "nan", "inf"):
        code, _, err = run("record.yaml", "4", f"--wait={wrong}")
        assert code == 2 and "number of seconds" in err
