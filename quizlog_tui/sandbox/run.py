"""One run as the parent sees it: hands it over, watches, ends it, and says what came of it.

Everything that decides is here and outside of the box. What comes out of the box is bounded while
it is read and parsed as hostile data.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import socket
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Event

from . import watch
from .box import Box, BoxError
from .frame import HEAD, Claim, parse
from .inside import wire
from .inside.setup import RunSetup
from .result import ExecResult, Limits, Status
from .workspace import PrivateFolder, WorkspaceError, files

_TICK = 0.02
"""Seconds between two looks at what the run uses."""
_SETTLE = 60.0
"""Seconds the box may take before the code starts, on a machine that is busy with others."""
_END = 10.0
"""Seconds everything may take to be gone once it was killed."""
_FLOOD = 64
"""A run that writes this many times more than is kept is ended."""
_ROOM_FOR_LIBRARIES = 3 << 29
"""Address space beyond the memory limit: libraries reserve much that they never touch."""
_LEAST_FRAME = 8192
_BATCH = 16


@dataclass(frozen=True)
class _Verdict:
    status: Status
    error: str


class Run:
    """A run, from its start in a box to its result.

    Args:
        box: Where.
        limits: Its bounds.
        stop: Set by somebody else to end it early.

    Raises:
        BoxError: The box could not start it.
    """

    def __init__(self, box: Box, limits: Limits, stop: Event) -> None:
        self._box, self._limits, self._stop = box, limits, stop
        self._kept = {"answer": bytearray(), "stdout": bytearray(), "stderr": bytearray()}
        self._counts = dict.fromkeys(self._kept, 0)
        self._verdict: _Verdict | None = None
        self._exit: int | None = None
        self._private = None if box.level == "bwrap" else PrivateFolder(box.owner)
        self._job, far = socket.socketpair()
        self._job.settimeout(_SETTLE)
        if hasattr(socket, "SO_PASSCRED"):
            self._job.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        ends = {name: os.pipe() for name in self._kept}
        self._pipes = {name: near for name, (near, _) in ends.items()}
        try:
            box.ask(far, [end for _, end in ends.values()], limits.disk)
        except BoxError:
            self._release()
            raise
        finally:
            far.close()
            for _, end in ends.values():
                os.close(end)
        self._keeper: int | None = None
        self._keeper_fd: int | None = None

    def result(self, code: str, workspace: Path | None) -> ExecResult:
        """Run the code to its end."""
        started = time.monotonic()
        try:
            self._expect("up")
            self._hand_over(code, workspace)
            self._expect("running")
            started = time.monotonic()
            self._follow(started + self._limits.wall)
        except (OSError, BoxError, WorkspaceError) as error:
            self._verdict = _Verdict("sandbox_error", str(error) or type(error).__name__)
        finally:
            seconds = time.monotonic() - started
            self._end()
        return self._told(seconds)

    def _expect(self, what: str) -> None:
        message = wire.receive(self._job)
        if message is None:
            raise BoxError("the run's place could not be made")
        if what not in message.data:
            raise BoxError(f"the run could not be started: {message.data.get('failed', '')}")
        if what == "up" and message.pid and hasattr(os, "pidfd_open"):
            self._keeper = message.pid
            self._keeper_fd = os.pidfd_open(message.pid)

    def _hand_over(self, code: str, workspace: Path | None) -> None:
        limits = self._limits
        task = self._private.task if self._private else "/task"
        batch = []
        for given in files(workspace, limits.disk) if workspace else ():
            batch.append(given)
            if len(batch) == _BATCH:
                self._give(task, batch)
        self._give(task, batch)
        setup = RunSetup(
            folder=task,
            temporary=self._private.temporary if self._private else "/tmp",
            cpu=max(1, round(limits.cpu)),
            address_space=limits.memory + _ROOM_FOR_LIBRARIES,
            processes=limits.processes,
            file_size=min(limits.file_size, limits.disk),
            answer=limits.answer,
        )
        wire.send(self._job, {"run": asdict(setup), "code": code})

    def _give(self, folder: str, batch: list[tuple[str, int]]) -> None:
        if batch:
            names = [f"{folder}/{name}" for name, _ in batch]
            wire.send(self._job, {"files": names}, [fd for _, fd in batch])
        for _, fd in batch:
            os.close(fd)
        batch.clear()

    def _follow(self, deadline: float) -> None:
        """Read and watch until the child has ended or went over a limit."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._job, selectors.EVENT_READ, "job")
            for name, fd in self._pipes.items():
                os.set_blocking(fd, False)
                selector.register(fd, selectors.EVENT_READ, name)
            looked = 0.0
            while self._exit is None and self._verdict is None:
                now = time.monotonic()
                if now >= deadline:
                    self._verdict = _Verdict("timeout", f"over {self._limits.wall:g} s")
                elif self._stop.is_set():
                    self._verdict = _Verdict("sandbox_error", "stopped")
                elif now - looked >= _TICK:
                    looked = now
                    self._verdict = self._over_a_limit()
                for key, _ in selector.select(min(_TICK, max(0.0, deadline - now))):
                    if key.data == "job":
                        self._hear()
                    elif not self._read(key.data):
                        selector.unregister(key.fd)

    def _hear(self) -> None:
        message = wire.receive(self._job)
        if message is None:
            raise BoxError("the keeper of the run died")
        if "failed" in message.data:
            raise BoxError(f"the keeper of the run failed: {message.data['failed']}")
        self._exit = message.data["ended"]

    def _read(self, name: str) -> bool:
        """Take in what a pipe holds; whether more can come."""
        try:
            part = os.read(self._pipes[name], 1 << 16)
        except BlockingIOError:
            return True
        kept, most = self._kept[name], self._most(name)
        kept += part[: max(0, most - len(kept))]
        self._counts[name] += len(part)
        if self._counts[name] > most and name == "answer":
            self._verdict = self._verdict or _Verdict("result_too_big", "the answer is too big")
        elif self._counts[name] > _FLOOD * most:
            said = f"more than {_FLOOD * most} bytes on {name}"
            self._verdict = self._verdict or _Verdict("output_limit", said)
        return bool(part)

    def _most(self, name: str) -> int:
        if name == "answer":
            return HEAD + max(self._limits.answer, _LEAST_FRAME)
        return self._limits.output

    def _over_a_limit(self) -> _Verdict | None:
        if self._keeper is None:
            return None
        limits = self._limits
        pids = watch.tree(self._keeper)
        used = watch.usage(pids)
        disk = self._disk()
        if disk > limits.disk:
            return _Verdict("disk_limit", f"over {limits.disk} bytes on disk")
        in_memory = 0 if self._private else disk
        if used.resident + in_memory > limits.memory:
            held = watch.shares(pids) + in_memory
            if held > limits.memory:
                return _Verdict("oom", f"over {limits.memory} bytes of memory")
        if used.cpu > limits.cpu:
            return _Verdict("timeout", f"over {limits.cpu:g} s of processor time")
        if used.processes > limits.processes + 2:
            return _Verdict("crashed", f"over {limits.processes} processes")
        return None

    def _disk(self) -> int:
        if self._private:
            return watch.below(self._private.path, self._limits.disk + 1)
        root = f"/proc/{self._keeper}/root"
        return watch.written([f"{root}/task", f"{root}/tmp", f"{root}/dev/shm"])

    def _end(self) -> None:
        """End all that the run started, and wait until it is gone."""
        box = self._box
        if box.divisible and self._keeper_fd is not None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._keeper_fd, signal.SIGKILL)
        self._job.close()
        if (box.divisible or box.level != "bwrap") and not self._gone():
            box.close()
        if not box.reusable:
            box.close()
        self._drain()
        self._release()

    def _gone(self) -> bool:
        if self._keeper_fd is None:
            return False
        with selectors.DefaultSelector() as selector:
            selector.register(self._keeper_fd, selectors.EVENT_READ)
            return bool(selector.select(_END))

    def _drain(self) -> None:
        """What was still in the pipes; nobody writes to them any more."""
        for name, fd in self._pipes.items():
            os.set_blocking(fd, False)
            while self._verdict is None or self._counts[name] <= self._most(name):
                try:
                    part = os.read(fd, 1 << 16)
                except BlockingIOError:
                    break
                if not part:
                    break
                self._kept[name] += part[: max(0, self._most(name) - len(self._kept[name]))]
                self._counts[name] += len(part)

    def _release(self) -> None:
        self._job.close()
        for fd in (*self._pipes.values(), getattr(self, "_keeper_fd", None)):
            if fd is not None:
                os.close(fd)
        if self._private:
            self._private.close()

    def _told(self, seconds: float) -> ExecResult:
        claim = self._claim()
        return ExecResult(
            status=claim.status,
            answer=claim.answer,
            stdout=self._kept["stdout"].decode("utf-8", "replace"),
            stderr=self._kept["stderr"].decode("utf-8", "replace"),
            error=claim.error,
            seconds=seconds,
            isolation=self._box.label,
        )

    def _claim(self) -> Claim:
        if self._verdict:
            return Claim(self._verdict.status, error=self._verdict.error)
        if self._counts["answer"] > len(self._kept["answer"]):
            return Claim("result_too_big", error="the answer is too big")
        code = self._exit or 0
        if code == -signal.SIGXCPU:
            return Claim("timeout", error=f"over {self._limits.cpu:g} s of processor time")
        if code < 0:
            return Claim("crashed", error=f"ended by {_signal_name(-code)}")
        if code > 0 and not self._kept["answer"]:
            return Claim("no_result", error=f"the run ended itself with exit code {code}")
        return parse(bytes(self._kept["answer"]))


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
