"""Copies of this process, made at a question: how a run is rewound without running again.

A copy waits at the same question on a socket of its own. It belongs to the guard: the script never
sees a child it did not start, and the guard collects it.
"""

from __future__ import annotations

import contextlib
import os
import sys
from os import close, getpid, pipe, read  # the originals: the script's view is patched later
from typing import Any

from . import system
from .log import Log
from .watch.taint import Taint
from .wire import quote, send

_NEEDED = 3
"""Descriptors that come with a request: a socket, and files for both streams."""


def copy(log: Log, taint: Taint) -> None:
    """Make a copy with the descriptors that came with the request, or say why not.

    Returns in both processes; the copy then waits on its own socket.
    """
    arrived = log.wire.descriptors[:]
    log.wire.descriptors.clear()
    log.world.outside.watching = False
    if len(arrived) == _NEEDED:  # else the script has too many files open to be given more
        _copy_with(arrived, log, taint)
    for fd in arrived:
        os.close(fd)
    log.world.outside.watching = True


def _copy_with(arrived: list[int], log: Log, taint: Taint) -> None:
    # What has not run since it was found clean is clean; so is a copy of it.
    reason = None if log.untouched else taint.reason(set(arrived))
    log.untouched = reason is None
    if reason is None:
        reason = _try(arrived, log, taint)
    if reason is not None:
        _refuse(arrived[0], reason)


def _try(arrived: list[int], log: Log, taint: Taint) -> str | None:
    """Make a copy; why that is not possible, if so."""
    reason, copied = None, False
    taint.watching = False
    log.world.copying()
    try:
        copied = _forked()
    except OSError:
        reason = "the system has no room for one more process"
    if copied:
        _settle_in(log, *arrived)
    log.world.copied()
    taint.watching = True
    return reason


def _refuse(control: int, reason: str) -> None:
    with contextlib.suppress(OSError):
        send(control, f'["refused", {quote(reason)}]')


def _forked() -> bool:
    """Fork below the guard; True in the new process, False here.

    This one goes on when the other has left its session, within which signals are let pass.

    Raises:
        OSError: There is no room for it.
    """
    copied, (left, leaving) = False, pipe()
    try:
        copied = _forked_beside()
    finally:
        close(leaving)
        if not copied:
            read(left, 1)
        close(left)
    return copied


def _forked_beside() -> bool:
    """Fork a child of the guard; a grandchild that it adopts where the system has no such way."""
    try:
        copied = _fork_beside() == 0
    except OSError:
        return _forked_twice()
    if copied:
        _setsid()
    return copied


_fork_beside = system.way_to_fork_beside()


def _forked_twice() -> bool:
    """Fork a grandchild that the guard adopts, and put back what forks change of their own accord.

    It never belongs to the session of this process, within which signals are let pass.

    Raises:
        OSError: There is no room for one of them.
    """
    kept = _states()
    child = os.fork()
    if child:
        if os.waitpid(child, 0)[1]:
            raise OSError("the copy was not made")
        return False
    try:
        _setsid()
        if os.fork():
            _leave(0)
        _setsid()
    except BaseException:  # of which the script must not hear, in a process of its own
        _leave(1)
    _put_back(kept)
    return True


_leave, _setsid = os._exit, os.setsid


def _settle_in(log: Log, control: int, out: int, err: int) -> None:
    """Take the new descriptors under the old numbers, and tell the process number."""
    os.dup2(control, log.wire.fd, inheritable=False)
    for new, own, saved in ((out, 1, log.out), (err, 2, log.err)):
        os.dup2(new, own)
        os.dup2(new, saved, inheritable=False)
    log.home = getpid()
    log.world.settle(log.home)
    log.code.settle(log.home)
    log.known = log.written = log.told_of = 0
    log.answers = []
    log.wire.send(f'["born", {log.home}]')


def _states() -> Any:
    """What a fork disturbs: `random` reseeds its global generator in every child (bpo-16500)."""
    random: Any = sys.modules.get("random")
    return random.getstate() if random else None


def _put_back(kept: Any) -> None:
    if kept is not None:
        sys.modules["random"].setstate(kept)
