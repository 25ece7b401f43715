"""What a run starts or reads unsaid is found out, though its own observer was silenced.

A script evaluates its answers: one hides what its observer tells, the next acts.
"""

from __future__ import annotations

import sys
from collections.abc import Collection
from dataclasses import replace
from itertools import cycle, product
from pathlib import Path

import pytest

from quizlog_tui.proof.verify import verify, verify_branches
from quizlog_tui.record.append_only_list import AppendOnlyList
from quizlog_tui.record.store import RecordFile
from quizlog_tui.replay.script.source import read_source
from quizlog_tui.replay.transcript import Transcript
from quizlog_tui.replay.uncached_runs import UncachedRuns
from quizlog_tui.session.session import Session
from tests.support.build import Build
from tests.support.isolation import needs_isolation


def every_pair(hiding: Collection[str], acting: Collection[str]) -> pytest.MarkDecorator:
    """Each way to hide with each act; in a plain run each act once, in turn with the ways to hide."""
    turns = set(zip(cycle(hiding), acting, strict=False))
    pairs = [
        pytest.param(*pair, marks=() if pair in turns else pytest.mark.long)
        for pair in product(hiding, acting)
    ]
    return pytest.mark.parametrize(("hiding", "acting"), pairs)


def act_hidden(path: Path, hiding: str, acting: str) -> Transcript:
    """Give a record both answers; the run they lead to, which goes on."""
    with Session(path) as session:
        session.answer(hiding)
        assert session.answer(acting).status == "in_progress"
        needs_isolation(*session.transcript.unavailable)
        return session.transcript


pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="walls need Linux")

OBSERVED = """
import _thread, ctypes, os, subprocess, sys, threading
outside = sys.stdout.log.world.outside
quietly = lambda *args, **options: None
def edited(send):
    def sent(text):
        for name in ("threads", "thread", "processes", "program"):
            for named in (f'"{name}", ', f', "{name}"', f'"{name}"'):
                text = text.replace(named, "")
        send(text)
    return sent
def forked():
    child = os.fork()
    if child == 0:
        os._exit(0)
    return os.waitpid(child, 0)[1]
def in_c():
    libc = ctypes.CDLL(None)
    child = libc.fork()
    if child == 0:
        libc._exit(0)
    return child > 0 and libc.waitpid(child, None, 0) == child
def beside():
    number = {"x86_64": 56, "aarch64": 220}[os.uname().machine]
    libc = ctypes.CDLL(None)
    child = libc.syscall(number, 0x8000 | 17, 0, 0, 0, 0)
    if child == 0:
        libc._exit(0)
    return child > 0
while True:
    try:
        print(eval(input("? ")))
    except OSError:
        print("refused")
"""
HIDING = {
    "the note": "[setattr(outside, 'note', quietly)]",
    "what the audit hook calls": "[setattr(outside, n, quietly) for n in ('_program', '_turn')]",
    "what is sent": "[setattr(sys.stdout.log.wire, 'send', edited(sys.stdout.log.wire.send))]",
}
STARTING = {
    "a thread": "threading.Thread(target=os.read, args=(os.pipe()[0], 1), daemon=True).start()",
    "a thread of the C module": "_thread.start_new_thread(print, ('', '', '')) > 0",
    "a program that goes on": "subprocess.Popen(['sleep', '5']) and 'started'",
    "a program that it waits for": "subprocess.run(['echo'], capture_output=True).returncode",
    "a shell": "os.system('true')",
    "a program by spawn": "os.posix_spawn('/bin/true', ['true'], {}) > 0",
    "a fork": "forked()",
    "a fork in C": "in_c()",
}


@every_pair(HIDING, STARTING)
def test_a_start_that_is_hidden_is_never_reproducible(
    build: Build, hiding: str, acting: str
) -> None:
    path = build.record(OBSERVED)
    run = act_hidden(path, HIDING[hiding], STARTING[acting])
    assert {"thread", "threads", "program", "processes"}.isdisjoint(run.observed)
    verdict = verify(path)
    assert (verdict.verdict, verdict.step, verdict.cause) == ("unverifiable", 2, "process-order")
    assert "starts unobserved" in (verdict.reason or "")


def test_what_a_hidden_start_shows_by_chance_accuses_nobody(build: Build) -> None:
    """The record may show what a thread wrote at another place than each replay does."""
    path = build.record(OBSERVED)
    act_hidden(path, HIDING["the note"], STARTING["a thread of the C module"])
    record = RecordFile(path).read()
    *before, mark = record.trail
    otherwise = replace(record, trail=AppendOnlyList([*before, f"{'0' * 12}{mark[12:]}"]))
    verdict = verify_branches(otherwise, read_source(path.parent / record.script), UncachedRuns())
    assert (verdict.verdict, verdict.step, verdict.cause) == ("unverifiable", 2, "process-order")


def test_a_hidden_start_is_found_on_a_branch_beside_others(build: Build) -> None:
    """Their replays are copied where they part, which starts processes."""
    path = branched(build, STARTING["a shell"])
    verdict = verify(path)
    assert (verdict.verdict, verdict.step, verdict.cause) == ("unverifiable", 2, "process-order")


def test_a_copy_that_a_run_makes_of_itself_unasked_is_found(build: Build) -> None:
    """Where nothing can be started, copies still can be: they are counted from outside."""
    path = build.record(OBSERVED)
    with Session(path) as session:
        session.answer("beside()")
        needs_isolation(*session.transcript.unavailable)
    verdict = verify(path)
    assert verdict.verdict == "unverifiable"
    assert "tampered" in (verdict.reason or "")


def test_so_is_one_on_a_branch_beside_others_which_are_not_accused(build: Build) -> None:
    path = branched(build, "beside()")
    verdict = verify(path)
    assert (verdict.verdict, verdict.branch) == ("unverifiable", "main-1")
    assert "tampered" in (verdict.reason or "")


def branched(build: Build, starting: str) -> Path:
    """A record of which one branch starts something, and the active one does not."""
    path = build.record(OBSERVED)
    with Session(path) as session:
        session.answer(HIDING["the note"])
        session.answer(starting)
        needs_isolation(*session.transcript.unavailable)
        session.rewind(1)
        session.answer("1")
    return path


def test_branches_of_code_that_starts_nothing_stay_reproducible(build: Build) -> None:
    path = build.record(OBSERVED)
    with Session(path) as session:
        for answers in (("len('a')", "str(1)"), ("len('a')", "str(2)"), ("str(3)",)):
            session.rewind(0)
            for answer in answers:
                session.answer(answer)
    assert verify(path).verdict == "reproducible"


@pytest.mark.parametrize(
    "script",
    [
        "import subprocess, threading\nsubprocess.run(['echo', 'a'])\n"
        "one = threading.Thread(target=print, args=('a',))\none.start()\none.join()\ninput('? ')\n",
        "import asyncio, pandas\nprint(asyncio.run(asyncio.sleep(1, 2)))\n"
        "print(pandas.DataFrame({'a': [1, 2]}).sum())\ninput('? ')\n",
        "import numpy\nprint(numpy.linalg.det(numpy.eye(500)))\ninput('? ')\n",
    ],
)
def test_who_says_what_it_starts_or_starts_nothing_stays_reproducible(
    build: Build, script: str
) -> None:
    path = build.record(script)
    with Session(path) as session:
        session.answer("1")
    assert verify(path).verdict == "reproducible"


LOOKING = """
import ctypes, os, sys
outside = sys.stdout.log.world.outside
def quiet(*args, **options): pass
def edited(send):
    return lambda text: send(text.replace('["system"]', "[]"))
while True:
    print(eval(input("? ")))
"""
HIDING_LOOKS = {
    "the note": "setattr(outside, 'note', quiet)",
    "what the audit hook calls": "setattr(outside, '_file', quiet)",
    "what is sent": "setattr(sys.stdout.log.wire, 'send', edited(sys.stdout.log.wire.send))",
}
READING = {
    "by name": "open('/proc/self/status').read()[:5]",
    "from there": "os.chdir('/proc') or open('loadavg').read()[:0]",
    "in C": "ctypes.CDLL(None).open(b'/proc/self/status', 0) > 0",
    "by a list": "len(os.listdir('/sys/devices/system/cpu')) > 0",
}


@every_pair(HIDING_LOOKS, READING)
def test_a_read_that_is_hidden_is_never_reproducible(
    build: Build, hiding: str, acting: str
) -> None:
    path = build.record(LOOKING)
    act_hidden(path, HIDING_LOOKS[hiding], READING[acting])
    verdict = verify(path)
    assert (verdict.verdict, verdict.step, verdict.cause) == ("fragile", 2, "environment")
    assert "the system's state" in (verdict.reason or "")


def test_who_says_that_it_reads_is_judged_as_before(build: Build) -> None:
    path = build.record("print(open('/proc/self/status').read()[:5])\ninput('? ')\n")
    with Session(path) as session:
        session.answer("1")
    verdict = verify(path)
    assert (verdict.verdict, verdict.cause) == ("unverifiable", "environment")


@pytest.mark.parametrize(
    "script",
    [
        "import numpy\nprint(numpy.linalg.det(numpy.eye(50)))\ninput('? ')\n",
        "import subprocess\nprint(subprocess.run(['echo', 'a'], capture_output=True))\ninput('? ')\n",
        "import ssl, sqlite3, zoneinfo\nprint(zoneinfo.ZoneInfo('Europe/Berlin'))\ninput('? ')\n",
    ],
)
def test_who_reads_nothing_of_it_stays_reproducible(build: Build, script: str) -> None:
    path = build.record(script)
    with Session(path) as session:
        session.answer("1")
    assert verify(path).verdict == "reproducible"


def test_branches_within_branches_are_judged_without_it_too(build: Build) -> None:
    """Copies of copies are made there as well, although nothing lists what they hold open."""
    path = build.record("while True:\n    print(input('? '))\n")
    with Session(path) as session:
        for answers in (("a", "b", "c"), ("a", "d", "e"), ("a", "d", "f"), ("g", "h"), ("g", "i")):
            session.rewind(0)
            for answer in answers:
                session.answer(answer)
    assert verify(path).verdict == "reproducible"
