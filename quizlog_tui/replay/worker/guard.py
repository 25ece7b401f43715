"""The guard: a process whose only work is that nothing of the script outlives quizlog.

It adopts orphans (Linux: as child subreaper), so that even a daemon which the script detached stays
below it. Holds no copy of the script's state and runs none of its code. It is not shut in as the
script is: so it ends no process that is not below itself, whatever it is told, and ends all of them
where it does not understand.
"""

from __future__ import annotations

import _socket
import _thread
import contextlib
import os
import select
import signal
from collections.abc import Iterable
from time import monotonic

from . import system
from .crowd import Crowd, children, contents
from .folder import leftover
from .reports import Reports
from .room import when_there_is_room

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


class Outlet:
    """The quiz's end of a socket by which the guard's witness learns where it is asked."""

    def __init__(self, sock: _socket.socket) -> None:
        self._socket = sock

    def hand_over(self, listener: int) -> None:
        """See `witness.serve`."""
        descriptor = [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, listener.to_bytes(4, "little"))]
        self._socket.sendmsg([b"."], descriptor)

    def close(self) -> None:
        """There is nothing more to hand over."""
        self._socket.close()


def split(guarded: int, others: list[int]) -> Outlet:
    """Fork: the parent stays here as the guard, the child returns and becomes the quiz.

    Args:
        guarded: The socket to quizlog whose closing means death.
        others: Descriptors that belong to the quiz alone.
    """
    os.setsid()
    process_control(system.CHILD_SUBREAPER, 1)
    inbox, outlet = _socket.socketpair()
    pid = when_there_is_room(os.fork)
    if pid == 0:
        os.close(guarded)
        inbox.close()
        os.setsid()
        process_control(system.PDEATHSIG, signal.SIGKILL)
        return Outlet(outlet)
    outlet.close()
    for fd in (*others, 0, 1, 2):
        os.close(fd)
    _forked.append(pid)
    try:
        _watch(guarded, inbox.detach())
    finally:
        _end_all()


def process_control(option: int, value: int) -> None:
    """Linux `prctl`; nothing elsewhere."""
    with contextlib.suppress(OSError):
        system.call("prctl", option, value, 0, 0, 0)


def _watch(guarded: int, inbox: int) -> None:
    """Serve until quizlog closes the socket; then kill all that is left."""
    reports = Reports(guarded)
    _thread.start_new_thread(_bear_witness, (inbox,))
    wake_read, wake_write = os.pipe()
    os.set_blocking(wake_write, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
    poll = select.poll()
    poll.register(wake_read, select.POLLIN)
    orders, crowd = b"", Crowd()
    crowd.quizzes.update(_forked)
    _reap(reports, crowd)
    while not reports.too_many and (crowd.looks.pause or _look(reports, crowd)):
        poll.register(guarded, select.POLLIN | (select.POLLOUT if reports.waiting else 0))
        events = poll.poll(int(crowd.looks.pause * 1000) + 1)
        reports.send()
        ready = [fd for fd, event in events if event != select.POLLOUT]
        if wake_read in ready:
            os.read(wake_read, 4096)
            _reap(reports, crowd)
        if guarded in ready:
            data = os.read(guarded, 65536)
            if not data:
                break
            *lines, orders = (orders + data).split(b"\n")
            if len(orders) > _LONGEST_ORDER or not all(_obey(line, crowd) for line in lines):
                break


def _bear_witness(inbox: int) -> None:
    from .watch.witness import serve

    try:
        serve(inbox)
    except BaseException:  # nobody would answer the script any more
        _end_all()


def _end_all() -> NoReturn:
    """Kill all that is left, and end."""
    try:
        _kill_all()
    finally:
        os._exit(0)


def _look(reports: Reports, crowd: Crowd) -> bool:
    """Hold what the script started against its bounds.

    Returns:
        False if it is over a bound, and was told so.
    """
    began = monotonic()
    started = crowd.started(_descendants(os.getpid()))
    bound = crowd.exceeds(started) or crowd.outgrown()
    if bound:
        reports.add(b"over %s\n" % bound.encode())
        return False
    crowd.looks.over(began, found=bool(started))
    return True


def _obey(line: bytes, crowd: Crowd) -> bool:
    """Carry out an order of quizlog.

    `kill PID`: that process and all below it. `keep PID ...`: all but those and below them.
    `quiz PID`: that one is the script itself. `bounds PROCESSES BYTES`. `look`: soon.

    Returns:
        False if it is no such order.
    """
    order, *words = line.split() or [b""]
    if not all(_is_number(word) for word in words):
        return False
    named = [int(word) for word in words]
    if order in (b"kill", b"keep"):
        _end(order, named)
    elif order == b"bounds" and len(named) == 2:
        crowd.processes, crowd.memory = named
    elif order == b"quiz" and len(named) == 1:
        crowd.quizzes.update(named)
    elif order == b"look" and not named:
        crowd.looks.soon()
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
    """End processes, but only such as are below this one at that moment."""
    for pid in pids:
        with contextlib.suppress(OSError):
            _signal_below(pid)


def _signal_below(pid: int) -> None:
    """Kill by a handle, which still means the same process when another one takes its number."""
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
    """Whether the chain of parents leads from a process here."""
    if not _SEES:
        return pid in _forked
    at = pid
    while at > 1:
        above = _parent(at)
        if above == os.getpid():
            return True
        # One on the way ended just now, and who was below it has another parent.
        at = pid if above == _GONE and at != pid else above
    return False


def _parent(pid: int) -> int:
    """The parent of a process, or `_GONE`."""
    try:
        return int(contents(f"/proc/{pid}/stat").rpartition(b")")[2].split()[1])
    except (OSError, IndexError):
        return _GONE


def _reap(reports: Reports, crowd: Crowd) -> None:
    """Collect every ended child and report its number and wait status."""
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            if pid not in crowd.quizzes:  # one that the script started, and that went on without it
                crowd.looks.soon()
            crowd.quizzes.discard(pid)
            reports.add(b"%d %d\n" % (pid, status))


def _kill_all() -> None:
    """Kill every process below this one until there is none; remove what they left."""
    with contextlib.suppress(ChildProcessError):
        while True:
            _kill(_descendants(os.getpid()))
            os.waitpid(-1, 0)
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
    for pid in _forked:
        if os.path.isdir(leftover(pid)):
            import shutil

            shutil.rmtree(leftover(pid), ignore_errors=True)


def _descendants(pid: int) -> list[int]:
    """The processes below `pid`."""
    found: list[int] = []
    for child in _children(pid):
        found += [child, *_descendants(child)]
    return found


def _children(pid: int) -> list[int]:
    """The children of `pid`, from /proc; where there is none, those this process forked."""
    if not _SEES:
        return list(_forked) if pid == os.getpid() else []
    return children(pid)


_forked: list[int] = []
_SEES = os.path.exists("/proc/self/stat")
"""Whether the system shows who is below whom."""
_GONE = -1
_LONGEST_ORDER = 1 << 16
"""Bytes of an order that does not end."""
