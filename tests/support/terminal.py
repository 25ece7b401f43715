"""A real pseudo-terminal with a program in it: what it writes, byte by byte, and keys to send."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Sequence
from pathlib import Path

from tests.support.processes import below

_GAP = 0.05
"""Seconds without output or work after which a program waits for keys: frames are 0.017 s apart."""
_ESCAPE_GAP = 0.2
"""The same after Escape, which is a key of its own if nothing follows it within 0.1 s."""
_IDLE_SHARE = 0.1
"""The share of its time that a program which waits may spend looking whether files changed."""


class Terminal:
    """Runs a command on a terminal of its own.

    Args:
        command: The program and its arguments.
        size: Columns and rows.
        cwd: Where it runs.
        env: Variables to set besides those of this process.
    """

    def __init__(
        self,
        command: Sequence[str],
        size: tuple[int, int] = (100, 30),
        cwd: Path | None = None,
        env: dict[str, str] | None = None,
    ) -> None:
        self.fd, inner = pty.openpty()
        self.resize(*size)
        self.before = termios.tcgetattr(inner)
        variables = {
            **os.environ,
            "TERM": "xterm-256color",
            "COLORTERM": "truecolor",
            **(env or {}),
        }
        self.started = time.perf_counter()
        self.process = subprocess.Popen(
            command,
            stdin=inner,
            stdout=inner,
            stderr=inner,
            cwd=cwd,
            env=variables,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # so that Ctrl-C is a signal
        )
        self._inner = inner
        self._gap = _ESCAPE_GAP
        self.seen = bytearray()

    def resize(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def send(self, keys: str) -> None:
        self._gap = _ESCAPE_GAP if keys.endswith("\x1b") else _GAP
        os.write(self.fd, keys.encode())

    def paste(self, text: bytes) -> None:
        """Send a text as pasted, in pieces that a terminal takes, while its program writes."""
        sent = b"\x1b[200~" + text + b"\x1b[201~"
        while sent:
            if select.select([], [self.fd], [], 0.01)[1]:
                sent = sent[os.write(self.fd, sent[:1000]) :]
            self.read(0)

    def read(self, seconds: float) -> bytes:
        """What it writes next; empty if it is silent for so long, or has ended."""
        if not select.select([self.fd], [], [], seconds)[0]:
            return b""
        try:
            data = os.read(self.fd, 1 << 16)
        except OSError:
            return b""
        self.seen += data
        return data

    def wait_for(self, text: str, seconds: float = 20.0) -> float:
        """Read until it wrote a text after what was seen before; the moment it came."""
        start = len(self.seen)
        deadline = time.monotonic() + seconds
        while text.encode() not in self.seen[start:]:
            if not self.read(0.1) and (
                time.monotonic() > deadline or self.process.poll() is not None
            ):
                raise AssertionError(f"{text!r} never came:\n{bytes(self.seen[start:])[-2000:]!r}")
        return time.perf_counter()

    def quiet(self, gap: float) -> float:
        """Read until it is silent for a while; the moment of its last byte."""
        last = time.perf_counter()
        while self.read(gap):
            last = time.perf_counter()
        return last

    def rest(self) -> None:
        """Read until all keys have had their effect: it waits, and so does what it started."""
        if not Path("/proc/self/schedstat").exists():  # not on Linux
            self.quiet(0.3)
            return
        before: dict[Path, float] = {}
        while self._worked_since(before):
            before = self._work()
            while self.read(self._gap):
                before = self._work()

    def _work(self) -> dict[Path, float]:
        """Seconds that each of its threads has run, or waited for a processor."""
        pids = [self.process.pid, *below(self.process.pid)]
        return {thread: _work(thread) for pid in pids for thread in _threads(pid)}

    def _worked_since(self, before: dict[Path, float]) -> bool:
        """Whether it did something since then, or is about to."""
        now = self._work()
        worked = sum(now.values()) - sum(before.values())
        return (
            now.keys() != before.keys()
            or worked > _IDLE_SHARE * self._gap
            or any(map(_wants_to_run, now))
        )

    def end(self) -> int:
        """Read until the program has ended; its exit code."""
        deadline = time.monotonic() + 60
        while self.process.poll() is None:
            assert time.monotonic() < deadline, "it does not end"
            self.read(0.1)
        while self.read(0.1):
            pass
        return self.process.returncode

    @property
    def settings(self) -> list[object]:
        """The terminal's settings as they are now."""
        return termios.tcgetattr(self._inner)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.fd)
        os.close(self._inner)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _threads(pid: int) -> list[Path]:
    try:
        return list(Path(f"/proc/{pid}/task").iterdir())
    except OSError:  # it has just ended
        return []


def _work(thread: Path) -> float:
    try:
        return sum(map(int, (thread / "schedstat").read_text().split()[:2])) / 1e9
    except OSError:  # it has just ended
        return 0.0


def _wants_to_run(thread: Path) -> bool:
    try:
        return (thread / "stat").read_text().rpartition(")")[2].split()[0] in "RD"
    except OSError:
        return False


def quizlog(*words: str) -> list[str]:
    """The command line that runs quizlog with these words."""
    return [sys.executable, "-m", "quizlog_tui", *words]
