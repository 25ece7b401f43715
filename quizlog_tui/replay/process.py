"""One quiz process: started, fed with answers, listened to, and ended with all it started.

Speaks the wire's messages and counts the limits. Knows nothing of transcripts, records or caches.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ..errors import CancelledError, LimitError
from .channel import Channel
from .limits import Limits
from .source import Source

_BOOT = """import sys; sys.path.insert(0, {folder!r}); import worker.boot
worker.boot.main({control}, {guarded})"""
_WATCH_MILLISECONDS = 50


class QuizProcess:
    """A script that is running, or waiting inside a question.

    Args:
        source: The script; exactly these bytes run.
        seed: Seed of its randomness.
        limits: What it may use.
    """

    def __init__(self, source: Source, seed: int, limits: Limits) -> None:
        self._limits = limits
        self._name = source.path.name
        self._out, self._err = _capture("stdout"), _capture("stderr")
        self._told = (0, 0)
        self._cancelled = False
        self.exit_status: int | None = None
        control, inner = socket.socketpair()
        self._guard, guarded = socket.socketpair()
        with inner, guarded:
            self._popen = _spawn(source, seed, inner, guarded, self._out, self._err)
        self._channel = Channel(control)
        self._poll = select.poll()
        self._poll.register(control, select.POLLIN)
        self._poll.register(self._guard, select.POLLIN)
        script = os.fsencode(source.path)
        job = (script, os.fsencode(self._name), str(seed), str(limits.memory), source.data)
        with contextlib.suppress(OSError):
            self._channel.send(part.encode() if isinstance(part, str) else part for part in job)

    @property
    def alive(self) -> bool:
        """Whether it can still be given answers."""
        return self.exit_status is None

    def answer(self, answers: Iterable[str]) -> None:
        """Give one or more answers; the stops they lead to arrive through `messages`."""
        with contextlib.suppress(OSError):
            self._channel.send(answer.encode("utf-8", "surrogatepass") for answer in answers)

    def messages(self) -> Iterator[Any]:
        """What the script tells, up to where it asks; or to its end, after which it is not alive.

        Raises:
            LimitError: It went over a limit and was ended.
            CancelledError: `cancel` was called, and it was ended.
        """
        deadline = self._deadline()
        while True:
            message = self._channel.pending() or self._next(deadline)
            if message is None:
                return
            self._check_output(message)
            yield message
            if message[0] == "asking":
                return
            deadline = self._deadline()

    def _deadline(self) -> float:
        seconds = self._limits.seconds
        return time.monotonic() + seconds if seconds else float("inf")

    def _next(self, deadline: float) -> Any | None:
        """The next message, or None when the process has ended."""
        control = self._channel.sock.fileno()
        while True:
            ready = {fd for fd, _ in self._poll.poll(_WATCH_MILLISECONDS)}
            if control in ready:
                try:
                    message = self._channel.receive()
                except (EOFError, OSError):
                    self._poll.unregister(control)
                    message = None
                if message is not None:
                    return message
            elif ready:
                self._ended()
                return None
            self._check_output(None)
            if self._cancelled:
                self.close()
                raise CancelledError("stopped before the next question", where=self._name)
            if time.monotonic() > deadline:
                self.close()
                hint = "look for an endless loop, or raise the limit"
                message = f"ran {self._limits.seconds:g} seconds without asking or ending"
                raise LimitError(message, where=self._name, hint=hint)

    def _ended(self) -> None:
        """Take the exit status the guard reports; without a report the guard itself was killed."""
        report = b""
        with contextlib.suppress(OSError):
            report = self._guard.recv(64)
        status = int(report) if report else 9
        self.close()
        self.exit_status = os.waitstatus_to_exitcode(status)

    def _check_output(self, message: Any) -> None:
        """Stop a script that floods; the bound is for each step."""
        size = os.fstat(self._out).st_size, os.fstat(self._err).st_size
        limit = self._limits.output
        if limit and message is None and sum(size) - sum(self._told) > limit:
            self._flooded()
        if message is not None and message[1]:
            before = self._told
            for step in message[1]:
                if limit and step[3] + step[4] - sum(before) > limit:
                    self._flooded()
                before = step[3], step[4]
            self._told = before

    def _flooded(self) -> None:
        self.close()
        hint = "look for an endless loop, or raise the limit"
        message = f"wrote more than {self._limits.output / 2**20:g} MB without asking"
        raise LimitError(message, where=self._name, hint=hint)

    def cancel(self) -> None:
        """Make a `messages` that another thread is in give up soon."""
        self._cancelled = True

    def stdout(self, start: int, end: int | None = None) -> bytes:
        """Bytes of stdout between two positions."""
        return _read(self._out, start, end)

    def stderr(self, start: int, end: int | None = None) -> bytes:
        """Bytes of stderr between two positions."""
        return _read(self._err, start, end)

    def close(self) -> None:
        """End the script and everything it started; returns when all of it is gone."""
        if self.exit_status is None:
            self.exit_status = -9
            self._channel.close()
            self._guard.shutdown(socket.SHUT_WR)
            self._popen.wait()
            self._guard.close()

    def release(self) -> None:
        """Close, and give back what was captured."""
        self.close()
        for fd in (self._out, self._err):
            if fd >= 0:
                os.close(fd)
        self._out = self._err = -1


def _capture(name: str) -> int:
    """A file without a name that takes a stream, so that a position in it is a moment in time."""
    if hasattr(os, "memfd_create"):
        fd = os.memfd_create(f"quizlog-{name}", os.MFD_CLOEXEC)
    else:
        with tempfile.TemporaryFile() as file:
            fd = os.dup(file.fileno())
    import fcntl

    fcntl.fcntl(fd, fcntl.F_SETFL, fcntl.fcntl(fd, fcntl.F_GETFL) | os.O_APPEND)
    return fd


def _read(fd: int, start: int, end: int | None) -> bytes:
    size = (os.fstat(fd).st_size if end is None else end) - start
    parts = []
    while size > 0 and (part := os.pread(fd, min(size, 1 << 26), start)):
        parts.append(part)
        start, size = start + len(part), size - len(part)
    return b"".join(parts)


def _spawn(
    source: Source,
    seed: int,
    control: socket.socket,
    guarded: socket.socket,
    out: int,
    err: int,
) -> subprocess.Popen[bytes]:
    fds = control.fileno(), guarded.fileno()
    boot = _BOOT.format(folder=str(Path(__file__).parent), control=fds[0], guarded=fds[1])
    return subprocess.Popen(
        [sys.executable, "-c", boot],
        stdin=subprocess.DEVNULL,
        stdout=out,
        stderr=err,
        cwd=source.path.parent,
        env=os.environ | {"PYTHONHASHSEED": str(seed % 2**32)},
        pass_fds=fds,
        start_new_session=True,
    )
