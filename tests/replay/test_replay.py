"""What a transcript says: steps, prints, errors, scores, seeds, limits; and who dies when."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from quizlog_tui.errors import CancelledError, LimitError, ScriptError
from quizlog_tui.replay.process.process import Limits
from quizlog_tui.replay.replayer import Replayer, replay
from quizlog_tui.replay.script.source import read_source
from quizlog_tui.replay.transcript import Transcript
from tests.support.build import Build
from tests.support.long_runs import examples
from tests.support.processes import IS_UP, below, gone, is_up, wait_for

pytestmark = pytest.mark.core


def test_steps_carry_prompt_print_line_type_and_answer(build: Build) -> None:
    script = build.script(
        """
        import sys
        print("hello")
        a = input("How many legs? ")
        print("note", file=sys.stderr)
        print("next")
        b = input("Red or blue? (red/blue) ")
        print("end")
        """
    )
    transcript = replay(script, 1, ["8"])
    first, last = transcript.steps[0], transcript.last
    assert (first.prompt, first.print, first.input) == ("How many legs? ", ("hello",), "8")
    assert (first.line, first.input_type, first.stderr) == (3, "integer", "")
    assert (last.prompt, last.print, last.input) == ("Red or blue? (red/blue) ", ("next",), None)
    assert (last.line, last.input_type, last.choices) == (6, "choice", ("red", "blue"))
    assert last.stderr == "note\n"
    assert transcript.status == "in_progress"
    assert transcript.stdout == "hello\nHow many legs? next\nRed or blue? (red/blue) "
    done = replay(script, 1, ["8", "red"])
    assert (done.status, done.score, done.exit_code) == ("success", 1.0, 0)
    assert done.print == ("hello", "next", "end")


def test_prints_are_logged_in_the_order_they_were_made(build: Build) -> None:
    script = build.script(
        """
        import os, subprocess, sys
        print("one")
        os.write(1, b"two\\n")
        subprocess.run(["echo", "three"])
        sys.stdout.write("four\\n")
        print("fi", "ve", sep="", end="")
        print()
        print("a\\nb")
        input("?")
        """
    )
    transcript = replay(script, 1, [])
    assert transcript.print == ("one", "two", "three", "four", "five", "", "a\nb")


@pytest.mark.parametrize(
    ("line", "score"),
    [
        ('raise Exception("e")  #score = 0.5', 0.5),
        ('raise Exception("e")#score=0.3', 0.3),
        ('raise Exception("e")  #score(0.7)', 0.7),
        ('raise Exception("e")  # see notes #score = .25', 0.25),
        ('raise Exception("e")  #score = 1', 1.0),
        ('raise Exception("e")', 0.0),
        ('raise Exception("#score = 0.5")', 0.0),
        ('raise Exception("e")  #score = __import__("os")', 0.0),
        ('raise Exception(\n    "e"\n)  #score = 0.4', 0.4),
        ("check()", 0.2),
        ("check()  #score = 0.9", 0.2),
        ("plain()  #score = 0.6", 0.6),
    ],
)
def test_the_partial_score_is_read_from_the_comment(line: str, score: float, build: Build) -> None:
    head = 'def check():\n    raise ValueError("e")  #score = 0.2\ndef plain():\n    raise ValueError("e")\n'
    script = build.script(head)
    script.write_text(head + line + "\n", encoding="utf-8")
    transcript = replay(script, 1, [])
    assert transcript.last_error is not None
    assert (transcript.last_error.message, transcript.last_error.score) == (
        "#score = 0.5" if '"#score' in line else "e",
        score,
    )


@pytest.mark.parametrize("text", ["1.5", "-0.1", "half"])
def test_an_illegal_score_is_ignored_with_a_warning(text: str, build: Build) -> None:
    transcript = replay(build.script(f"raise Exception('e')  #score = {text}\n"), 1, [])
    assert transcript.score == 0
    assert "quiz.py:1" in transcript.warnings[0] and "ignored" in transcript.warnings[0]


def test_the_error_line_is_the_innermost_of_the_script(build: Build) -> None:
    (build.folder / "helper.py").write_text("def fail():\n    raise KeyError('k')\n")
    script = build.script("import helper\ndef ask():\n    helper.fail()\nask()\n")
    transcript = replay(script, 1, [])
    assert transcript.last_error is not None
    assert transcript.last_error.line == 3
    assert transcript.error_type == "KeyError"
    assert transcript.traceback_lines == (4, 3)


def test_sibling_modules_data_files_and_folder(build: Build) -> None:
    (build.folder / "sibling.py").write_text("VALUE = 42\n")
    (build.folder / "worker.py").write_text("VALUE = 'the user has a worker too'\n")
    (build.folder / "data.txt").write_text("some data")
    script = build.script(
        """
        import os, sibling, worker
        print(sibling.VALUE, worker.VALUE, open("data.txt").read())
        print(os.getcwd() == os.path.dirname(os.path.abspath(__file__)))
        """
    )
    assert replay(script, 1, []).print == ("42 the user has a worker too some data", "True")


def test_the_seed_reaches_every_generator(build: Build) -> None:
    script = build.script(
        """
        import random, numpy, secrets
        print(random.random(), numpy.random.rand(), random.Random().random())
        print(numpy.random.default_rng().random(), secrets.token_hex(4), random.Random().random())
        print(sorted([hash("a"), hash("b")]), {"x", "y", "z", "u", "v"})
        random.seed()
        print(random.random())
        """
    )
    first, again, other = (replay(script, seed, []).print for seed in (7, 7, 8))
    assert first == again
    assert all(a != b for a, b in zip(first, other, strict=True))
    import random

    import numpy

    expected = f"{random.Random(7).random()} {numpy.random.RandomState(7).rand()} "
    assert first[0].startswith(expected)


@pytest.mark.parametrize("seed", [0, -5, 2**40, 10**30])
def test_any_whole_number_is_a_seed(seed: int, build: Build) -> None:
    script = build.script("import random, numpy\nprint(random.random(), numpy.random.rand())\n")
    assert replay(script, seed, []) == replay(script, seed, [])


def test_an_answer_is_one_string_whatever_it_holds(build: Build) -> None:
    script = build.script("print(ascii(input()))\n")
    for answer in ("a\nb", "\r", "\x00", "\ud800", "\udc80", "x" * 100_000, "é🎉"):
        assert replay(script, 1, [answer]).print == (ascii(answer),)


def test_control_d_ends_the_input(build: Build) -> None:
    script = build.script("import sys\nprint(repr(sys.stdin.read()))\n")
    assert replay(script, 1, ["a", "b", "\x04"]).print == ("'a\\nb\\n'",)
    script = build.script("try:\n    input()\nexcept EOFError as e:\n    print(e)\n")
    assert replay(script, 1, ["\x04"]).print == ("EOF when reading a line",)


def test_the_pause_runs_nothing_of_the_script(build: Build) -> None:
    script = build.script(
        """
        import atexit, pathlib
        trace = pathlib.Path("trace")
        atexit.register(trace.write_text, "atexit ran")
        try:
            input("?")
        except BaseException:
            trace.write_text("except ran")
        finally:
            trace.write_text("finally ran")
        """
    )
    assert replay(script, 1, []).status == "in_progress"
    assert not (build.folder / "trace").exists()


def test_getpass_shows_its_prompt(build: Build) -> None:
    transcript = replay(build.script("import getpass\ngetpass.getpass('Secret: ')\n"), 1, [])
    assert transcript.next_prompt == "Secret: "


def test_an_endless_loop_meets_the_time_limit(build: Build) -> None:
    script = build.script("input()\nwhile True: pass\n")
    with Replayer(Limits(seconds=0.5)) as replayer:
        assert replayer.replay(script, 1, []).status == "in_progress"
        with pytest.raises(LimitError, match=r"ran 0.5 seconds without asking"):
            replayer.replay(script, 1, ["x"])
        assert replayer.replay(script, 1, []).status == "in_progress"


def test_the_time_limit_is_for_each_step(build: Build) -> None:
    script = build.script("import time\nfor i in range(5):\n    time.sleep(0.45); input()\n")
    assert len(replay(script, 1, list("abcde"), Limits(seconds=2.0)).steps) == 5


def test_a_flood_meets_the_output_limit(build: Build) -> None:
    script = build.script("while True: print('x' * 1000)\n")
    with pytest.raises(LimitError, match="wrote more than 1 MB"):
        replay(script, 1, [], Limits(output=1 << 20))
    script = build.script("input()\nprint('x' * 2_000_000)\ninput()\n")
    with pytest.raises(LimitError, match="wrote more than 1 MB"):
        replay(script, 1, ["a"], Limits(output=1 << 20))


WORDY = """
for n in range(13):
    answer = input(f"{n}? ")
    for _ in range(12_000 if answer == "more" else 9_000): print("x" * 99)
"""


def test_the_output_limit_is_for_each_question_however_a_run_comes_there(build: Build) -> None:
    script, limits = build.script(WORDY), Limits(output=1 << 20)
    answers = ["a"] * 12
    with Replayer(limits) as replayer:
        live = [replayer.replay(script, 1, answers[:count]) for count in range(13)][-1]
        copied = replayer.replay(script, 1, [*answers[:4], *["b"] * 8])
    replayed = replay(script, 1, answers, limits)
    for run in (live, copied, replayed):
        assert len(run.steps) == 12 and len(run.print) == 12 * 9_000


def test_one_wordy_answer_among_many_meets_the_output_limit(build: Build) -> None:
    script, limits = build.script(WORDY), Limits(output=1 << 20)
    answers = [*["a"] * 8, "more", "a"]
    with Replayer(limits) as replayer:
        assert len(replayer.replay(script, 1, answers[:8]).steps) == 8
        with pytest.raises(LimitError, match="wrote more than 1 MB"):
            replayer.replay(script, 1, answers[:9])
    with pytest.raises(LimitError, match="wrote more than 1 MB"):
        replay(script, 1, answers, limits)


def test_a_memory_hog_meets_the_memory_limit(build: Build) -> None:
    script = build.script("x = []\nwhile True: x.append(bytearray(10_000_000))\n")
    with pytest.raises(LimitError, match=r"needed more than 0\.25 GB"):
        replay(script, 1, [], Limits(memory=1 << 28))


def test_a_caught_memory_error_is_the_scripts_own_affair(build: Build) -> None:
    script = build.script(
        "try:\n    bytearray(1 << 30)\nexcept MemoryError:\n    print('caught')\n"
    )
    assert replay(script, 1, [], Limits(memory=1 << 28)).print == ("caught",)


@pytest.mark.parametrize("stop", [Replayer.cancel, Replayer.give_up, Replayer.close])
def test_a_running_script_can_be_cancelled(stop: Callable[[Replayer], None], build: Build) -> None:
    script = build.script(f"{IS_UP}\nwhile True: pass\n")
    with Replayer() as replayer:
        caught: list[BaseException] = []

        def run() -> None:
            try:
                replayer.replay(script, 1, [])
            except CancelledError as error:
                caught.append(error)

        thread = threading.Thread(target=run)
        thread.start()
        wait_for(is_up)
        stop(replayer)
        thread.join(10)
        assert caught and not thread.is_alive()


def test_what_was_given_up_runs_nothing_more_but_a_cancel_is_over(build: Build) -> None:
    script = build.script("while input('? '): pass\n")
    source = read_source(script)
    with Replayer() as replayer:
        replayer.replay(script, 1, ["a"])
        replayer.cancel()
        kept = replayer.replay(script, 1, ["a", "b"])
        replayer.give_up()
        for late in (
            lambda: replayer.replay(script, 1, ["c"]),
            lambda: replayer.extend(kept, "c"),
            lambda: replayer.fan_out(script, 1, ["a", "b"], ["c", "d"]),
            lambda: list(replayer.walk(source, 1, [["a"]])),
        ):
            with pytest.raises(CancelledError, match="given up"):
                late()


@pytest.mark.parametrize("name", ["missing.py", "."])
def test_a_script_that_cannot_be_read_is_named(name: str, tmp_path: Path) -> None:
    with pytest.raises(ScriptError, match="script"):
        replay(tmp_path / name, 1, [])


DAEMON = """
import os, subprocess, sys, time
subprocess.Popen(["sleep", "1000"])
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        open("pid", "w").write(str(os.getpid()))
        os.execvp("sleep", ["sleep", "1001"])
    os._exit(0)
while not os.path.exists("pid") or not open("pid").read(): pass
print(open("pid").read())
print(subprocess.run(["pgrep", "-f", "sleep 100"], capture_output=True, text=True).stdout)
input("?")
"""


linux = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")


@linux
def test_whatever_the_script_started_dies_with_it(build: Build) -> None:
    before = below(os.getpid())
    transcript = replay(build.script(DAEMON), 1, [])
    assert gone(int(transcript.print[0]))
    assert below(os.getpid()) == before


@linux
def test_nothing_outlives_a_killed_quizlog(build: Build) -> None:
    build.script(DAEMON)
    code = "import quizlog_tui as q\nr = q.Replayer(); r.replay('quiz.py', 1, [])\nprint('up', flush=True); input()"
    victim = subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=build.folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with victim:
        assert victim.stdout and victim.stdout.readline() == b"up\n"
        family = below(victim.pid)
        assert len(family) >= 4
        os.kill(victim.pid, signal.SIGKILL)
    wait_for(lambda: all(gone(pid) for pid in family))


@linux
def test_replaying_leaks_nothing(build: Build) -> None:
    script = build.script("while True: input()\n")
    family = below(os.getpid())
    held = []
    for _ in range(3):
        with Replayer() as replayer:
            for index in range(15):
                replayer.replay(script, 1, [str(index)])
        held.append(len(os.listdir("/proc/self/fd")))
    assert held[1] == held[2]
    assert below(os.getpid()) == family


@settings(
    max_examples=examples(6),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    walk=st.lists(
        st.lists(st.sampled_from(["a", "b", "stop", "bad", "é\n"]), max_size=5), max_size=6
    )
)
def test_a_shared_replayer_equals_a_fresh_one(walk: list[list[str]], build: Build) -> None:
    script = build.script(
        """
        import random
        total = []
        while (x := input(f"{len(total)} {random.random()}: ")) != "stop":
            if x == "bad":
                raise Exception("bad")  #score = 0.5
            total.append(x)
            print(total)
        """
    )
    with Replayer() as replayer:
        for inputs in walk:
            assert replayer.replay(script, 3, inputs) == fresh(script, tuple(inputs))


@cache
def fresh(script: Path, inputs: tuple[str, ...]) -> Transcript:
    """A fresh run; walks share many of their beginnings."""
    return replay(script, 3, inputs)


def test_the_public_function_is_there_whatever_was_imported_before(build: Build) -> None:
    build.script("input('a? ')\n")
    code = "import quizlog_tui as q\n{}\nprint(q.replay('quiz.py', seed=1, inputs=[]).next_prompt)"
    for before in ("", "q.Session", "import quizlog_tui.replay.world"):
        command = [sys.executable, "-c", code.format(before)]
        done = subprocess.run(command, cwd=build.folder, capture_output=True, text=True, check=True)
        assert done.stdout == "a? \n"


def test_what_many_answers_wrote_is_read_in_a_few_calls(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = build.script("for i in range(3000):\n    print(i)\n    input('? ')\n")
    reads: list[int] = []
    pread = os.pread
    monkeypatch.setattr(os, "pread", lambda *at: reads.append(at[0]) or pread(*at))
    with Replayer(checkpoints=0) as replayer:
        run = replayer.replay(script, 1, ["x"] * 2000)
    assert run.stdout == "".join(f"{i}\n? " for i in range(2001))
    assert len(reads) < 200
