"""Copies this process at a question, so that a run can be rewound without running again.

A copy waits at the same question on its own socket. It is a child of the guard, which collects it:
the script never sees a child that it did not start.
"""

from __future__ import annotations

import contextlib
import os
import sys
from os import close, getpid, pipe, read  # the originals: the script's view is patched later

from . import system
from .log import Log
from .taint import Taint
from .wire import quote, send

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_NEEDED = 3
"""Number of descriptors with a request: a socket, and files for both streams."""


def copy(log: Log, taint: Taint) -> None:
    """Make a copy with the descriptors that came with the request, or report why not.

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
    # A process that has not run since it was found untainted is still untainted.
    reason = None if log.untouched else taint.reason(set(arrived))
    log.untouched = reason is None
    if reason is None:
        reason = _try(arrived, log, taint)
    if reason is not None:
        _refuse(arrived[0], reason)


def _try(arrived: list[int], log: Log, taint: Taint) -> str | None:
    """Make a copy; return why that is impossible, or None."""
    reason, copied = None, False
    taint.watching = False
    log.world.copying()
    try:
        copied = _forked()
    except OSError:
        reason = "the system has no room for one more process"
    if copied:
        taint.settle(_settle_in(log, *arrived))
    log.world.copied()
    taint.watching = True
    return reason


def _refuse(control: int, reason: str) -> None:
    with contextlib.suppress(OSError):
        send(control, f'["refused", {quote(reason)}]')


def _forked() -> bool:
    """Fork a child of the guard; return True in the new process, False here.

    This process continues when the other has left its session, within which signals may pass.

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
    """Fork a child of the guard, or a grandchild that it adopts if the system cannot do that."""
    try:
        copied = _fork_beside() == 0
    except OSError:
        return _forked_twice()
    if copied:
        _setsid()
    return copied


_fork_beside = system.make_fork_beside()


def _forked_twice() -> bool:
    """Fork a grandchild that the guard adopts, and restore what a fork changes.

    It never belongs to the session of this process, within which signals may pass.

    Raises:
        OSError: There is no room for one of them.
    """
    states = _states()
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
    except BaseException:  # the script must not handle it in this second process
        _leave(1)
    _put_back(states)
    return True


_leave, _setsid = os._exit, os.setsid


def _settle_in(log: Log, control: int, out: int, err: int) -> tuple[int, ...]:
    """Put the new descriptors in place of the old ones, and report the process number.

    Returns:
        The descriptors that lead to other things now.
    """
    os.dup2(control, log.wire.fd, inheritable=False)
    for new, own, saved in ((out, 1, log.out), (err, 2, log.err)):
        os.dup2(new, own)
        os.dup2(new, saved, inheritable=False)
    log.home = getpid()
    log.world.settle(log.home)
    log.code.settle(log.home)
    log.known = log.written = log.reported = 0
    log.answers = []
    log.wire.send(f'["born", {log.home}]')
    return log.wire.fd, 1, 2, log.out, log.err


def _states() -> Any:
    """The state that a fork changes: `random` reseeds its generator in every child (bpo-16500)."""
    random: Any = sys.modules.get("random")
    return random.getstate() if random else None


def _put_back(states: Any) -> None:
    if states is not None:
        sys.modules["random"].setstate(states)
