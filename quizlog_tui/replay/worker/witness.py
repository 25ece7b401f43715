"""The guard's witness: sees calls of the script from outside, below Python, whoever makes them.

It decides whether a process below the guard may signal another, or know of it. Checkpoints of a run
are processes below the same guard, so that a script could kill them. Landlock cannot separate them:
its domains nest only sixteen deep, and each copy would need one more. So a signal reaches only
processes of the sender's session, and each copy has its own session. Others do not exist for it.

It notes, and lets pass, calls that reach what copies of a process would share, and calls that ask
for what the fixed world cannot fix.
"""

from __future__ import annotations

import _socket
import contextlib
import errno
import fcntl
import os
import select
import struct
from collections.abc import Callable

_RECEIVE, _SEND = 0xC0502100, 0xC0182101
_REQUEST, _RESPONSE = struct.Struct("=QIIiIQ6Q"), struct.Struct("=QqiI")
_LET_PASS = 1
_ALL = -1
_SECOND = 140 if os.uname().machine == "x86_64" else 141
"""`getpriority`, which names the process in its second argument."""
_LONGEST_TABLE = 4096
_SIGNAL, _PROCESS, _RAW = "signal", "process", "raw"
"""Kinds of calls; see `sandbox.inside.bpf`."""


class Process:
    """The system's data about a process."""

    def __init__(self, above: int, session: int) -> None:
        self.above = above
        self.session = session


class Notes:
    """Tells quizlog once what each process reached for.

    Args:
        report: Sends `saw KIND PID`; the number is 0 if the process is not known.
    """

    def __init__(self, report: Callable[[bytes], None]) -> None:
        self._report = report
        self._told: set[tuple[str, int]] = set()

    def add(self, kind: str, caller: int) -> None:
        """Tell of a call; it goes on when this is on its way, before any answer of the script."""
        top = _top(caller)
        note = kind, top.session if top is not None else 0
        if note not in self._told:
            self._told.add(note)
            self._report(b"saw %s %d\n" % (kind.encode(), note[1]))


def serve(inbox: int, report: Callable[[bytes], None]) -> None:
    """Answer requests until no process is left that could send one.

    Args:
        inbox: The socket on which the listener's descriptor arrives, and the kinds of calls by
            their numbers.
        report: Sends a line to quizlog.
    """
    listener, kinds = _handed_over(inbox)
    if listener is None:
        return
    poll, notes = select.poll(), Notes(report)
    poll.register(listener, select.POLLIN)
    while any(event & select.POLLIN for _, event in poll.poll()):
        with contextlib.suppress(OSError):  # the asking process may have ended meanwhile
            _answer(listener, kinds, notes)


def _handed_over(inbox: int) -> tuple[int | None, dict[int, str]]:
    with contextlib.closing(_socket.socket(fileno=inbox)) as sock:
        table, extra, _, _ = sock.recvmsg(_LONGEST_TABLE, _socket.CMSG_SPACE(4))
    words = table.decode("ascii").split()
    kinds = {int(number): kind for number, kind in zip(words[::2], words[1::2])}
    return next((int.from_bytes(packed[:4], "little") for _, _, packed in extra), None), kinds


def _answer(listener: int, kinds: dict[int, str], notes: Notes) -> None:
    asked = bytearray(_REQUEST.size)
    fcntl.ioctl(listener, _RECEIVE, asked)
    number, caller, _, call, _, _, first, second, *_ = _REQUEST.unpack(asked)
    kind = kinds.get(call | (second & 0xFFFFFFFF) << 32) or kinds.get(call, _RAW)
    passes = True
    if kind in (_SIGNAL, _PROCESS):
        named = second if call == _SECOND else first
        passes = _may_know(caller, _signed(named))
    else:
        notes.add(kind, caller)
    error, flags = (0, _LET_PASS) if passes else (-errno.ESRCH, 0)
    fcntl.ioctl(listener, _SEND, _RESPONSE.pack(number, 0, error, flags))


def _may_know(caller: int, target: int) -> bool:
    """Whether the target belongs to the run of the caller; for it, no other process exists.

    Args:
        caller: A process below this one, or one of its threads.
        target: A process; 0 or less for a group, or all.
    """
    if target == _ALL:
        return False
    ours, theirs = _top(caller), _top(abs(target) or caller)
    if theirs is None:
        return target < 0 and _described(-target) is None  # a group without its first process
    return ours is not None and ours.session == theirs.session


def _top(pid: int) -> Process | None:
    """The child of this process that `pid` is or is below; None if there is none."""
    at = _described(pid)
    while at is not None and at.above not in (os.getpid(), 0, 1):
        # A process on the way has just ended, and its children have another parent.
        at = _described(at.above) or _described(pid)
    return at if at is not None and at.above == os.getpid() else None


def _described(pid: int) -> Process | None:
    """The process with a number, or with a thread of that number; None if it is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    return Process(above=int(fields[1]), session=int(fields[3]))


def _signed(argument: int) -> int:
    """The number that an argument means: only its low 32 bits count."""
    low = argument & 0xFFFFFFFF
    return low - (1 << 32) if low >> 31 else low
