"""The executor: chooses the isolation level, keeps a box ready, and runs code in it."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from threading import Event, Lock

from . import levels, selftest
from .box import Box, BoxError
from .inside.setup import Level
from .result import ExecResult, SandboxLimits
from .run import SandboxRun
from .workspace import WorkspaceError

AT_ONCE = 8
"""Maximum number of concurrent runs; the waiting time of others does not count as theirs."""


class IsolationRefusal(Exception):
    """The machine cannot isolate what it is asked to run."""


class Sandbox:
    """Runs code, each run in a separate sandbox. Thread-safe; must be closed.

    Args:
        preload: Modules to load in advance, in a box that is kept for further runs.
        order: The isolation levels to try, best first.
    """

    def __init__(
        self,
        preload: Sequence[str] = levels.PRELOAD,
        order: Sequence[Level] = ("bwrap", "landlock", "rlimits"),
    ) -> None:
        self._preload, self._order = list(preload), list(order)
        self._threads = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="quizlog-run")
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
        try:
            return await loop.run_in_executor(
                self._threads, lambda: self._run(code, workspace, limits, unsafe_local, stop)
            )
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
    ) -> ExecResult:
        """The same for callers without an event loop."""
        return self._run(code, workspace, limits, unsafe_local, Event())

    def _run(
        self,
        code: str,
        workspace: Path | None,
        limits: SandboxLimits,
        unsafe_local: bool,
        stop: Event,
    ) -> ExecResult:
        try:
            with contextlib.suppress(BoxError):
                return self._try(code, workspace, limits, unsafe_local, stop)
            # The box had died before the code ran: try another box.
            return self._try(code, workspace, limits, unsafe_local, stop)
        except IsolationRefusal as refused:
            return _not_run(f"refused: {refused}")
        except (BoxError, WorkspaceError) as error:
            return _not_run(str(error))

    def _try(
        self,
        code: str,
        workspace: Path | None,
        limits: SandboxLimits,
        unsafe_local: bool,
        stop: Event,
    ) -> ExecResult:
        run = SandboxRun(self._take(unsafe_local), limits, stop)
        run.start(code, workspace)
        return run.result()

    def _take(self, unsafe_local: bool) -> Box:
        """A box for one run."""
        with self._lock:
            box = self._current()
            if box.level not in levels.ISOLATED and not unsafe_local:
                raise IsolationRefusal(
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
        if level not in levels.ISOLATED or level in self._tested:
            return box
        with contextlib.ExitStack() as unless_good:
            unless_good.callback(box.close)
            if wrong := selftest.wrong(box):
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
