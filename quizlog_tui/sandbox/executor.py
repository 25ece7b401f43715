"""The executor: chooses the isolation level, keeps a box ready, and runs code in it.

A new box is tested from inside before it runs untrusted code; one that leaks is not used. `advice`
says what this machine offers, and how to improve it.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import importlib.util
import socket
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from threading import Event, Lock

from ..files.process import find_program
from ..files.scratch import scratch_folder
from .box import ENVIRONMENT, ISOLATED, LABELS, LACKS, PRELOAD, Box, BoxError
from .inside.wire import Level
from .result import ExecResult, SandboxLimits
from .run import SandboxRun, WorkspaceError

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


def _faults(box: Box) -> str:
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


_AT_ONCE = 8
"""Maximum number of concurrent runs; the waiting time of others does not count as theirs."""


class _IsolationRefusal(Exception):
    """The machine cannot isolate what it is asked to run."""


class Sandbox:
    """Runs code, each run in a separate sandbox. Thread-safe; must be closed.

    Args:
        preload: Modules to load in advance, in a box that is kept for further runs.
        order: The isolation levels to try, best first.
    """

    def __init__(
        self,
        preload: Sequence[str] = PRELOAD,
        order: Sequence[Level] = ("bwrap", "landlock", "rlimits"),
    ) -> None:
        self._preload, self._order = list(preload), list(order)
        self._threads = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="quizlog-run")
        self._lock = Lock()
        self._box: Box | None = None
        self._tested: set[Level] = set()
        self.failures: dict[Level, str] = {}
        """Why better isolation levels are not available, in the system's words."""

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the box and all runs in it."""
        self._threads.shutdown(wait=True, cancel_futures=True)
        with self._lock:
            if self._box:
                self._box.close()
                self._box = None

    def warm(self) -> None:
        """Start a box in the background, so that the first run need not wait for it."""
        self._threads.submit(self._refill)

    async def run_code(
        self,
        code: str,
        workspace: Path | None,
        limits: SandboxLimits,
        *,
        unsafe_local: bool = False,
    ) -> ExecResult:
        """As `quizlog_tui.sandbox.run_code`; cancelling the call ends the run."""
        stop = Event()
        loop = asyncio.get_running_loop()
        run = partial(self.run, code, workspace, limits, unsafe_local=unsafe_local, stop=stop)
        try:
            return await loop.run_in_executor(self._threads, run)
        except asyncio.CancelledError:
            stop.set()
            raise

    def run(
        self,
        code: str,
        workspace: Path | None,
        limits: SandboxLimits,
        *,
        unsafe_local: bool = False,
        stop: Event | None = None,
    ) -> ExecResult:
        """The same for callers without an event loop; setting `stop` ends the run."""

        def attempt() -> ExecResult:
            run = SandboxRun(self._take(unsafe_local), limits, stop or Event())
            run.start(code, workspace)
            return run.result()

        try:
            with contextlib.suppress(BoxError):
                return attempt()
            # The box had died before the code ran: try another box.
            return attempt()
        except _IsolationRefusal as refused:
            return _not_run(f"refused: {refused}")
        except (BoxError, WorkspaceError) as error:
            return _not_run(str(error))

    def _take(self, unsafe_local: bool) -> Box:
        """A box for one run."""
        with self._lock:
            box = self._current()
            if box.level not in ISOLATED and not unsafe_local:
                raise _IsolationRefusal(
                    "this machine can isolate neither files nor network from the code "
                    f"({self.why()}); `quizlog doctor` shows more, --unsafe-local runs it anyway"
                )
            if not box.reusable:
                self._box = None
                if self._preload:
                    self.warm()
            return box

    def _refill(self) -> None:
        with self._lock, contextlib.suppress(BoxError):
            self._current()

    def _current(self) -> Box:
        """The box to use, a new one if there is none or it died. Requires the lock."""
        if self._box and not self._box.alive():
            self._box.close()
            self._box = None
        if self._box is None:
            self._box = self._start()
        return self._box

    def _start(self) -> Box:
        for level in self._order:
            if level in self.failures:
                continue
            try:
                return self._tested_box(level)
            except BoxError as error:
                self.failures[level] = str(error)
        raise BoxError(f"no box can be started: {self.why()}")

    def _tested_box(self, level: Level) -> Box:
        """A new box whose isolation was tested from inside, unless the level has none."""
        box = Box(level, self._preload)
        if level not in ISOLATED or level in self._tested:
            return box
        with contextlib.ExitStack() as unless_good:
            unless_good.callback(box.close)
            if wrong := _faults(box):
                raise BoxError(f"its self-test failed: {wrong}")
            self._tested.add(level)
            if box.reusable:
                unless_good.pop_all()
                return box
        return Box(level, self._preload)

    def level(self) -> Level | None:
        """The isolation level in use, after starting a box if necessary; None if there is none."""
        with contextlib.suppress(BoxError), self._lock:
            return self._current().level
        return None

    def servers(self) -> set[int]:
        """The ids of the box's own processes."""
        box = self._box
        return box.processes if box else set()

    def why(self) -> str:
        """Why no better isolation level is available, in one line."""
        return "; ".join(f"{level}: {why}" for level, why in self.failures.items())


def _not_run(why: str) -> ExecResult:
    return ExecResult("sandbox_error", None, "", "", why, 0.0, "none")


@cache
def shared() -> Sandbox:
    """The executor of this process, started at first use and ended with the process."""
    sandbox = Sandbox()
    atexit.register(sandbox.close)
    return sandbox


_INSTALL = "install bubblewrap, for example with `apt install bubblewrap`"
_APPARMOR = (
    "load the AppArmor profile bwrap-userns-restrict, which comes with apparmor-profiles; "
    "do not switch the restriction off for all programs"
)


@dataclass(frozen=True)
class _Advice:
    """The isolation of this machine, and what to do."""

    level: Level | None
    """The isolation that model-written code gets; None when it is refused."""
    says: str
    ready: tuple[str, ...]
    """Libraries that are preloaded for runs."""
    missing: tuple[str, ...]
    """Libraries to preload that are not installed."""


def advice() -> _Advice:
    """Find out by starting a box."""
    with Sandbox(preload=(), order=ISOLATED) as sandbox:
        level = sandbox.level()
        why = sandbox.failures
    ready = tuple(name for name in PRELOAD if importlib.util.find_spec(name))
    if level is None:
        says = f"model-written code is refused ({sandbox.why()})"
    else:
        says = LABELS[level] + (f": {LACKS[level]}" if LACKS[level] else "")
    remedy = _remedy(why)
    missing = tuple(name for name in PRELOAD if name not in ready)
    return _Advice(level, f"{says}; {remedy}" if remedy else says, ready, missing)


def _remedy(why: dict[Level, str]) -> str:
    if sys.platform != "linux":
        return "use Linux, for example in a virtual machine"
    said = why.get("bwrap")
    if said is None:
        return ""
    if find_program("bwrap") is None:
        return _INSTALL
    if "RTM_NEWADDR" in said or "uid map" in said or "Permission denied" in said:
        return f"bwrap: {said}; {_APPARMOR}"
    return f"bwrap: {said}"
