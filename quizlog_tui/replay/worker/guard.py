"""The guard: a process that lets nothing of the script outlive quizlog.

It adopts orphans (on Linux as child subreaper), so that even a daemon of the script stays below it.
It runs no code of the script. As it is not isolated like the script, it kills only processes below
itself, whatever the orders say, and kills all of them if it does not understand an order. It never
waits to send a report: if it did, nobody would watch the script.
"""

from __future__ import annotations

import _socket
import _thread
import contextlib
import os
import select
from collections.abc import Iterable
from time import monotonic, sleep

from . import system
from .family_bounds import FamilyBounds, children, contents
from .folder import leftover
from .room import when_there_is_room
from .system import signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

_MOST_WAITING = 1 << 20
"""Maximum bytes of reports that wait for quizlog to read them."""
_GONE = -1
_PAUSES = (*(0.0005 * 2**step for step in range(8)), *[0.1] * 600)
"""Seconds between two attempts to kill all that is left: a minute in all."""
_LONGEST_ORDER = 1 << 16
"""Maximum bytes of an order without an end."""
_SEES = os.path.exists("/proc/self/stat")
"""Whether the system shows the parents of processes."""
_forked: list[int] = []


class WitnessSocket:
    """The quiz process's end of a socket to the guard's witness."""

    def __init__(self, sock: _socket.socket) -> None:
        self._socket = sock

    def hand_over(self, listener: int, reached: dict[int, str]) -> None:
        """Send the descriptor of the listener, and what calls reach for; see `witness.serve`."""
        descriptor = [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, listener.to_bytes(4, "little"))]
        table = " ".join(f"{number} {kind}" for number, kind in reached.items())
        self._socket.sendmsg([table.encode()], descriptor)

    def close(self) -> None:
        """Close the socket: nothing more is sent."""
        self._socket.close()


# What this process must withstand, and what failed before.
#
# - It is not isolated, and a script can forge messages to quizlog. An answer that ran as code once
#   reported the number of another process of the user as its own, and had that killed. So whatever
#   an order names, only what is below this process now is killed, by a handle (a number may be used
#   again meanwhile); who is below is asked of the kernel. An order that is not understood ends all.
# - A script can make daemons and relays of forks. Killing a process group or a session misses them.
#   As orphans are adopted here, all of them stay below; they are killed again until none is left.
# - Reports once waited for room in the socket. It fills when nobody listens, and then nobody
#   watched the script. They are kept until there is room, and the script is ended if nobody reads
#   them.
# - The machine may have no memory left to list `/proc`. The guard then found no child, and waited
#   for the living one for ever. What it forked itself it kills without looking anything up.
# - Looking through `/proc` at each order took longer than the order. Bounds are checked when asked
#   for, after an end, and by the clock, for half of the time at most; see `CheckSchedule`.
def split(guard_end: int, others: list[int]) -> WitnessSocket:
    """Fork: the parent stays here as the guard; the child returns and becomes the quiz process.

    Args:
        guard_end: The socket to quizlog; when it closes, everything is killed.
        others: Descriptors that belong only to the quiz process.
    """
    os.setsid()
    process_control(system.CHILD_SUBREAPER, 1)
    inbox, outlet = _socket.socketpair()
    pid = when_there_is_room(os.fork)
    if pid == 0:
        os.close(guard_end)
        inbox.close()
        os.setsid()
        process_control(system.PDEATHSIG, signal.SIGKILL)
        return WitnessSocket(outlet)
    outlet.close()
    for fd in (*others, 0, 1, 2):
        os.close(fd)
    _forked.append(pid)
    try:
        _watch(guard_end, inbox.detach())
    finally:
        _end_all()


def process_control(option: int, value: int) -> None:
    """Call Linux `prctl`; do nothing on other systems."""
    with contextlib.suppress(OSError):
        system.call("prctl", option, value, 0, 0, 0)


def _watch(guard_end: int, inbox: int) -> None:
    """Serve until quizlog closes the socket; then kill all that is left."""
    reports = Reports(guard_end)
    when_there_is_room(lambda: _thread.start_new_thread(_serve_witness, (inbox, reports)))
    wake_read, wake_write = os.pipe()
    os.set_blocking(wake_write, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
    poll = select.poll()
    poll.register(wake_read, select.POLLIN)
    orders, bounds = b"", FamilyBounds()
    bounds.quizzes.update(_forked)
    _reap(reports, bounds)
    while not reports.too_many and (bounds.schedule.pause or _check_bounds(reports, bounds)):
        poll.register(guard_end, select.POLLIN | (select.POLLOUT if reports.waiting else 0))
        events = poll.poll(int(bounds.schedule.pause * 1000) + 1)
        reports.send()
        ready = [fd for fd, event in events if event != select.POLLOUT]
        if wake_read in ready:
            os.read(wake_read, 4096)
            _reap(reports, bounds)
        if guard_end in ready:
            data = os.read(guard_end, 65536)
            if not data:
                break
            *lines, orders = (orders + data).split(b"\n")
            if len(orders) > _LONGEST_ORDER or not all(_carry_out(line, bounds) for line in lines):
                break


def _serve_witness(inbox: int, reports: Reports) -> None:
    from .witness import serve

    try:
        serve(inbox, reports.add)
    except BaseException:  # the script would wait for an answer forever
        _end_all()


def _end_all() -> NoReturn:
    """Kill all that is left, and end."""
    try:
        _kill_all()
    finally:
        os._exit(0)


def _check_bounds(reports: Reports, bounds: FamilyBounds) -> bool:
    """Check what the script started against its bounds.

    Returns:
        False if a bound is exceeded, which was reported.
    """
    began = monotonic()
    started = bounds.started(_descendants(os.getpid()))
    bound = bounds.exceeds(started) or bounds.exceeded_by_quiz()
    if bound:
        reports.add(b"over %s\n" % bound.encode())
        return False
    bounds.schedule.finish(began, found=bool(started))
    return True


def _carry_out(line: bytes, bounds: FamilyBounds) -> bool:
    """Carry out an order of quizlog.

    `kill PID`: kill the process and all below it. `keep PID ...`: kill all except these and those
    below them. `quiz PID`: the process runs the script itself. `bounds PROCESSES BYTES`: set the
    bounds. `look`: check the bounds soon.

    Returns:
        False if the order is not one of these.
    """
    order, *words = line.split() or [b""]
    if not all(_is_number(word) for word in words):
        return False
    named = [int(word) for word in words]
    if order in (b"kill", b"keep"):
        _end(order, named)
    elif order == b"bounds" and len(named) == 2:
        bounds.processes, bounds.memory = named
    elif order == b"quiz" and len(named) == 1:
        bounds.quizzes.update(named)
    elif order == b"look" and not named:
        bounds.schedule.request()
    else:
        return False
    return True


def _end(order: bytes, named: list[int]) -> None:
    family = [pid for one in named for pid in (one, *_descendants(one))]
    if order == b"kill":
        _kill(family)
    else:
        _kill([pid for pid in _descendants(os.getpid()) if pid not in family])


def _is_number(word: bytes) -> bool:
    return word.isdigit() and len(word) < 16


def _kill(pids: Iterable[int]) -> None:
    """Kill processes, but only those that are below this one at that moment."""
    for pid in pids:
        with contextlib.suppress(OSError):
            _signal_below(pid)


def _signal_below(pid: int) -> None:
    """Kill by a handle, which means the same process even if its number is used again."""
    if not hasattr(os, "pidfd_open"):
        if _is_below(pid):
            os.kill(pid, signal.SIGKILL)
        return
    handle = os.pidfd_open(pid)
    try:
        if _is_below(pid):
            signal.pidfd_send_signal(handle, signal.SIGKILL)
    finally:
        os.close(handle)


def _is_below(pid: int) -> bool:
    """Whether a process is below this one."""
    if not _SEES:
        return pid in _forked
    at = pid
    while at > 1:
        above = _parent(at)
        if above == os.getpid():
            return True
        # A process on the way has just ended, and its children have another parent.
        at = pid if above == _GONE and at != pid else above
    return False


def _parent(pid: int) -> int:
    """The parent of a process, or `_GONE`."""
    try:
        return int(contents(f"/proc/{pid}/stat").rpartition(b")")[2].split()[1])
    except (OSError, IndexError):
        return _GONE


def _reap(reports: Reports, bounds: FamilyBounds) -> None:
    """Collect every ended child and report its number and wait status."""
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            if pid not in bounds.quizzes:  # a process that the script started has ended
                bounds.schedule.request()
            bounds.quizzes.discard(pid)
            reports.add(b"%d %d\n" % (pid, status))


def _kill_all() -> None:
    """Kill processes below this one until there are none; remove their folders."""
    with contextlib.suppress(ChildProcessError):
        for pause in _PAUSES:
            _kill_forked()
            _kill(_descendants(os.getpid()))
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
            sleep(pause)
    for pid in _forked:
        if os.path.isdir(leftover(pid)):
            import shutil

            shutil.rmtree(leftover(pid), ignore_errors=True)


def _kill_forked() -> None:
    """Kill the children that this process forked: without /proc, and without any memory."""
    for pid in _forked if hasattr(os, "waitid") else ():
        with contextlib.suppress(OSError):  # it has ended, so that its number may be another's
            os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            os.kill(pid, signal.SIGKILL)


def _descendants(pid: int) -> list[int]:
    """The processes below `pid`."""
    found: list[int] = []
    for child in _children(pid):
        found += [child, *_descendants(child)]
    return found


def _children(pid: int) -> list[int]:
    """The children of `pid`, from /proc; without /proc, those that this process forked."""
    if not _SEES:
        return list(_forked) if pid == os.getpid() else []
    return children(pid)


class Reports:
    """Lines to be sent; several threads may add some.

    Args:
        fd: The socket to quizlog.
    """

    def __init__(self, fd: int) -> None:
        os.set_blocking(fd, False)
        self._fd = fd
        self._adding = _thread.allocate_lock()
        self.waiting = b""
        """The data for which the socket had no room yet."""

    def add(self, line: bytes) -> None:
        """Send a line, or keep it for `send`."""
        with self._adding:
            self.waiting += line
            self._send()

    def send(self) -> None:
        """Send as much as the socket has room for."""
        with self._adding:
            self._send()

    @property
    def too_many(self) -> bool:
        """Whether too much data waits, so that nobody seems to read it."""
        return len(self.waiting) > _MOST_WAITING

    def _send(self) -> None:
        if not self.waiting:
            return
        try:
            self.waiting = self.waiting[os.write(self._fd, self.waiting) :]
        except BlockingIOError:
            return
        except OSError:  # quizlog is gone
            self.waiting = b""
