"""The guard's witness: it is asked before a process below the guard signals another.

Checkpoints of a run are processes below the same guard, and were ended as easily as a child of it.
Landlock cannot part them: its domains nest sixteen deep, and each copy would need one more. So a
signal reaches only processes of the session that sends it, and each copy has a session of its own.
"""

from __future__ import annotations

import _socket
import contextlib
import errno
import fcntl
import os
import select
import struct
from typing import NamedTuple

_RECEIVE, _SEND = 0xC0502100, 0xC0182101
_REQUEST, _RESPONSE = struct.Struct("=QIIiIQ6Q"), struct.Struct("=QqiI")
_LET_PASS = 1
_ALL = -1


class Process(NamedTuple):
    """What the system tells of a process, or of the one that a thread belongs to."""

    above: int
    session: int


def serve(inbox: int) -> None:
    """Answer all that is asked, until there is nobody left who could ask.

    Args:
        inbox: A socket on which the descriptor arrives at which is asked, or its end.
    """
    listener = _handed_over(inbox)
    if listener is None:
        return
    poll = select.poll()
    poll.register(listener, select.POLLIN)
    while any(event & select.POLLIN for _, event in poll.poll()):
        with contextlib.suppress(OSError):  # who asked may have been ended meanwhile
            _answer(listener)


def _handed_over(inbox: int) -> int | None:
    with contextlib.closing(_socket.socket(fileno=inbox)) as sock:
        _, extra, _, _ = sock.recvmsg(1, _socket.CMSG_SPACE(4))
    return next((int.from_bytes(packed[:4], "little") for _, _, packed in extra), None)


def _answer(listener: int) -> None:
    asked = bytearray(_REQUEST.size)
    fcntl.ioctl(listener, _RECEIVE, asked)
    number, caller, _, _, _, _, target, *_ = _REQUEST.unpack(asked)
    passes = may_signal(caller, _signed(target))
    error, flags = (0, _LET_PASS) if passes else (-errno.EPERM, 0)
    fcntl.ioctl(listener, _SEND, _RESPONSE.pack(number, 0, error, flags))


def may_signal(caller: int, target: int) -> bool:
    """Whether whom it means belongs to the run of the caller; others the system looks after.

    Args:
        caller: A process below this one, or a thread of it.
        target: What it names: a process, 0 or less for a group, or all.
    """
    if target == _ALL:
        return False
    ours, theirs = _top(caller), _top(abs(target) or caller)
    return theirs is None or (ours is not None and ours.session == theirs.session)


def _top(pid: int) -> Process | None:
    """The child of this process that `pid` is, or is below; None if it is none such."""
    at = _described(pid)
    while at is not None and at.above not in (os.getpid(), 0, 1):
        # One on the way ended just now, and who was below it has another parent.
        at = _described(at.above) or _described(pid)
    return at if at is not None and at.above == os.getpid() else None


def _described(pid: int) -> Process | None:
    """A process, by its number or by that of one of its threads; None if it is gone."""
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
