"""The executor: refusal, concurrency, cancelling, recovery, and nothing left behind."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from quizlog_tui.sandbox import usage
from quizlog_tui.sandbox.box import Box, BoxError
from quizlog_tui.sandbox.executor import Sandbox
from quizlog_tui.sandbox.result import SandboxLimits

LONG = SandboxLimits(wall=60)


def test_without_isolation_code_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with Sandbox(preload=(), order=["rlimits"]) as sandbox:
        if sandbox.level() is None:
            pytest.skip(sandbox.why())
        sandbox.failures["bwrap"] = "it is not there"
        refused = sandbox.run("answer = 1", None, LONG)
        assert (refused.status, refused.isolation, refused.answer) == (
            "sandbox_error",
            "none",
            None,
        )
        assert "--unsafe-local" in (refused.error or "")
        assert "it is not there" in (refused.error or "")
        allowed = sandbox.run("answer = 1", None, LONG, unsafe_local=True)
        assert (allowed.answer, allowed.isolation) == (1, "UNSAFE: rlimits only")


def test_where_nothing_starts_the_reason_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with Sandbox(preload=(), order=["bwrap"]) as sandbox:
        result = sandbox.run("answer = 1", None, LONG)
        assert result.status == "sandbox_error"
        assert "bubblewrap" in (result.error or "")


def test_a_box_that_fails_its_test_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("quizlog_tui.sandbox.executor._faults", lambda box: "it leaks")
    with Sandbox(preload=(), order=["bwrap"]) as sandbox:
        assert sandbox.level() is None
        if "it leaks" not in sandbox.why():
            pytest.skip(sandbox.why())


async def test_many_at_once_do_not_meet(best: Sandbox) -> None:
    code = "import os, time\nopen('/tmp/mine', 'x').close()\ntime.sleep(0.05)\nanswer = [{0}, os.listdir('/tmp')]"
    if best.level() != "bwrap":
        pytest.skip("needs folders of a run's own")
    runs = [best.run_code(code.format(number), None, LONG) for number in range(20)]
    results = await asyncio.gather(*runs)
    assert [result.answer for result in results] == [[n, ["mine"]] for n in range(20)]


async def test_a_cancelled_run_ends(best: Sandbox) -> None:
    task = asyncio.create_task(best.run_code("while True: pass", None, LONG))
    while best.servers().issuperset(usage.tree(min(best.servers()))):
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    best._threads.shutdown(wait=True)
    assert best.servers().issuperset(usage.tree(min(best.servers())))


def test_a_box_that_died_is_replaced(best: Sandbox) -> None:
    assert best.run("answer = 1", None, LONG).answer == 1
    for pid in best.servers():
        with contextlib.suppress(ProcessLookupError):  # it may end with the one before
            os.kill(pid, signal.SIGKILL)
    assert best.run("answer = 2", None, LONG).answer == 2


def test_no_descriptor_process_or_folder_is_left(best: Sandbox, tmp_path: Path) -> None:
    def state() -> tuple[int, int]:
        return len(os.listdir("/proc/self/fd")), len(usage.tree(os.getpid()))

    (tmp_path / "f").write_text("x")
    codes = ["answer = 1", "1/0", "import os; os._exit(1)", "import os; os.write(3, b'x' * 9)"]
    best.run(codes[0], tmp_path, LONG)
    before = state()
    for number in range(24):
        best.run(codes[number % len(codes)], tmp_path, LONG)
    assert state() == before


def test_all_ends_with_a_caller_that_is_killed(best: Sandbox) -> None:
    code = f"""
import os, sys
sys.path.insert(0, {os.getcwd()!r})
from threading import Thread
from quizlog_tui.sandbox import usage
from quizlog_tui.sandbox.executor import Sandbox
from quizlog_tui.sandbox.result import SandboxLimits
s = Sandbox(preload=(), order=["{best.level()}"])
s.level()
Thread(target=s.run, args=("while True: pass", None, SandboxLimits(wall=600))).start()
while not usage.usage(p for p in usage.tree(os.getpid()) if p not in s.servers() and p != os.getpid()).cpu:
    pass
print(*usage.tree(os.getpid()), flush=True)
"""
    caller = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert caller.stdout
    pids = [int(word) for word in caller.stdout.readline().split()]
    assert len(pids) > 2
    caller.kill()
    caller.wait()
    caller.stdout.close()
    fds = [fd for pid in pids if (fd := _open(pid)) is not None]
    for fd in fds:
        assert _ended(fd)
        os.close(fd)


def _open(pid: int) -> int | None:
    try:
        return os.pidfd_open(pid)
    except ProcessLookupError:
        return None


def _ended(fd: int) -> bool:
    import select

    return bool(select.select([fd], [], [], 30)[0])


def test_a_box_says_why_it_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "quizlog_tui.sandbox.box._command", lambda *_: ["/bin/sh", "-c", "echo no >&2; exit 1"]
    )
    with pytest.raises(BoxError, match="no"):
        Box("bwrap", [])
