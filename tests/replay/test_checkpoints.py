"""The cache is invisible: same transcripts with it and without, whatever happens to its processes."""

from __future__ import annotations

import os
import random
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from textwrap import dedent
from typing import ClassVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from quizlog_tui.errors import CancelledError, LimitError
from quizlog_tui.record.append_only_list import AppendOnlyList
from quizlog_tui.replay import run_cache
from quizlog_tui.replay.checkpoints import least_missed, most_private_bytes, private_bytes
from quizlog_tui.replay.process.process import Limits
from quizlog_tui.replay.replayer import Replayer, replay
from quizlog_tui.replay.transcript import Transcript
from quizlog_tui.replay.worker.fixed.other_machine import OtherMachine
from quizlog_tui.replay.world import World
from tests.support.build import Build
from tests.support.corpus import CORPUS
from tests.support.long_runs import few
from tests.support.processes import IS_UP, below, gone, is_up, wait_for

pytestmark = [
    pytest.mark.early,
    pytest.mark.skipif(sys.platform != "linux", reason="checkpoints need Linux"),
]


@pytest.fixture(autouse=True)
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take a checkpoint at every stop, so that little work is enough to test them."""
    monkeypatch.setattr(run_cache, "_LEAST_GAP", 0.0)
    monkeypatch.setattr(run_cache, "measured_gap", lambda started: 0.0)


@pytest.fixture
def cached() -> Iterator[Replayer]:
    with Replayer(Limits(seconds=20)) as replayer:
        yield replayer


@pytest.mark.parametrize("name", few(CORPUS, *list(CORPUS)[::6]))
def test_every_shape_of_script_is_rewound_and_forked_right(
    name: str, build: Build, cached: Replayer
) -> None:
    source, answers = CORPUS[name]
    script = build.script(source)
    whole = replay(script, 1, answers)
    assert cached.replay(script, 1, answers) == whole
    for count in random.Random(name).sample(range(len(answers) + 1), len(answers) + 1):
        assert cached.replay(script, 1, answers[:count]) == whole.upto(count)
        other = [*answers[:count], "something else"]
        assert cached.replay(script, 1, other) == replay(script, 1, other)


STATEFUL = """
import random, tempfile, secrets, uuid
class Loud:
    def __init__(self, name): self.name = name
    def __del__(self): print("gone", self.name)
def questions():
    while True:
        yield input(f"{len(log)} {random.randint(0, 999)}? ")
log, loud, rng = [], Loud("a"), random.Random()
source = questions()
names = tempfile._get_candidate_names()
for x in source:
    log.append(x)
    if x == "stop": break
    if x == "bad": raise Exception(f"bad after {log}")  #score = 0.5
    if x == "swap": loud = Loud(len(log))
    if x == "loop": me = Loud("cycle"); me.me = me; del me
    if x == "exit": raise SystemExit(len(log))
    if x == "die": import os; os.abort()
    print(x, rng.random(), secrets.token_hex(2), next(names), hash(x))
print("end", log)
"""
ANSWERS = st.sampled_from(["a", "b", "swap", "loop", "stop", "bad", "exit", "die", "é\n"])


class Walk(RuleBasedStateMachine):
    """Answers, rewinds, forks, edits and killings at random, each compared with a plain replay."""

    folder: Path
    known: ClassVar[dict[tuple[int, tuple[str, ...]], Transcript]] = {}
    """Plain replays, by the script's version and the answers; for all walks, which share much."""

    @initialize()
    def begin(self) -> None:
        self.script = self.folder / "quiz.py"
        self.version = 0
        self.write()
        self.cache = Replayer(Limits(seconds=20), checkpoints=6)
        self.inputs: list[str] = []
        self.branches: list[list[str]] = []

    def write(self) -> None:
        self.script.write_text(dedent(STATEFUL) + f"# version {self.version}\n", encoding="utf-8")

    def check(self) -> None:
        key = self.version, tuple(self.inputs)
        if key not in self.known:
            self.known[key] = replay(self.script, 3, self.inputs)
        shown = self.cache.replay(self.script, 3, self.inputs)
        assert shown == self.known[key]
        self.inputs = list(shown.inputs)

    @rule(answer=ANSWERS)
    def answer(self, answer: str) -> None:
        self.inputs = [*self.inputs, answer]
        self.check()

    @rule(share=st.floats(0, 1))
    def rewind(self, share: float) -> None:
        self.branches.append(self.inputs)
        self.inputs = self.inputs[: int(share * len(self.inputs))]
        self.check()

    @rule(share=st.floats(0, 1), answer=ANSWERS)
    def fork(self, share: float, answer: str) -> None:
        self.branches.append(self.inputs)
        self.inputs = [*self.inputs[: int(share * len(self.inputs))], answer]
        self.check()

    @rule(share=st.floats(0, 0.999))
    def switch(self, share: float) -> None:
        if self.branches:
            self.inputs = self.branches[int(share * len(self.branches))]
            self.check()

    @rule()
    def edit_the_script(self) -> None:
        self.version += 1
        self.write()
        self.check()

    @rule(share=st.floats(0, 0.999))
    def evict(self, share: float) -> None:
        held = list(self.cache.checkpoints)
        if held:
            self.cache.checkpoints.drop(held[int(share * len(held))])
            self.check()

    @rule(share=st.floats(0, 0.999))
    def kill(self, share: float) -> None:
        mine = [pid for pid in below(os.getpid()) if pid not in self.bystanders]
        if mine:
            with suppress(ProcessLookupError):  # it may have been ending already
                os.kill(mine[int(share * len(mine))], signal.SIGKILL)
            self.check()

    def teardown(self) -> None:
        if hasattr(self, "cache"):
            self.cache.close()

    bystanders: frozenset[int] = frozenset()


@pytest.mark.parametrize("walks", few([3, 12], 3))
def test_no_walk_tells_the_cache_from_plain_replays(walks: int, tmp_path: Path) -> None:
    Walk.folder = tmp_path
    Walk.known.clear()
    Walk.bystanders = frozenset(below(os.getpid()))
    checks = [HealthCheck.too_slow, HealthCheck.filter_too_much]
    run_state_machine_as_test(  # type: ignore[no-untyped-call]
        Walk,
        settings=settings(
            max_examples=walks,  # each starts a dozen processes
            stateful_step_count=14,
            deadline=None,
            suppress_health_check=checks,
        ),
    )
    wait_for(lambda: set(below(os.getpid())) <= Walk.bystanders)


LASTING = {
    "writes a log": ("open('log', 'a').write('x')", "it wrote files"),
    "writes by descriptor": ("import os; os.close(os.open('f', os.O_CREAT | os.O_WRONLY))", "it wrote files"),
    "temporary folder": ("import tempfile; tempfile.mkdtemp(dir='.')", "it made a temporary folder"),
    "removes a file": ("import os; open('f', 'w').close(); os.remove('f')", "it wrote files"),
    "sqlite": ("import sqlite3; db = sqlite3.connect('data.db')", "it opened a database"),
    "ran a program": ("import subprocess; subprocess.run(['true'])", "it started another program"),
    "forked": ("import os\nif os.fork() == 0: os._exit(0)\nos.wait()", "it forked"),
    "connected": ("import socket\ns = socket.socket()\ntry: s.connect(('127.0.0.1', 1))\nexcept OSError: pass\ns.close()", "it used the network"),
    "socket": ("import socket\nsocket.socket().close()", "it opened a socket in the network that copies would share"),
    "socket by its C module": ("import _socket\n_socket.socket(10).close()", "it opened a socket in the network that copies would share"),
    "shared memory": ("import mmap\nm = mmap.mmap(-1, 4096)", "it mapped memory that copies would share"),
    "shared memory of a file": ("import mmap\nf = open('data', 'rb'); m = mmap.mmap(f.fileno(), 1, prot=1)", "it mapped memory that copies would share"),
    "shared memory past Python": ("import ctypes\nctypes.CDLL(None).mmap(None, 4096, 3, 0x21, -1, 0)", "it mapped memory that copies would share"),
    "shared memory of other flags": ("import ctypes\nctypes.CDLL(None).mmap(None, 4096, 0, 0x4021, -1, 0)", "it mapped memory that copies would share"),
    "shared memory in a thread": ("import mmap, threading\nt = threading.Thread(target=mmap.mmap, args=(-1, 4096))\nt.start(); t.join()", "it mapped memory that copies would share"),
    "locked a file": ("import fcntl\nwith open('data') as f: fcntl.flock(f, 2)", "it locked files that copies would share"),
    "changed what it was given": ("import os\nos.set_blocking(0, False)", "it changed a descriptor that copies would share"),
    "locked a part": ("import fcntl\nwith open('data') as f: fcntl.lockf(f, fcntl.LOCK_SH, 1)", "it locked files that copies would share"),
    **{
        f"wrote past Python in {folder}": (f"import ctypes\nlibc = ctypes.CDLL(None)\nlibc.close(libc.open(b'{folder}/f', 65, 384))", "it wrote files")
        for folder in (".", "/tmp/quizlog", "/dev/shm")
    },
    "fork handlers": ("import os; os.register_at_fork(before=print)", "it set handlers for forks"),
}  # fmt: skip
PASSING = {
    "reads a file line by line": ("f = open('data'); print(f.readline())", "f.close()", "files, pipes or sockets open"),
    "file at its end": ("f = open('data'); print(f.read())", "f.close()", "files, pipes or sockets open"),
    "thread": (
        "import threading; e = threading.Event(); t = threading.Thread(target=e.wait); t.start()",
        "e.set(); t.join()",
        "it runs threads",
    ),
    "another thing under a known number": ("import os; kept = os.dup(2); f = os.eventfd(0); os.dup2(f, 2); os.close(f); ok = 1", "os.dup2(kept, 2); os.close(kept)", "files, pipes or sockets open"),
    "pipe": ("import os; p = os.pipe()", "os.close(p[0]); os.close(p[1])", "files, pipes or sockets open"),
    "sockets": ("import socket; s, t = socket.socketpair()", "s.close(); t.close()", "files, pipes or sockets open"),
    "timer": ("import signal; signal.setitimer(signal.ITIMER_REAL, 1000)", "signal.setitimer(signal.ITIMER_REAL, 0)", "it set a timer"),
    "signal handler": ("import signal; old = signal.signal(signal.SIGUSR1, lambda *a: 0)", "signal.signal(signal.SIGUSR1, old)", "it set signal handlers"),
}  # fmt: skip
HARMLESS = {
    "generator held open": "g = (input(str(i)) for i in range(9)); next(g)",
    "read and closed": "print(open('data').read())",
    "null device": "import os; print('x', file=open(os.devnull, 'w'))",
    "imports a sibling": "import sibling",
    "private memory": "import mmap; m = mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)",
    "memory of another number": "import ctypes; print(ctypes.CDLL(None).getpid() > 0)",
    "numpy": "import numpy; print(numpy.random.rand())",
}


_FIRST_OF_REASON = {reason: row for row, (_, reason) in reversed(LASTING.items())}


@pytest.mark.parametrize("row", few(LASTING, *_FIRST_OF_REASON.values()))
def test_what_reached_the_outside_ends_checkpoints_for_good(
    row: str, build: Build, cached: Replayer
) -> None:
    code, reason = LASTING[row]
    (build.folder / "data").write_text("one")
    script = build.script(f"input('first ')\n{code}\ninput('second ')\ninput('third ')\n")
    first = cached.replay(script, 1, [])
    assert cached.explain(first) is None
    for inputs in (["a"], ["a", "b"]):
        stop = cached.replay(script, 1, inputs)
        assert cached.explain(stop) == reason
        assert stop.tainted == reason
    assert {len(point.answers) for point in cached.checkpoints if point.process.settle()} == {0}
    assert cached.replay(script, 1, ["other"]) == replay(script, 1, ["other"])


@pytest.mark.parametrize(
    "row", few(PASSING, "pipe", "sockets", "thread", "timer", "signal handler")
)
def test_what_a_copy_would_share_prevents_checkpoints_while_it_lasts(
    row: str, build: Build, cached: Replayer
) -> None:
    code, undo, reason = PASSING[row]
    (build.folder / "data").write_text("one\ntwo\n")
    script = build.script(
        f"input('1')\n{code}\ninput('2')\ninput('3')\n{undo}\ninput('4')\ninput('5')\n"
    )
    assert cached.explain(cached.replay(script, 1, [])) is None
    for inputs in (["a"], ["a", "b"]):
        assert reason in (cached.explain(cached.replay(script, 1, inputs)) or "")
    for count in (3, 4):
        assert cached.explain(cached.replay(script, 1, list("abcd")[:count])) is None
    for inputs in (["a", "x"], ["a", "b", "x"], ["a", "b", "c", "x"]):
        assert cached.replay(script, 1, inputs) == replay(script, 1, inputs)


@pytest.mark.parametrize(
    "row", few(HARMLESS, "generator held open", "null device", "private memory")
)
def test_what_is_over_or_inside_the_process_does_not(
    row: str, build: Build, cached: Replayer
) -> None:
    (build.folder / "data").write_text("one\n")
    (build.folder / "sibling.py").write_text("x = 1\n")
    script = build.script(f"input('1')\n{HARMLESS[row]}\ninput('2')\n")
    assert cached.explain(cached.replay(script, 1, ["a"])) is None


def test_libraries_with_threads_of_their_own_are_named(build: Build, cached: Replayer) -> None:
    script = build.script(
        """
        import os
        os.environ.update(OPENBLAS_NUM_THREADS="2", OMP_NUM_THREADS="2")
        import numpy
        numpy.ones((300, 300)) @ numpy.ones((300, 300))
        input("? ")
        """
    )
    stop = cached.replay(script, 1, [])
    if len(os.sched_getaffinity(0)) == 1:
        pytest.skip("one processor: the library starts no threads")
    assert cached.explain(stop) == "a library of it runs threads"


def test_no_checkpoint_outlives_a_killed_quizlog(build: Build) -> None:
    import subprocess

    build.script("for i in range(9): input()\n")
    code = dedent("""
        import quizlog_tui as q
        from quizlog_tui.replay import run_cache
        run_cache._LEAST_GAP, run_cache.measured_gap = 0.0, lambda started: 0.0
        r = q.Replayer()
        for count in range(7): r.replay('quiz.py', 1, list('abcdef')[:count])
        print(len(r.checkpoints), flush=True); input()
    """)
    with subprocess.Popen(
        [sys.executable, "-c", code], cwd=build.folder, stdin=-1, stdout=-1
    ) as victim:
        assert victim.stdout and int(victim.stdout.readline()) >= 4
        family = below(victim.pid)
        assert len(family) >= 6
        os.kill(victim.pid, signal.SIGKILL)
    wait_for(lambda: all(gone(pid) for pid in family))


def test_many_steps_and_rewinds_leak_nothing(build: Build) -> None:
    script = build.script("i = 0\nwhile True: input(f'{i}? '); i += 1\n")
    family = below(os.getpid())
    chance = random.Random(1)
    with Replayer(checkpoints=8) as cached:
        inputs = [str(i) for i in range(60)]
        sizes = []
        for index in range(120):
            cut = chance.randrange(60)
            shown = cached.replay(script, 1, [*inputs[:cut], f"new {index}"])
            assert shown.next_prompt == f"{cut + 1}? "
            if index % 40 == 39:
                sizes.append(len(os.listdir("/proc/self/fd")))
        assert max(sizes) - min(sizes) < 40  # a leak would be one a run
        assert len(cached.checkpoints) <= 8
        wait_for(lambda: len(below(os.getpid())) - len(family) <= 8 + 8 + 2)
    assert below(os.getpid()) == family


def test_a_copy_is_made_as_the_run_would_go_on(build: Build, cached: Replayer) -> None:
    """No library hears of a fork, and the C library knows its thread by the copy's own number."""
    script = build.script("""
        import _thread, signal, threading, logging, random
        heard, me, ready = [], threading.get_ident(), _thread.allocate_lock()
        class Library:  # registers as a library does: not by way of the script
            exec(compile("import os; os.register_at_fork(after_in_child=lambda: heard.append(1))",
                 "/usr/lib/python3/library.py", "exec"), {"heard": heard, "__name__": "library"})
        def wake():
            signal.pthread_kill(me, 0)
            ready.release()
        while True:
            x = input(f"{heard} {random.random()}? ")
            if x == "thread":
                ready.acquire()
                _thread.start_new_thread(wake, ())
                ready.acquire()
                ready.release()
            print("well")
    """)
    trunk = cached.replay(script, 1, ["a", "b", "c"])
    assert trunk.tainted is None
    for answers in (["a", "x"], ["a", "b", "y", "z"], ["a", "thread"], ["a", "b", "thread"]):
        found = cached.replay(script, 1, answers)
        assert found == replay(script, 1, answers)
        assert found.next_prompt is not None and found.next_prompt.startswith("[] ")
        assert found.print[-1] == "well"
    assert len(cached.checkpoints) > 1


def test_the_bounds_on_checkpoints_hold(build: Build) -> None:
    script = build.script(
        "data = []\nwhile True:\n    data.append(bytearray(3_000_000)); input()\n"
    )
    with Replayer(checkpoints=5) as cached:
        cached.replay(script, 1, ["x"] * 30)
        assert len(cached.checkpoints) <= 5
    with Replayer(checkpoints=0) as cached:
        cached.replay(script, 1, ["x"] * 5)
        assert len(cached.checkpoints) == 0
    with Replayer(checkpoints=12, checkpoint_memory=1) as cached:
        cached.replay(script, 1, ["x"] * 30)
        assert len(cached.checkpoints) <= 4


@pytest.mark.skipif(sys.platform != "linux", reason="memory is seen in /proc")
def test_what_a_checkpoint_holds_is_never_more_than_the_quick_bound(build: Build) -> None:
    script = build.script(
        "data = []\nwhile True:\n    data.append(bytearray(3_000_000)); input()\n"
    )
    with Replayer() as cached:
        cached.replay(script, 1, ["x"] * 30)
        held = [one.process.pid for one in cached.checkpoints if one.process.settle()]
        assert held and all(0 < private_bytes(pid) <= most_private_bytes(pid) for pid in held)
    assert most_private_bytes(None) == 0


def test_without_what_linux_offers_all_works_as_before(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("quizlog_tui.replay.checkpoints.sys.platform", "darwin")
    script = build.script("print(input('a ')); print(input('b '))\n")
    with Replayer() as cached:
        assert cached.replay(script, 1, ["x", "y"]).status == "success"
        assert cached.replay(script, 1, ["x", "z"]).print == ("x", "z")
        assert len(cached.checkpoints) == 0


def test_what_another_world_leaves_in_the_folder_was_not_written_by_the_script(
    build: Build, cached: Replayer
) -> None:
    (build.folder / "sub").mkdir()
    (build.folder / "sub" / "own.txt").write_text("own")
    script = build.script("import os\nwhile True: input(f'{sorted(os.listdir())} ')\n")
    varied = replace(World(1).but(("leftovers",)), hidden=("sub/own.txt",))
    for inputs in (["a", "b"], ["a", "c"], ["a", "c", "d"]):
        shown = cached.replay(script, varied, inputs)
        assert shown == replay(script, varied, inputs) and shown.tainted is None
        left = OtherMachine(1).left[0][0][0]
        assert left in str(shown.next_prompt) and shown.observed == ()
    assert cached.explain(shown) is None and len(cached.checkpoints) > 0


def test_fan_out_gives_each_answer_its_run(build: Build, cached: Replayer) -> None:
    script = build.script(
        """
        a = input("a ")
        b = input("b ")
        if b == "bad": raise Exception("bad")
        if b == "loop":
            while True: pass
        print(a, b)
        """
    )
    answers = [str(i) for i in range(8)] + ["bad"]
    plain = [replay(script, 1, ["x", answer]) for answer in answers]
    for _ in range(2):
        assert cached.fan_out(script, 1, ["x"], answers) == plain
    with Replayer(Limits(seconds=0.5)) as short:
        one, two = short.fan_out(script, 1, ["x"], ["loop", "ok"])
        assert isinstance(one, LimitError)
        assert isinstance(two, Transcript) and two.print == ("x ok",)


def test_fan_out_works_where_nothing_can_be_copied(build: Build, cached: Replayer) -> None:
    script = build.script("f = open(__file__)\nprint(input('a '))\n")
    found = cached.fan_out(script, 1, [], ["x", "y"])
    assert found == [replay(script, 1, ["x"]), replay(script, 1, ["y"])]


def test_one_cache_serves_many_scripts_seeds_and_threads(build: Build, cached: Replayer) -> None:
    import asyncio

    scripts = [
        build.script(
            f"import random\nprint({i}, random.random(), input('? '), input('! '))\n", f"q{i}.py"
        )
        for i in range(3)
    ]

    async def one(index: int) -> bool:
        script, seed = scripts[index % 3], index % 4
        inputs = ["a", str(index % 5)]
        shown = await asyncio.to_thread(cached.replay, script, seed, inputs)
        return shown == await asyncio.to_thread(replay, script, seed, inputs)

    async def all_of_them() -> list[bool]:
        return await asyncio.gather(*(one(index) for index in range(24)))

    assert all(asyncio.run(all_of_them()))


@dataclass(eq=False)
class Dot:
    """A checkpoint, as far as the choice of a victim is concerned."""

    cost: float
    used: int
    parent: Dot | None = None


def chain(*costs: float) -> list[Dot]:
    dots: list[Dot] = []
    for use, cost in enumerate(costs):
        dots.append(Dot(cost, use, dots[-1] if dots else None))
    return dots


def test_a_live_step_compares_its_answers_with_those_of_no_checkpoint_behind_it(
    build: Build, cached: Replayer, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = build.script("while True: input('? ')\n")
    answers = [str(i) for i in range(9)]
    for count in range(10):
        cached.replay(script, 1, answers[:count])
    assert len(cached.checkpoints) > 3
    compared = []

    def agrees(one: AppendOnlyList[str], other: Sequence[str]) -> bool:
        compared.append(one)
        return plain(one, other)

    plain = AppendOnlyList.agrees
    monkeypatch.setattr(AppendOnlyList, "agrees", agrees)
    cached.replay(script, 1, [*answers, "one more"])
    assert len(compared) == 1  # with those of the run itself


def test_the_deepest_checkpoint_on_the_way_is_found(build: Build, cached: Replayer) -> None:
    script = build.script("while True: input('? ')\n")
    for count in range(6):
        cached.replay(script, 1, ["a"] * count)
    points, key = cached.checkpoints, next(iter(cached.checkpoints)).key
    depths = {len(point.answers) for point in points}

    def depth(answers: Sequence[str], beyond: int = -1) -> int | None:
        found = points.deepest(key, answers, beyond)
        return None if found is None else len(found.answers)

    assert depth(["a"] * 9) == max(depths)
    assert depth(["a"] * 9, beyond=max(depths)) is None
    assert depth(["a", "a", "b"]) == max(depths & {0, 1, 2})


def test_the_least_missed_checkpoint_goes_first() -> None:
    assert least_missed(chain(1, 2, 3, 4)) == 0
    assert least_missed(chain(100, 101, 102, 200)) == 1
    root = Dot(50.0, 0)
    assert least_missed([root, Dot(50.5, 1, root), Dot(50.4, 2, root)]) in (1, 2)


def test_thinning_keeps_the_first_and_lets_gaps_grow_with_age() -> None:
    kept: list[Dot] = []
    for use in range(400):
        kept.append(Dot(300.0 + use, use, kept[-1] if kept else None))
        if len(kept) > 16:
            gone = kept.pop(least_missed(kept))
            for dot in kept:
                if dot.parent is gone:
                    dot.parent = gone.parent
    costs = sorted(dot.cost for dot in kept)
    assert costs[0] == 300.0
    gaps = [b - a for a, b in pairwise(costs)]
    assert sum(gaps[:5]) > 3 * sum(gaps[-5:])


@pytest.mark.parametrize("checkpoints", [0, 64])
def test_a_fan_out_can_be_cancelled(build: Build, checkpoints: int) -> None:
    source = f"if input() == 'loop':\n    {IS_UP}\n    while 1: pass\n"
    script = build.script(source)
    caught: list[BaseException] = []
    with Replayer(checkpoints=checkpoints) as replayer:

        def run() -> None:
            try:
                replayer.fan_out(script, 1, [], ["loop"] * 3)
            except CancelledError as error:
                caught.append(error)

        thread = threading.Thread(target=run)
        thread.start()
        wait_for(is_up)
        replayer.cancel()
        thread.join(20)
        assert caught and not thread.is_alive()
        assert replayer.replay(script, 1, ["x"]).status == "success"
