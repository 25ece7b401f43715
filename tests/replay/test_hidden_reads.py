"""What a run reads of the system's state is found out, though its own observer was silenced."""

from __future__ import annotations

import sys

import pytest

from quizlog_tui.proof.verify import verify
from quizlog_tui.session.session import Session
from tests.support.build import Build
from tests.support.hidden_acts import act_hidden, every_pair

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the system's state is in /proc")

OBSERVED = """
import ctypes, os, sys
outside = sys.stdout.log.world.outside
def quiet(*args, **options): pass
def edited(send):
    return lambda text: send(text.replace('["system"]', "[]"))
while True:
    print(eval(input("? ")))
"""
HIDING = {
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


@every_pair(HIDING, READING)
def test_a_read_that_is_hidden_is_never_reproducible(
    build: Build, hiding: str, acting: str
) -> None:
    path = build.record(OBSERVED)
    act_hidden(path, HIDING[hiding], READING[acting])
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
