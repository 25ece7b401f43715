"""A script that writes to quizlog's own channel, or hides what it prints: it is ended, or seen."""

from __future__ import annotations

import json
import os
import random
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from quizlog_tui.errors import ProtocolError
from quizlog_tui.proof.verify import verify
from quizlog_tui.replay.process.channel import Channel
from quizlog_tui.replay.process.protocol import ProcessStarted, Violation
from quizlog_tui.replay.process.spawn import _CONTROL, _FOLDER, DescriptorGroup
from quizlog_tui.replay.replayer import Replayer, replay
from quizlog_tui.session.session import Session
from tests.support.build import Build
from tests.support.long_runs import few
from tests.support.messages import report, step, told
from tests.support.processes import below, name_of
from tests.support.screens import patiently

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="checkpoints and walls need Linux")

MANY = pytest.mark.parametrize("messages", few([10_000, 100_000], 10_000))
EVALUATES = """
import os, sys
def send(data):
    os.write(CONTROL, len(data).to_bytes(4, "little") + data)
def in_child(act):
    if os.fork() == 0:
        act()
        os._exit(0)
    os.wait()
while True:
    print("hello")
    print(eval(input("? ")))
""".replace("CONTROL", str(_CONTROL))


@pytest.fixture
def victim() -> Iterator[int]:
    """A process of the same user that has nothing to do with quizlog."""
    with subprocess.Popen(["sleep", "1000"]) as process:
        yield process.pid
        assert process.poll() is None, "a process outside the family was ended"
        process.kill()


FORGED: list[tuple[Any, str]] = [
    (["born", "VICTIM"], "sent a message out of turn"),
    (["born", "x"], "sent a malformed message 'born'"),
    ([], "sent something that is not a message"),
    ({"a": 1}, "sent something that is not a message"),
    (["asking", 1], "sent a malformed message 'asking'"),
    (["asking", -1, None], "sent a malformed message 'asking'"),
    (report("asking", step(out=99_999_999)), "reported output that does not exist"),
    (report("asking", step(err=99_999_999)), "reported output that does not exist"),
    (report("asking", step([0, 9999], out=9)), "reported output that does not exist"),
    (report("ended", step(out=9)), "reported a question where there is none"),
    (report("paused"), "reported a question where there is none"),
    (["refused", "no"], "sent a message out of turn"),
    (["place", "overlay", "anything"], "reported its isolation twice"),
    (["no such thing"], "sent a message of an unknown kind"),
]
"""Messages that no worker sends, and what is said of them; `test_protocol.py` tries all else that
is refused. `VICTIM` stands for the number of a process."""


@pytest.mark.parametrize("forged", few(FORGED, *FORGED[::4]))
def test_a_forged_message_ends_the_run_with_one_clear_line(
    build: Build, replayer: Replayer, victim: int, forged: tuple[Any, str]
) -> None:
    script, (message, violation) = build.script(EVALUATES), forged
    data = told(message).replace(b'"VICTIM"', str(victim).encode())
    replayer.replay(script, 1, ["1"])
    with pytest.raises(ProtocolError, match=rf"broke the protocol at step 1: it {violation} \("):
        replayer.replay(script, 1, ["1", f"send({data!r})"])
    assert replayer.replay(script, 1, ["1", "2"]).status == "in_progress"


def test_a_forged_question_after_a_real_one_is_refused(build: Build) -> None:
    """Well formed, and about output that is there: but there was no answer to it."""
    forged = told(report("asking", step(out=8), step(out=8)))
    with pytest.raises(ProtocolError, match="answers that it was not given"):
        replay(build.script(EVALUATES), 1, [f"send({forged!r})"])


def test_a_child_of_the_script_cannot_speak_in_its_place(build: Build) -> None:
    forged = told(report("asking", step(out=8)))
    with pytest.raises(ProtocolError, match="another process sent messages in its place"):
        replay(build.script(EVALUATES), 1, [f"in_child(lambda: send({forged!r}))"])


def test_an_endless_length_is_refused_at_once(build: Build) -> None:
    answer = f"os.write({_CONTROL}, bytes([255] * 8))"
    with pytest.raises(
        ProtocolError, match="sent a message of 4294967295 bytes, which is too long"
    ):
        replay(build.script(EVALUATES), 1, [answer])


def test_nothing_of_a_run_that_broke_the_protocol_lives_on(build: Build) -> None:
    """Also a process that was detached twice before."""
    daemon = "os.fork() or (os.setsid(), os.fork() or os.execv('/bin/sleep', ['sleep', '999']))"

    def detached() -> list[int]:
        return [pid for pid in below(os.getpid()) if name_of(pid) == "sleep"]

    with Replayer() as replayer:
        script = build.script(EVALUATES)
        replayer.replay(script, 1, [daemon])
        for _ in patiently():
            if detached():
                break
        with pytest.raises(ProtocolError):
            replayer.replay(script, 1, [daemon, 'send(b\'["born", "x"]\')'])
        for _ in patiently():  # the guard does so when it is told that the run is over
            if not detached():
                return
    raise AssertionError(f"{detached()} live on")


def test_prints_that_are_hidden_are_shown_and_the_run_is_tampered(build: Build) -> None:
    answer = 'setattr(sys.stdout.log, "printed", lambda text: None) or 4'
    record = build.record(EVALUATES)
    with Session(record) as session:
        assert session.answer(answer).status == "in_progress"
        reply = session.answer("5")
        assert "hello" in reply.print and "5" in reply.print
    with Session(record) as session:
        assert any("tampered" in warning for warning in session.warnings)
    verdict = verify(record)
    assert verdict.verdict == "unverifiable"
    assert "tampered" in (verdict.reason or "")


@pytest.mark.parametrize(
    "answer",
    [
        'sys.stdout.log.printed("made up\\n")',
        "(print('hidden'), sys.stdout.log.entries.clear())",
        'sys.stdout.log.entries.append(chr(34) + "made up" + chr(34))',
    ],
)
def test_an_account_of_output_that_is_not_the_bytes_is_tampered(build: Build, answer: str) -> None:
    found = replay(build.script(EVALUATES), 1, [answer, "2"])
    assert "tampered" in found.observed
    assert "made up" not in "\n".join(found.print)


HONEST = {
    "redirected": "import os, sys\nsaved = os.dup(1)\nos.dup2(os.open(os.devnull, 1), 1)\n"
    "print('silent', flush=True)\nos.dup2(saved, 1)\nprint('heard')\ninput('? ')\nprint('more')\n",
    "another encoding": "import sys\nsys.stdout.reconfigure(encoding='latin-1')\nprint('é')\ninput('ö ')\n",
    "unwritten at a question": "import sys\nprint('waits')\nsys.stdin.readline()\nprint('more')\n",
    "left at once": "import os\nprint('lost')\ninput('? ')\nprint('gone')\nos._exit(0)\n",
    "standing in for stdout": "import io, sys\nreal, sys.stdout = sys.stdout, io.StringIO()\n"
    "print('kept')\ninput('? ')\nreal.write('end\\n')\n",
    "a child writes too": "import os, sys\nprint('a')\nsys.stdout.flush()\nos.system('echo b')\nprint('c')\n"
    "input('? ')\n",
    "odd bytes": "import sys\nsys.stdout.buffer.write(b'\\xff\\xfe')\nprint()\ninput('? ')\n",
    "halves of characters": "print('\\udc80')\ninput('\\udcff ')\n",
    "a print inside a print": "class A:\n  def __str__(self):\n    print('in')\n    return 'a'\n"
    "print('x', A(), 'y')\ninput('? ')\n",
    "lossy": "import sys\nsys.stdout.reconfigure(errors='replace')\nprint('\\ud800 a')\ninput('? ')\n",
}


@pytest.mark.parametrize("name", HONEST)
def test_honest_scripts_are_not_accused(build: Build, name: str) -> None:
    found = replay(build.script(HONEST[name]), 1, ["4"])
    assert "tampered" not in found.observed
    assert found.status == "success"


@MANY
def test_random_messages_never_break_the_channel(messages: int) -> None:
    """Each is read or refused; nothing is kept of it."""
    chance = random.Random(20261122)
    report = b'["asking", [["? ", 3, ["a"], 7, 0, 0.2, [], ""]], ["finished", null, null, []], null, [], null]'
    ours, theirs = (socket.socket(fileno=fd) for fd in DescriptorGroup().sockets())
    channel, refused = Channel(ours), 0
    born = b'["born", 4]'
    theirs.sendall(len(born).to_bytes(4, "little") + born)
    channel.gather()
    assert channel.pending(lambda: 0) == ProcessStarted(4)
    for _ in range(messages):
        data = bytearray(chance.choice([report, b'["straying"]', b'["place", "copy", "x"]']))
        for _ in range(chance.randrange(4)):
            data[chance.randrange(len(data))] = chance.choice(b'0123456789"[]{},-e \xff\x00\\')
        theirs.sendall(len(data).to_bytes(4, "little") + data)
        channel.gather()
        try:
            assert channel.pending(lambda: 1 << 20) is not None
        except Violation:
            refused += 1
        assert channel.pending(lambda: 1 << 20) is None
    assert channel.sender == os.getpid()
    assert messages // 10 < refused < messages
    ours.close()
    theirs.close()


ORDERS = """
import json, os, random, sys
sys.path.insert(0, {folder!r})
from worker import guard
bounds = guard.FamilyBounds()
victim, chance = {victim}, random.Random(20261122)
child = os.fork()
if child == 0:
    os.execv("/bin/sleep", ["sleep", "1000"])
understood = 0
for number in range({messages}):
    pid = chance.choice([victim, os.getppid(), os.getpid(), 1, 0, 2**22, 10**30, "x", "-1", "", b"\\xff"])
    word = chance.choice(["kill", "keep", "KILL", "", "kill kill", "kill\\0"])
    line = f"{{word}} {{pid}}".encode()
    if word == "keep":
        line += b" %d" % child
    understood += guard._carry_out(line, bounds)
os.kill(child, 0)
assert guard._carry_out(b"kill %d" % child, bounds) and os.waitpid(child, 0)[1] == 9
print(understood)
"""


@MANY
def test_random_orders_never_break_the_guard_nor_end_what_is_not_below_it(
    messages: int, victim: int, tmp_path: Path
) -> None:
    code = ORDERS.format(folder=_FOLDER, victim=victim, messages=messages)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert 0 < json.loads(done.stdout) < messages
