"""A running interpreter that shuts itself in, and what its forks can still do."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from quizlog_tui.sandbox.box import INSIDE
from quizlog_tui.sandbox.inside import isolation

pytestmark = pytest.mark.skipif(
    isolation.landlock_version() < 1, reason="this kernel has no Landlock"
)

TRY = """
import os, socket, sys
sys.path.insert(0, {sandbox!r})
from inside.isolation import isolate
readable = ["/usr", "/lib", "/lib64", "/bin", "/proc", sys.prefix, sys.base_prefix]
assert isolate([{own!r}], readable, network={network!r}) in ("landlock", "landlock without signals")

def tried(do):
    try:
        do()
        return "done"
    except OSError as error:
        return type(error).__name__

def attempts():
    return [
        tried(lambda: open({secret!r})),
        tried(lambda: open({outside!r}, "w")),
        tried(lambda: os.listdir(os.path.dirname({secret!r}))),
        tried(lambda: open("/proc/{parent}/environ")),
        tried(lambda: socket.socket(40)),
        tried(lambda: socket.socket()),
        tried(lambda: socket.socket(socket.AF_UNIX)),
        tried(lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)),
        tried(lambda: socket.socketpair()),
        tried(lambda: open({own!r} + "/file", "w")),
        tried(lambda: os.listdir("/proc/self/fd")),
        tried(lambda: os.system("true")),
    ]

print(attempts(), flush=True)
if os.fork() == 0:
    print(attempts(), flush=True)
    os._exit(0)
os.wait()
"""


@pytest.mark.parametrize("network", ["real", "own", "none"])
def test_what_is_kept_away_and_what_is_not(tmp_path: Path, network: str) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "secret").write_text("s")
    code = TRY.format(
        sandbox=str(INSIDE.parent),
        own=str(tmp_path / "own"),
        secret=str(tmp_path / "secret"),
        outside=str(tmp_path / "outside"),
        parent=os.getpid(),
        network=network,
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd="/")
    assert not done.stderr
    first, copy = done.stdout.splitlines()
    assert first == copy
    socket = "OSError" if network == "none" else "done"
    refused = ["PermissionError"] * 4 + ["OSError"]
    assert eval(first) == [*refused, socket, "OSError", "PermissionError", *["done"] * 4]
    assert not (tmp_path / "outside").exists()


def test_it_imports_next_to_nothing() -> None:
    code = f"import sys; sys.path.insert(0, {str(INSIDE.parent)!r}); import inside.isolation; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True)
    assert not {"ctypes", "typing", "dataclasses", "json", "re"} & set(done.stdout.split())
