"""Scripts that evaluate answers are shut in: what an answer can reach, and that quizzes notice nothing."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import yaml

from quizlog_tui.errors import IsolationError, LimitError
from quizlog_tui.files.paths import shipped
from quizlog_tui.proof.verify import verify
from quizlog_tui.replay import run_cache
from quizlog_tui.replay.process import spawn
from quizlog_tui.replay.process.process import Limits
from quizlog_tui.replay.replayer import Replayer, replay
from quizlog_tui.replay.script.source import NAMES, Source, read_source
from quizlog_tui.replay.world import UNAVAILABLE, isolation
from quizlog_tui.session.session import Session
from tests.support.build import Build
from tests.support.examples import FAILED, WON
from tests.support.isolation import needs_isolation
from tests.support.long_runs import few

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="isolation needs Linux")

EVALUATES = """
import ctypes, os, socket, subprocess
libc = ctypes.CDLL(None)
with open("/proc/self/stat") as about:
    guard = int(about.read().split()[3])
def connected(family, address):
    socket.socket(family).connect(address)
def sent_aside(address):
    socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].sendto(b"x", address)
def child(path):
    return subprocess.run(["cat", path], capture_output=True).returncode
while True:
    answer = input("? ")
    try:
        print(eval(answer))
    except OSError as error:
        print("refused")
"""


@dataclass(frozen=True)
class Scene:
    """What is outside, and would be worth reaching."""

    secret: Path
    tcp: socket.socket
    unix: socket.socket
    abstract: socket.socket
    datagrams: socket.socket

    def filled(self, attack: str) -> str:
        return attack.format(
            secret=str(self.secret),
            folder=str(self.secret.parent),
            port=self.tcp.getsockname()[1],
            unix=self.unix.getsockname(),
            abstract=self.abstract.getsockname(),
            datagrams=self.datagrams.getsockname(),
            us=os.getpid(),
        )

    def untouched(self) -> bool:
        """Whether nothing was changed, and nobody called."""
        for listening in (self.tcp, self.unix, self.abstract, self.datagrams):
            listening.setblocking(False)
            with pytest.raises(BlockingIOError):
                listening.recv(1) if listening is self.datagrams else listening.accept()
        facts = self.secret.stat()
        return (
            [*self.secret.parent.iterdir()] == [self.secret]
            and self.secret.read_text() == "s3"
            and (facts.st_mode & 0o777, facts.st_uid) == (0o640, os.getuid())
            and facts.st_mtime > 1
        )


@pytest.fixture
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    folder, sockets = tmp_path_factory.mktemp("o"), tmp_path_factory.mktemp("s")
    (folder / "id_rsa").write_text("s3")
    (folder / "id_rsa").chmod(0o640)
    with (
        socket.create_server(("127.0.0.1", 0)) as tcp,
        socket.socket(socket.AF_UNIX) as unix,
        socket.socket(socket.AF_UNIX) as abstract,
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as datagrams,
    ):
        unix.bind(str(sockets / "u"))
        abstract.bind(f"\0quizlog-test-{os.getpid()}")
        datagrams.bind(str(sockets / "d"))
        unix.listen()
        abstract.listen()
        yield Scene(folder / "id_rsa", tcp, unix, abstract, datagrams)


ATTACKS = {
    "a file in memory that no limit counts": "os.memfd_create('x')",
    "another's processors": "os.sched_setaffinity({us}, [0])",
    "another's scheduling": "os.sched_setscheduler({us}, os.SCHED_IDLE, os.sched_param(0))",
    "another's priority": "os.setpriority(os.PRIO_PROCESS, {us}, 5)",
    "read a file": "open({secret!r}).read()",
    "read it by its number": "os.open({secret!r}, os.O_RDONLY)",
    "list a folder": "os.listdir({folder!r})",
    "a program reads it": "child({secret!r}) and 'refused'",
    "bring it in": "os.link({secret!r}, 'here')",
    "a link to it": "os.symlink({secret!r}, 'here') or open('here').read()",
    "write beside it": "open({folder!r} + '/new', 'w')",
    "write over it": "open({secret!r}, 'w')",
    "cut it": "os.truncate({secret!r}, 0)",
    "remove it": "os.unlink({secret!r})",
    "rename it": "os.rename({secret!r}, {secret!r} + '2')",
    "open it to all": "os.chmod({secret!r}, 0o777)",
    "give it away": "os.chown({secret!r}, 1, 1)",
    "date it": "os.utime({secret!r}, (1, 1))",
    "mark it": "os.setxattr({secret!r}, 'user.mark', b'x')",
    "make a folder": "os.mkdir({folder!r} + '/new')",
    "write to /tmp": "open('/tmp/quizlog-test-outside', 'w')",
    "a server of the machine": "connected(socket.AF_INET, ('127.0.0.1', {port}))",
    "a server behind a file": "connected(socket.AF_UNIX, {unix!r})",
    "a server behind a name": "connected(socket.AF_UNIX, {abstract!r})",
    "datagrams to a file": "sent_aside({datagrams!r})",
    "end quizlog": "os.kill({us}, 15)",
    "stop quizlog": "os.kill({us}, 19)",
    "end its guard": "os.kill(guard, 9)",
    "trace quizlog": "libc.ptrace(16, {us}, 0, 0) == -1 and 'refused'",
    "its memory": "open('/proc/{us}/mem', 'rb')",
    "its environment": "open('/proc/{us}/environ').read()",
    "its files": "open('/proc/{us}/fd/0')",
    "where it is": "os.readlink('/proc/{us}/cwd')",
    "its root": "open('/proc/{us}/root' + {secret!r}).read()",
    "a new root": "libc.chroot(b'/') == -1 and 'refused'",
    "new mounts": "libc.mount(b'none', b'/mnt', b'tmpfs', 0, None) == -1 and 'refused'",
    "new rights": "libc.unshare(0x10000000) == -1 and 'refused'",
    "a namespace of others": "libc.setns(os.open('/proc/self/ns/mnt', os.O_RDONLY), 0) and 'refused'",
}
"""Each prints `refused` if it is, and something else if not."""


def test_no_answer_reaches_outside(scene: Scene, build: Build) -> None:
    script = build.script(EVALUATES)
    answers = [scene.filled(attack) for attack in ATTACKS.values()]
    run = replay(script, 1, answers)
    needs_isolation(*run.unavailable)
    assert dict(zip(ATTACKS, run.print, strict=True)) == dict.fromkeys(ATTACKS, "refused")
    assert run.status == "in_progress" and scene.untouched()


def test_copies_of_a_run_stay_shut_in(scene: Scene, build: Build) -> None:
    script = build.script(EVALUATES)
    answers = [scene.filled(attack) for attack in ATTACKS.values()]
    with Replayer() as cached:
        needs_isolation(*cached.replay(script, 1, ["1"]).unavailable)
        for name, run in zip(ATTACKS, cached.fan_out(script, 1, ["1"], answers), strict=True):
            assert not isinstance(run, Exception) and run.print[1:] == ("refused",), name
        for answer in answers[:3]:
            assert cached.replay(script, 1, ["2", answer]).print == ("2", "refused")
    assert scene.untouched()


def test_a_script_cannot_take_itself_out(scene: Scene, build: Build) -> None:
    """What is in force holds from its first line on, for its modules and its children."""
    (build.folder / "module.py").write_text(f"FOUND = open({str(scene.secret)!r}).read()\n")
    run = replay(build.script("import module\n"), 1, [])
    needs_isolation(*run.unavailable)
    assert run.error_type == "PermissionError" and run.traceback_lines == (1,)


ALLOWED = {
    "its own folder": "open('new', 'w').write('x'), os.listdir(), os.rename('new', 'old')",
    "data beside it": "open('data.txt').read()",
    "temporary files": "tempfile.NamedTemporaryFile('w').write('x'), os.path.exists(tempfile.mkdtemp())",
    "programs": "subprocess.run([sys.executable, '-c', 'print(1)'], capture_output=True).stdout",
    "a shell": "subprocess.run('echo $((1 + 1)) | cat', shell=True, capture_output=True).stdout",
    "pools": "multiprocessing.Pool(2).map(abs, [-1, 2])",
    "executors": "list(futures.ProcessPoolExecutor(1).map(abs, [-3]))",
    "queues": "queue.put(4), queue.get()",
    "shared memory": "shared_memory.SharedMemory(create=True, size=16).size >= 16",
    "pipes with names": "os.mkfifo('pipe'), os.path.exists('pipe')",
    "pairs of sockets": "[end.fileno() > 0 for end in socket.socketpair()]",
    "its own server": "served()",
    "databases": "sqlite3.connect('data.db').execute('select 7').fetchone()",
    "libraries": "numpy.array([1, 2]).sum(), numpy.linalg.det([[2, 0], [0, 3]])",
    "time zones": "zoneinfo.ZoneInfo('Europe/Berlin').key",
    "certificates": "ssl.create_default_context() is not None",
    "users": "pwd.getpwuid(0).pw_name",
    "its own process": "open('/proc/self/comm').read() != '', os.listdir('/proc/self/fd') != []",
    "signals to itself": "os.kill(os.getpid(), 0)",
    "its own processors": "os.sched_setaffinity(0, os.sched_getaffinity(0))",
    "its own priority": "os.nice(0) == 0",
    "an event loop": "asyncio.run(asyncio.sleep(1))",
    "its own source": "inspect.getsource(served)[:10]",
}
HEAD = """
import asyncio, inspect, multiprocessing, os, pwd, socket, sqlite3, ssl, subprocess, sys, tempfile
import zoneinfo
from concurrent import futures
from multiprocessing import shared_memory
import numpy
queue = multiprocessing.Queue()
def served():
    with socket.create_server(("127.0.0.1", 0)) as server:
        with socket.create_connection(server.getsockname()) as one:
            one.send(b"x")
            return server.accept()[0].recv(1)
while True:
    print(eval(input("? ")))
"""


def test_what_quizzes_do_goes_on_as_without(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    (build.folder / "data.txt").write_text("data")
    script = build.script(HEAD)
    shut = replay(script, 1, [*ALLOWED.values()])
    open_to_all(monkeypatch)
    free = replay(script, 1, [*ALLOWED.values()])
    assert "isolation" in free.unavailable and free.status == "in_progress", free.stderr
    if "folder" in shut.unavailable:
        pytest.skip(UNAVAILABLE["folder"])
    assert shut == free


@pytest.mark.parametrize("name", sorted(WON))
def test_the_examples_run_as_without(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(shipped("records") / name, tmp_path / name)
    script = tmp_path / name / "quiz.py"
    played = [WON[name], [FAILED[name][0]]]
    shut = [replay(script, 1, answers) for answers in played]
    open_to_all(monkeypatch)
    assert shut == [replay(script, 1, answers) for answers in played]


def open_to_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that has no isolation."""
    instead(monkeypatch, "lambda *places, **how: ''")


def instead(monkeypatch: pytest.MonkeyPatch, shut: str) -> None:
    monkeypatch.setattr(
        spawn, "_BOOT", spawn._BOOT.replace("inside.isolation.isolate", f"({shut})")
    )


def test_without_isolation_scripts_run_and_are_labelled(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_to_all(monkeypatch)
    path = build.record("print('ran')\ninput('? ')\n")
    with Session(path) as session:
        session.answer("x")
        assert session.transcript.print == ("ran",)
    world = yaml.safe_load(path.read_text())["world"]
    assert "isolation: none" in world
    assert any("isolation" in text for text in world if text.startswith("missing: "))
    found = verify(path)
    assert found.verdict == "reproducible"
    assert found.to_dict()["world"]["isolation"] == "none"
    assert f"missing here: {UNAVAILABLE['isolation']}" in list(found.remarks)


def test_with_isolation_the_record_and_the_verdict_name_it(build: Build) -> None:
    path = build.record("print('ran')\ninput('? ')\n")
    with Session(path) as session:
        session.answer("x")
        unavailable = session.transcript.unavailable
    if "isolation" in unavailable:
        pytest.skip(UNAVAILABLE["isolation"])
    assert f"isolation: {isolation(unavailable)}" in yaml.safe_load(path.read_text())["world"]
    assert verify(path).to_dict()["world"]["isolation"] == isolation(unavailable) != "none"


def test_a_script_that_is_shut_in_by_half_does_not_run(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    instead(monkeypatch, "lambda *places, **how: (_ for _ in ()).throw(OSError('no'))")
    script = build.script("open('ran', 'w')\n")
    with pytest.raises(IsolationError, match=r"quiz\.py: was not run: no"):
        replay(script, 1, [])


def granted(script: Path, name: str) -> Source:
    return replace(read_source(script), granted=frozenset({name}))


@pytest.mark.parametrize("name", NAMES)
def test_a_script_that_asks_and_was_not_granted_gets_nothing(
    scene: Scene, build: Build, name: str
) -> None:
    script = build.script(f"#quizlog: {name}\nimport time\nprint(time.time())\n{EVALUATES}")
    plain = build.script(f"import time\nprint(time.time())\n{EVALUATES}", "plain.py")
    attacks = ["read a file", "a server of the machine", "its environment", "end quizlog"]
    inputs = [scene.filled(ATTACKS[attack]) for attack in attacks]
    run = replay(script, 1, inputs)
    needs_isolation(*run.unavailable)
    assert run.print == replay(plain, 1, inputs).print
    assert name in run.observed
    assert any("not allowed" in warning for warning in run.warnings)


def test_a_script_that_asks_for_the_network_gets_it_and_nothing_else(
    scene: Scene, build: Build
) -> None:
    script = granted(build.script(f"#quizlog: real-network\n{EVALUATES}"), "real-network")
    attacks = ("a server of the machine", "a server behind a file", "read a file", "end quizlog")
    run = replay(script, 1, [scene.filled(ATTACKS[name]) for name in attacks])
    needs_isolation(*run.unavailable)
    assert run.print == ("None", "refused", "refused", "refused")
    scene.tcp.accept()[0].close()


def test_a_script_that_asks_for_files_reads_them_and_does_nothing_else(
    scene: Scene, build: Build
) -> None:
    script = granted(build.script(f"#quizlog: real-files\n{EVALUATES}"), "real-files")
    attacks = ("read a file", "a server of the machine", "write over it", "its environment")
    run = replay(script, 1, [scene.filled(ATTACKS[name]) for name in attacks])
    needs_isolation(*run.unavailable)
    assert run.print[0] != "refused" and run.print[1:] == ("refused", "refused", "refused")
    assert "real-files" in run.observed


WRITES = """
import ctypes, os
while True:
    answer = input(f"{sorted(os.listdir())}? ")
    if answer == "write": open("new", "w").close()
    if answer == "write and die": open("new", "w").close(); os.abort()
    if answer == "write and print":
        open("new", "w").close()
        while True: print("x" * 10000)
    if answer == "run": os.system("true")
    if answer == "remove": os.unlink("data")
"""


@pytest.mark.parametrize(
    "first", few(["write", "write and die", "write and print", "run", "remove"])
)
def test_what_one_copy_writes_no_other_sees(
    first: str, build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Copies that are shut in share a folder: the first write in it makes the others void."""
    monkeypatch.setattr(run_cache, "_LEAST_GAP", 0.0)
    monkeypatch.setattr(run_cache, "measured_gap", lambda started: 0.0)
    (build.folder / "data").touch()
    script = build.script(WRITES)
    with Replayer(Limits(output=1 << 20)) as cached:
        start = cached.replay(script, 1, ["a"])
        assert len(cached.checkpoints) > 0
        try:
            cached.replay(script, 1, ["a", first])
        except LimitError:
            assert first == "write and print"
        for answers in (["a"], ["a", "b"], ["c"], ["a", "b", "d"]):
            assert cached.replay(script, 1, answers) == replay(script, 1, answers)
        tried = cached.fan_out(script, 1, ["a"], [first, "b", first, "c"])
        assert tried[1::2] == [replay(script, 1, ["a", answer]) for answer in ("b", "c")]
        assert cached.replay(script, 1, ["a"]) == start


def test_the_guard_still_ends_a_script_that_is_shut_in(build: Build) -> None:
    """Signals from outside reach it, whatever it does."""
    script = build.script(
        f"import signal\nsignal.signal({int(signal.SIGTERM)}, signal.SIG_IGN)\ninput()\n"
    )
    with Replayer() as cached:
        cached.replay(script, 1, [])
    assert cached.processes == 0
