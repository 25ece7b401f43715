"""The time that a script has for a step, on a machine that is busy with others."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from quizlog_tui.replay.live_run import LiveRun
from quizlog_tui.replay.process import family, process
from quizlog_tui.replay.process import family as family_module
from quizlog_tui.replay.process.process import Limits, QuizProcess
from quizlog_tui.replay.script.source import read_source
from quizlog_tui.replay.world import World
from tests.support.build import Build


@pytest.mark.parametrize(
    ("passed", "waited", "over"),
    [
        (29, 0, False),
        (31, 0, True),
        (31, 2, False),
        (100, 69, True),
        (100, 75, False),
        (301, 301, True),
    ],
)
def test_a_busy_machine_does_not_use_up_a_script_s_time(
    passed: int, waited: int, over: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(family.time, "monotonic", lambda: now[0])
    begun, fresh = family.Deadline(30.0), family.Deadline(30.0, fresh=True)
    assert not begun.is_over(lambda: 5.0)
    now[0] = float(passed)
    assert begun.is_over(lambda: 5.0 + waited) is over
    assert fresh.is_over(lambda: float(waited)) is over
    assert not family.Deadline(0.0).is_over(lambda: 0.0)


def test_the_seconds_that_a_process_waited_for_a_processor_are_known() -> None:
    if not Path("/proc/self/schedstat").exists():
        pytest.skip("this system does not tell it")
    first = family.seconds_waited(os.getpid())
    assert 0 <= first <= family.seconds_waited(os.getpid())
    assert family.seconds_waited(2**22 + 1) == 0


def test_a_copy_that_does_not_start_in_time_is_done_without(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = read_source(build.script("input()\n"))
    run = LiveRun(source, Limits(), QuizProcess.start(source, World(1), Limits()))
    run.grow([])
    monkeypatch.setattr(process, "_COPY_SECONDS", 0.2)
    monkeypatch.setattr(process, "_LAST_WORD_SECONDS", 0.2)
    assert run.process.pid
    os.kill(run.process.pid, signal.SIGSTOP)
    copy = run.copy()
    assert copy is not None and not copy.settle() and not copy.alive
    os.kill(run.process.pid, signal.SIGCONT)
    copy.release()
    run.close()


def test_waiting_for_processes_of_its_own_uses_up_a_script_s_time(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not Path("/proc/self/schedstat").exists():
        pytest.skip("this system does not tell it")
    text = """
    import subprocess, sys, time
    input("first? ")
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    input("second? ")
    """
    source = read_source(build.script(text))
    run = LiveRun(source, Limits(), QuizProcess.start(source, World(1), Limits()))
    family = run.process.family
    monkeypatch.setattr(family_module, "seconds_waited", lambda pid: 5.0)
    run.grow([])
    assert family.seconds_waited(run.process.pid) == 10.0
    run.grow(["x"])
    assert family.seconds_waited(run.process.pid) == 0.0
    run.close()
