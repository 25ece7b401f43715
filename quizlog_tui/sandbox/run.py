"""The parent's side of a run: hands it over, watches it, ends it, and makes the result.

All decisions are made here, outside of the box. Files are passed as open descriptors and copied, so
that the run may change its copy; only regular files are, no links, pipes and devices. Data from the
box is limited as it is read, and parsed as hostile: of the frame with the answer, any bytes give
either an answer or a reason. A frame is four bytes of length (big-endian), then exactly that many
bytes of UTF-8 JSON, one object with known keys, and nothing after it.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import socket
import stat
import struct
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple

from ..files.scratch import Scratch
from . import usage
from .box import Box, BoxError
from .inside import wire
from .inside.code import DEEPEST
from .inside.wire import RunSetup
from .result import ExecResult, SandboxLimits, Status

_MOST_FILES = 5000
_OPEN = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


class WorkspaceError(Exception):
    """The workspace cannot be passed to a run."""


class _Given(NamedTuple):
    """A file for a run."""

    name: str
    """The path relative to the workspace, with slashes."""
    fd: int
    """A descriptor open for reading; the receiver closes it."""


def files(workspace: Path, most: int) -> Iterator[_Given]:
    """The regular files of a workspace, in a fixed order, with at most `most` bytes together.

    Raises:
        WorkspaceError: It is not a readable folder, or is too big.
    """
    total, count = 0, 0
    for name in _names(workspace):
        try:
            fd = os.open(workspace / name, _OPEN)
        except OSError:
            continue
        about = os.fstat(fd)
        if not stat.S_ISREG(about.st_mode):
            os.close(fd)
            continue
        total, count = total + about.st_size, count + 1
        if total > most or count > _MOST_FILES:
            os.close(fd)
            raise WorkspaceError(f"workspace: more than {most} bytes or {_MOST_FILES} files")
        yield _Given(name, fd)


def _names(workspace: Path) -> Iterator[str]:
    def refuse(error: OSError) -> None:
        if error.filename == str(workspace):
            raise WorkspaceError(f"workspace: {error.strerror}: {workspace}") from None

    for folder, folders, names in os.walk(workspace, onerror=refuse):
        folders.sort()
        for name in sorted(names):
            yield Path(folder, name).relative_to(workspace).as_posix()


RUN = "run"
"""The kind of a run's temporary folder, which is part of its name."""


class PrivateFolder:
    """A private folder of a run on the machine's disk, removed with any content when closed.

    Args:
        owner: The user id that should own it, if root makes it for another user.
    """

    def __init__(self, owner: int | None) -> None:
        self._scratch = Scratch(RUN)
        self.path = str(self._scratch.path)
        self.task = os.path.join(self.path, "task")
        self.temporary = os.path.join(self.path, "tmp")
        for folder in (self.task, self.temporary):
            os.mkdir(folder, 0o700)
        if owner is not None:
            os.chmod(self.path, 0o711)
            for folder in (self.task, self.temporary):
                os.chown(folder, owner, owner)

    def close(self) -> None:
        """Remove it.

        Raises:
            OSError: Some of it cannot be removed.
        """
        self._scratch.close()


_HEAD = 4
_ADMITTED: dict[str, Status] = {
    "error": "error",
    "oom": "oom",
    "disk_limit": "disk_limit",
    "no_result": "no_result",
    "result_too_big": "result_too_big",
}
"""Ways in which a run reports failure."""


@dataclass(frozen=True)
class _Claim:
    """A run's own report."""

    status: Status
    answer: Any = None
    error: str | None = None


class _Refused(ValueError):
    """The frame has the wrong format."""


def parse(data: bytes) -> _Claim:
    """The claim in a frame; `no_result` if there is none, `bad_result` if it is malformed."""
    if not data:
        return _Claim("no_result", error="the run ended before it left an answer")
    try:
        return _claim(_object(data))
    except (ValueError, RecursionError) as wrong:
        reason = str(wrong) if isinstance(wrong, _Refused) else "it is not the JSON it must be"
        return _Claim("bad_result", error=f"the answer's channel was misused: {reason}")


def _object(data: bytes) -> Any:
    if len(data) < _HEAD or struct.unpack(">I", data[:_HEAD])[0] != len(data) - _HEAD:
        raise _Refused("its length is not the one it names")
    return json.loads(
        data[_HEAD:].decode("utf-8"), object_pairs_hook=_unique, parse_constant=_no_constant
    )


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) != len(pairs):
        raise _Refused("a key appears twice")
    return mapping


def _no_constant(name: str) -> Any:
    raise _Refused(f"{name} is not a number")


def _claim(data: Any) -> _Claim:
    if not isinstance(data, dict):
        raise _Refused("it is not an object")
    if set(data) == {"answer"}:
        _check(data["answer"])
        return _Claim("ok", answer=data["answer"])
    kind, error = data.get("kind"), data.get("error")
    if set(data) != {"kind", "error"} or not isinstance(kind, str) or not isinstance(error, str):
        raise _Refused("it has other keys than it may have")
    if kind not in _ADMITTED:
        raise _Refused("it names no reason that a run may name")
    return _Claim(_ADMITTED[kind], error=error.encode("utf-8", "replace").decode())


def _check(answer: Any) -> None:
    """Refuse JSON that causes trouble later: great depth, infinities by overflow, surrogates."""
    level = [answer]
    for _ in range(DEEPEST + 1):
        level = [item for value in level for item in _items(value)]
        if not level:
            break
    else:
        raise _Refused("it is nested too deeply")
    json.dumps(answer, allow_nan=False, ensure_ascii=False).encode("utf-8")


def _items(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


NAMES = ("answer", "stdout", "stderr")
_FLOOD = 64
"""A run is ended if it writes more than this many times the output limit."""
_LEAST_FRAME = 8192
"""Bytes reserved for a frame with an error, even if the limit of an answer is smaller."""
_PART = 1 << 16


class Pipes:
    """The three pipes of a run. Must be closed."""

    def __init__(self, limits: SandboxLimits) -> None:
        self._most = dict.fromkeys(NAMES, limits.output)
        self._most["answer"] = _HEAD + max(limits.answer, _LEAST_FRAME)
        self._kept = {name: bytearray() for name in NAMES}
        self._counts = dict.fromkeys(NAMES, 0)
        ends = {name: os.pipe() for name in NAMES}
        self.near = {name: near for name, (near, _) in ends.items()}
        """The descriptors to read from, by name."""
        self.far = [far for _, far in ends.values()]
        """The descriptors for the run, in the order of the names."""
        for fd in self.near.values():
            os.set_blocking(fd, False)

    def give_away(self) -> None:
        """Close the far ends here, as the box has them now."""
        for fd in self.far:
            os.close(fd)
        self.far.clear()

    def close(self) -> None:
        """Close all open ends."""
        self.give_away()
        for fd in self.near.values():
            os.close(fd)
        self.near.clear()

    def read(self, name: str) -> bool:
        """Read the present content of a pipe; return whether more can come."""
        try:
            part = os.read(self.near[name], _PART)
        except BlockingIOError:
            return True
        kept = self._kept[name]
        kept += part[: max(0, self._most[name] - len(kept))]
        self._counts[name] += len(part)
        return bool(part)

    def drain(self) -> None:
        """Read what is left in the pipes after the run has ended."""
        for name in NAMES:
            # A pipe has little room: if there is more than fits, a process is still writing.
            for _ in range(64):
                before = self._counts[name]
                if not self.read(name) or self._counts[name] == before:
                    break

    def flooded(self) -> str | None:
        """The name of a stream with far too much output; None if there is none."""
        for name in ("stdout", "stderr"):
            if self._counts[name] > _FLOOD * self._most[name]:
                return name
        return None

    def answer_too_big(self) -> bool:
        """Whether the answer's pipe delivered more than an answer may have."""
        return self._counts["answer"] > self._most["answer"]

    def answer(self) -> bytes:
        """The bytes from the answer's pipe."""
        return bytes(self._kept["answer"])

    def text(self, name: str) -> str:
        """The kept text of stdout or stderr; bytes that are not UTF-8 are replaced."""
        return self._kept[name].decode("utf-8", "replace")


_TICK = 0.02
"""Seconds between two checks of what the run uses."""
_SETTLE = 60.0
"""Seconds that the box may take to start the code, on a busy machine."""
_END = 10.0
"""Seconds that killed processes may take to end."""
_ROOM_FOR_LIBRARIES = 3 << 29
"""Bytes of address space beyond the memory limit, as libraries reserve much that they never use."""
_BATCH = 16
_KEEPER = 2
"""Number of the run's processes that belong to the sandbox."""


class SandboxRun:
    """A run, from its start in a box to its result; setting `stop` from outside ends it early.

    Raises:
        BoxError: The box could not start it.
    """

    def __init__(self, box: Box, limits: SandboxLimits, stop: Event) -> None:
        self._box, self._limits, self._stop = box, limits, stop
        self._verdict: _Claim | None = None
        """Why the parent ended the run; it takes precedence over the run's own claim."""
        self._exit = 0
        self._keeper: int | None = None
        self._keeper_fd: int | None = None
        self._private = None if box.level == "bwrap" else PrivateFolder(box.owner)
        self._pipes = Pipes(limits)
        self._job, far = socket.socketpair()
        self._job.settimeout(_SETTLE)
        if hasattr(socket, "SO_PASSCRED"):
            self._job.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        try:
            box.ask(far, self._pipes.far, limits.disk)
        except BoxError:
            self._release()
            raise
        finally:
            far.close()
        self._pipes.give_away()

    def start(self, code: str, workspace: Path | None) -> None:
        """Start the code.

        Raises:
            BoxError: The code was not started.
            WorkspaceError: The workspace cannot be used.
        """
        started = False
        try:
            self._expect("up")
            self._hand_over(code, workspace)
            self._expect("running")
            started = True
        except OSError as error:
            raise BoxError(str(error) or type(error).__name__) from None
        finally:
            if not started:
                self._end()

    def result(self) -> ExecResult:
        """Follow the run to its end."""
        started = time.monotonic()
        try:
            self._follow(started + self._limits.wall)
        except (OSError, BoxError) as error:
            self._verdict = _Claim("sandbox_error", error=str(error) or type(error).__name__)
        finally:
            seconds = time.monotonic() - started
            self._end()
        claim = self._claim()
        return ExecResult(
            status=claim.status,
            answer=claim.answer,
            stdout=self._pipes.text("stdout"),
            stderr=self._pipes.text("stderr"),
            error=claim.error,
            seconds=seconds,
            isolation=self._box.label,
        )

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
        limits, private = self._limits, self._private
        task = private.task if private else "/task"
        batch: list[_Given] = []
        try:
            for given in files(workspace, limits.disk) if workspace else ():
                batch.append(given)
                if len(batch) == _BATCH:
                    self._give(task, batch)
            self._give(task, batch)
        finally:
            for given in batch:
                os.close(given.fd)
        setup = RunSetup(
            folder=task,
            temporary=private.temporary if private else "/tmp",
            cpu=max(1, round(limits.cpu)),
            address_space=limits.memory + _ROOM_FOR_LIBRARIES,
            processes=limits.processes,
            file_size=min(limits.file_size, limits.disk),
            answer=limits.answer,
        )
        wire.send(self._job, {"run": asdict(setup), "code": code})

    def _give(self, folder: str, batch: list[_Given]) -> None:
        if not batch:
            return
        names = [f"{folder}/{given.name}" for given in batch]
        wire.send(self._job, {"files": names}, [given.fd for given in batch])
        while batch:
            os.close(batch.pop().fd)

    def _follow(self, deadline: float) -> None:
        """Read and watch until the child has ended or exceeded a limit."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._job, selectors.EVENT_READ, "job")
            for name, fd in self._pipes.near.items():
                selector.register(fd, selectors.EVENT_READ, name)
            looked, ended = 0.0, False
            while not ended and self._verdict is None:
                now = time.monotonic()
                if now >= deadline:
                    self._verdict = _Claim("timeout", error=f"over {self._limits.wall:g} s")
                elif self._stop.is_set():
                    self._verdict = _Claim("sandbox_error", error="stopped")
                elif now - looked >= _TICK:
                    looked, self._verdict = now, self._over_a_limit()
                for key, _ in selector.select(min(_TICK, max(0.0, deadline - now))):
                    if key.data == "job":
                        ended = self._read_message()
                    elif not self._pipes.read(key.data):
                        selector.unregister(key.fd)
                self._verdict = self._verdict or self._flood()

    def _read_message(self) -> bool:
        """Read a message of the keeper; return whether the child has ended."""
        message = wire.receive(self._job)
        if message is None:
            raise BoxError("the keeper of the run died")
        if "failed" in message.data:
            raise BoxError(f"the keeper of the run failed: {message.data['failed']}")
        self._exit = message.data["ended"]
        return True

    def _flood(self) -> _Claim | None:
        name = self._pipes.flooded()
        if name:
            return _Claim("output_limit", error=f"too much on {name}")
        if self._pipes.answer_too_big():
            return _Claim("result_too_big", error="too much on the answer's channel")
        return None

    def _over_a_limit(self) -> _Claim | None:
        if self._keeper is None:
            return None
        limits, pids = self._limits, usage.tree(self._keeper)
        disk = self._disk(pids)
        if disk > limits.disk:
            return _Claim("disk_limit", error=f"over {limits.disk} bytes on disk")
        used = usage.usage(pids)
        in_memory = 0 if self._private else disk
        most = limits.memory - in_memory
        # The second sum counts shared memory once but is slow; the first one is never smaller.
        if used.resident > most and usage.shares(pids) > most:
            return _Claim("oom", error=f"over {limits.memory} bytes of memory")
        if used.cpu > limits.cpu:
            return _Claim("timeout", error=f"over {limits.cpu:g} s of processor time")
        if used.processes > limits.processes + _KEEPER:
            return _Claim("crashed", error=f"over {limits.processes} processes")
        return None

    def _disk(self, pids: list[int]) -> int:
        if self._private:
            named = usage.below(self._private.path, self._limits.disk + 1)
            return named + usage.unnamed(pids)
        root = f"/proc/{self._keeper}/root"
        return usage.written([f"{root}/task", f"{root}/tmp", f"{root}/dev/shm"])

    def _end(self) -> None:
        """Kill all processes of the run, and wait until they have ended."""
        box = self._box
        if box.divisible and self._keeper_fd is not None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._keeper_fd, signal.SIGKILL)
        self._job.close()
        # In a box that cannot be divided, all processes end with the box.
        gone = (box.divisible or box.level != "bwrap") and self._gone()
        if not gone or not box.reusable:
            box.close()
        self._pipes.drain()
        self._release()

    def _gone(self) -> bool:
        if self._keeper_fd is None:
            return False
        with selectors.DefaultSelector() as selector:
            selector.register(self._keeper_fd, selectors.EVENT_READ)
            return bool(selector.select(_END))

    def _release(self) -> None:
        self._job.close()
        self._pipes.close()
        if self._keeper_fd is not None:
            os.close(self._keeper_fd)
        if self._private:
            self._private.close()

    def _claim(self) -> _Claim:
        """The claim that counts: the parent's verdict, else the child's end, else its own claim."""
        if self._verdict:
            return self._verdict
        if self._pipes.answer_too_big():
            return _Claim("result_too_big", error="too much on the answer's channel")
        if self._exit == -signal.SIGXCPU:
            return _Claim("timeout", error=f"over {self._limits.cpu:g} s of processor time")
        if self._exit < 0:
            return _Claim("crashed", error=f"ended by {_signal_name(-self._exit)}")
        if self._exit > 0 and not self._pipes.answer():
            return _Claim("no_result", error=f"the code ended itself, with exit code {self._exit}")
        return parse(self._pipes.answer())


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
