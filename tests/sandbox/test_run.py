"""Runs under every kind of isolation that the machine has: each status, and what goes in and out."""

from __future__ import annotations

import os
from pathlib import Path

from quizlog_tui.sandbox.box import LABELS
from quizlog_tui.sandbox.executor import Sandbox
from quizlog_tui.sandbox.result import ExecResult, SandboxLimits
from tests.support.processes import below, wait_for

MEGA = 1 << 20


def run(sandbox: Sandbox, code: str, workspace: Path | None = None, **limits: float) -> ExecResult:
    return sandbox.run(code, workspace, SandboxLimits(**{"wall": 60, **limits}), unsafe_local=True)  # type: ignore[arg-type]


ENDS = [
    ("answer = 6 * 7", "ok", None),
    ("answer = None", "ok", None),
    ("x = 1\nraise KeyError('k')", "error", "KeyError: 'k' (line 2)"),
    ("def f(:", "error", "SyntaxError: invalid syntax (line 1)"),
    ("\n1/0", "error", "ZeroDivisionError: division by zero (line 2)"),
    ("answer = object()", "error", "answer: a object is not JSON data"),
    ("raise MemoryError", "oom", "MemoryError"),
    ("raise OSError(28, 'No space left')", "disk_limit", "OSError"),
    ("x = 1", "no_result", "`answer` was not set"),
    ("import os; os._exit(3)", "no_result", "exit code 3"),
    ("import os; os.write(3, b'junk')", "bad_result", "channel was misused"),
    ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "crashed", "SIGKILL"),
    ("import ctypes; ctypes.string_at(0)", "crashed", "SIGSEGV"),
    ("import sys; answer = 5; sys.exit(3)", "ok", None),
    ("import sys; sys.exit('why')", "error", "SystemExit: why"),
    ("import sys; sys.exit()", "no_result", "was not set"),
    ("answer = 'x' * 2_000_000", "result_too_big", "limit is"),
]
"""Code, the status of its run, and what is said of it."""


def test_how_a_run_ends(sandbox: Sandbox) -> None:
    for code, status, error in ENDS:
        result = run(sandbox, code)
        assert result.status == status, (code, result.error)
        assert (result.error is None) if error is None else (error in (result.error or "")), code
        assert result.answer is None or status == "ok"
        assert result.isolation in LABELS.values()


def test_over_a_limit(sandbox: Sandbox) -> None:
    assert run(sandbox, "while True: pass", wall=0.3).status == "timeout"
    assert run(sandbox, "while True: pass", cpu=1).status == "timeout"
    assert run(sandbox, "while True: print('x' * 10_000)", output=1000).status == "output_limit"
    assert (
        run(sandbox, "open('f', 'wb').write(bytes(200_000))", file_size=100_000).status
        == "disk_limit"
    )
    code = "for i in range(60):\n open(f'f{i}', 'wb').write(bytes(1 << 20))"
    assert run(sandbox, code + "\nwhile True: pass", disk=8 * MEGA).status == "disk_limit"


def test_memory_is_that_of_the_whole_tree(sandbox: Sandbox) -> None:
    code = """
import os, time
for _ in range(6):
    if os.fork() == 0:
        x = bytearray(b"x") * (40 << 20)
        time.sleep(600)
time.sleep(600)
"""
    assert run(sandbox, code, memory=128 * MEGA).status == "oom"


def test_what_goes_in_and_out(sandbox: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("a,b\n1,2\n")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "more.txt").write_text("more")
    code = """
import os, sys
print("out")
print("err", file=sys.stderr)
text = open("data.csv").read() + open("in/more.txt").read()
open("data.csv", "w").write("changed")
answer = [text, sorted(os.listdir()), os.getcwd() == os.environ["HOME"], "SECRET" in os.environ]
"""
    os.environ["SECRET"] = "s"
    try:
        result = run(sandbox, code, tmp_path)
    finally:
        del os.environ["SECRET"]
    assert result.answer == ["a,b\n1,2\nmore", ["data.csv", "in"], True, False]
    assert (result.stdout, result.stderr) == ("out\n", "err\n")
    assert (tmp_path / "data.csv").read_text() == "a,b\n1,2\n"


def test_output_before_the_end_is_kept(sandbox: Sandbox) -> None:
    code = "print('early', flush=True)\nwhile True: pass"
    assert run(sandbox, code, wall=0.5).stdout == "early\n"


def test_text_that_is_none_is_replaced(sandbox: Sandbox) -> None:
    result = run(sandbox, "import os; os.write(1, b'\\xff\\xed\\xa0\\x80a\\0'); answer = 1")
    assert result.stdout.endswith("a\0")
    result.stdout.encode("utf-8")


def test_descendants_end_with_the_run(sandbox: Sandbox) -> None:
    code = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 64)
        time.sleep(600)
    os._exit(0)
answer = 1
"""
    sandbox.level()
    before = set(below(os.getpid())) - sandbox.servers()
    assert run(sandbox, code).answer == 1
    wait_for(lambda: set(below(os.getpid())) - sandbox.servers() <= before)


ORDINARY = [
    "import asyncio\nasync def f(): return 7\nanswer = asyncio.run(f())",
    "import subprocess, sys\nanswer = int(subprocess.check_output([sys.executable, '-c', 'print(7)']))",
    "import sqlite3\nanswer = sqlite3.connect(':memory:').execute('select 7').fetchone()[0]",
    "import zoneinfo, datetime\nanswer = 7 if zoneinfo.ZoneInfo('UTC') else 0",
    "import tempfile\nwith tempfile.TemporaryFile() as f: answer = 7",
    "from dataclasses import dataclass\n@dataclass\nclass A:\n a: int = 7\nanswer = A().a",
    "import random, hashlib, decimal, json, re, statistics, itertools, collections\nanswer = 7",
    "import multiprocessing as m\ndef f(x): return x\nif __name__ == '__main__':\n with m.get_context('fork').Pool(2) as p: answer = max(p.map(f, [5, 7]))",
]


def test_ordinary_code_works(best: Sandbox) -> None:
    for code in ORDINARY:
        result = run(best, code)
        assert (result.status, result.answer, result.error) == ("ok", 7, None), result.stderr
