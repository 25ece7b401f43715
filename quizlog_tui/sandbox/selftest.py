"""Tests a new box from inside before it runs untrusted code; one that leaks is not used."""

from __future__ import annotations

import contextlib
import socket
from threading import Event

from ..files.scratch import scratch_folder
from .box import Box
from .levels import ENVIRONMENT
from .result import SandboxLimits
from .run import SandboxRun

_NAMES = {*ENVIRONMENT, "HOME", "TMPDIR", "PWD", "LC_CTYPE"}
_PROBE = """
import ctypes, os, socket
libc = ctypes.CDLL(None)
header = (ctypes.c_uint32 * 2)(0x20080522, 0)
caps = (ctypes.c_uint32 * 6)()
libc.capget(header, caps)
answer = []
if libc.prctl(39, 0, 0, 0, 0) != 1 or libc.prctl(21, 0, 0, 0, 0) != 2:
    answer.append("system calls are not filtered")
if any(caps[i] for i in (0, 1, 3, 4)) or os.getuid() == 0:
    answer.append("it has privileges")
try:
    open({secret!r})
    answer.append("files of this machine can be read")
except OSError:
    pass
try:
    socket.create_connection({address!r}, 2)
    answer.append("the network can be reached")
except OSError:
    pass
if not set(os.environ) <= {names!r}:
    answer.append("it sees the environment")
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        import time
        time.sleep(600)
    os._exit(0)
"""


def wrong(box: Box) -> str:
    """The faults of a box's isolation, in one line; empty if it has none."""
    with contextlib.ExitStack() as stack:
        secret = stack.enter_context(scratch_folder("selftest")) / "secret"
        secret.write_text("secret", encoding="ascii")
        for path in (secret.parent, secret):
            path.chmod(0o755)
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        code = _PROBE.format(secret=str(secret), address=listener.getsockname(), names=_NAMES)
        run = SandboxRun(box, SandboxLimits(wall=30), Event())
        run.start(code, None)
        result = run.result()
    if result.status != "ok":
        return f"{result.status}: {result.error}"
    found = [str(item) for item in result.answer]
    if box.reusable and not box.idle():
        found.append("what a run starts outlives it")
    return ", ".join(found)
