"""A guard process and the quiz processes below it: the runs of one script and seed.

Kills processes and reports how each ended. Whatever the script started is killed with the family;
if quizlog itself is killed, the guard kills the family. Also knows the end of the time that a
script has for a step, which a busy machine does not use up.
"""

from __future__ import annotations

import _socket as socket  # `socket` itself makes enumerations of its constants, at each start
import contextlib
import os
import select
import signal
import time
from collections.abc import Callable, Iterable

from ...files.process import children
from ..world import SHARED
from .spawn import Spawned

_CHECK_INTERVAL = 0.05
"""Minimum seconds between two requests to check the bounds."""
MOST = 10
"""A step ends at the latest after this many times its seconds, however busy the machine is."""


class Family:
    """The processes of one script and seed.

    Args:
        spawned: The first process, with its guard.
    """

    def __init__(self, spawned: Spawned) -> None:
        self._guard = socket.socket(fileno=spawned.guard)
        self._poll = select.poll()  # `select` itself knows no descriptor above 1,023
        self._poll.register(self._guard, select.POLLIN)
        self._pid = spawned.pid
        self._statuses: dict[int, int] = {}
        self._dismissed: set[int] = set()
        self._partial = b""
        self._members = 0
        self._members_seen: set[int] = set()
        self._ended: set[int] = set()
        self._checked_at = 0.0
        self._seen: dict[int, dict[str, None]] = {}
        self.pids: set[int] = set()
        self.writers: set[int | None] = set()
        """The processes that changed a folder which others see too."""
        self.closed = False
        """Whether its processes can start nothing except copies of themselves."""
        self.gone = False
        self.exceeded = ""
        """The exceeded bound (see `worker.family_bounds`) if all were ended; else empty."""

    def bound(self, processes: int, memory: int) -> None:
        """Set the maximum number of processes that the script may start, and of their bytes."""
        self._order(f"bounds {processes} {memory}\n")

    def add(self, pid: int) -> None:
        """Add a process to the family."""
        self.pids.add(pid)
        self._members_seen.add(pid)
        self._order(f"quiz {pid}\n")

    def check_bounds(self) -> None:
        """Have the guard check the bounds, unless it was asked to a moment ago."""
        now = time.monotonic()
        if now - self._checked_at >= _CHECK_INTERVAL:
            self._checked_at = now
            self._order("look\n")

    def seconds_waited(self, pid: int | None) -> float:
        """Seconds that a process and its guard, which starts it, have waited for a processor.

        0 while the script has processes of its own, for which it may have made itself wait.
        """
        known = {self._pid, *self.pids}
        if any(children(one) - known for one in known):
            return 0.0
        return sum(seconds_waited(one) for one in (self._pid, pid) if one is not None)

    def fileno(self) -> int:
        """The descriptor that becomes readable when a process has ended."""
        return self._guard.fileno()

    def listen(self) -> None:
        """Receive the guard's reports; without a guard the whole family has ended."""
        try:
            data = self._guard.recv(65536)
        except OSError:
            data = b""
        if not data:
            self.gone = True
        *lines, self._partial = (self._partial + data).split(b"\n")
        for line in lines:
            self._hear(line)

    def _hear(self, line: bytes) -> None:
        """Take a report: an exceeded bound, a call that was seen, or how a process ended."""
        kind, *words = line.decode("ascii").split()
        if kind == "over":
            self.exceeded = words[0]
        elif kind == "saw":
            what, pid = words[0], int(words[1])
            self._seen.setdefault(pid, {})[what] = None
            if what in SHARED and what != "memory":  # which only later copies would share
                self.writers.add(pid)
        else:
            self._end(int(kind), int(words[0]))

    def _end(self, pid: int, status: int) -> None:
        self.pids.discard(pid)
        self._ended.add(pid)
        if pid in self._dismissed:
            self._dismissed.discard(pid)
        else:
            self._statuses[pid] = status

    def seen(self, pid: int | None) -> tuple[str, ...]:
        """What a process reached for, as the guard's witness names it, up to its last report."""
        self._catch_up()
        if not self._seen:
            return ()
        unclear = self._seen.get(0, {})
        return tuple(dict.fromkeys((*self._seen.get(pid or 0, {}), *unclear)))

    def status(self, pid: int | None) -> int | None:
        """The exit code of an ended process (negative: the signal); None while it runs."""
        if pid is not None and pid in self._statuses:
            return os.waitstatus_to_exitcode(self._statuses.pop(pid))
        return -9 if self.gone else None

    def has_stranger(self) -> bool:
        """Whether a script that can start nothing has copied itself without a request.

        Must not be called while a copy is being made.
        """
        if not self.closed:
            return False
        living = children(self._pid)
        self._catch_up()
        return not self._members_seen.issuperset(living | self._ended)

    def kill(self, pid: int) -> None:
        """Kill a process and those it started."""
        self._order(f"kill {pid}\n")
        if self.gone:  # nobody else is left to do it
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)

    def lost(self) -> bool:
        """Whether the guard was killed, so that nobody reports how processes end."""
        self._catch_up()
        return self.gone

    def _catch_up(self) -> None:
        while not self.gone and self._poll.poll(0):
            self.listen()

    def _order(self, line: str) -> None:
        # Reports nobody waits for must not fill the socket, or the guard would block on it.
        self._catch_up()
        with contextlib.suppress(OSError):
            self._guard.sendall(line.encode())

    @property
    def shared(self) -> bool:
        """Whether there is more than one process."""
        return self._members > 1

    def join(self) -> None:
        """Count one more process that uses this family."""
        self._members += 1

    def leave(self, pid: int | None, *, sweep: bool) -> None:
        """Count one process less; with the last one, the guard kills everything and ends.

        Args:
            pid: The process, if it is known.
            sweep: Kill also what no remaining member started: programs it may have detached.
        """
        self._members -= 1
        if pid is not None and self._statuses.pop(pid, None) is None and pid in self.pids:
            self._dismissed.add(pid)
            self.pids.discard(pid)
        if self._members and sweep:
            self._order(f"keep {' '.join(map(str, self.pids))}\n")
        if not self._members:
            with contextlib.suppress(OSError):
                self._guard.shutdown(socket.SHUT_WR)
            os.waitpid(self._pid, 0)
            self._guard.close()


class Deadline:
    """When a step has had its time.

    The time in which the script was ready to run, and the machine ran others, does not count.

    Args:
        seconds: Seconds that the step may take; 0 for no limit.
        fresh: Whether the process begins with this step, so that all its waiting is part of it.

    Attributes:
        was_over: Whether it was found to be over.
    """

    def __init__(self, seconds: float, *, fresh: bool = False) -> None:
        self.seconds = seconds
        self.was_over = False
        self._began = time.monotonic()
        self._waited_before = 0.0 if fresh else None

    def is_over(self, waited: Callable[[], float]) -> bool:
        """Whether the time is over.

        Args:
            waited: Returns the seconds that the process has waited for a processor in its life.
                Called the first time, and when the wall time is over.
        """
        if self._waited_before is None:
            self._waited_before = waited()
        passed = time.monotonic() - self._began
        if not self.seconds or passed <= self.seconds:
            return False
        own = passed - max(0.0, waited() - self._waited_before)
        self.was_over = own > self.seconds or passed > MOST * self.seconds
        return self.was_over


def seconds_waited(pid: int) -> float:
    """Seconds that a process was ready to run and waited for a processor; 0 if not known."""
    try:
        with open(f"/proc/{pid}/schedstat", encoding="ascii") as file:
            return int(file.read().split()[1]) / 1e9
    except (OSError, ValueError, IndexError):  # gone, or another system
        return 0.0


def shared_by(seen: Iterable[str]) -> str | None:
    """What a process reached that its copies would share, in words; None if it was nothing."""
    return next((SHARED[kind] for kind in seen if kind in SHARED), None)
