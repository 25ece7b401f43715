"""Copies of this process, made at a question: how a run is rewound without running again.

A copy waits at the same question on a socket of its own. It is made by forking twice, so that it
belongs to the guard: the script never sees a child it did not start, and the guard collects it.
What a fork changes of its own accord is put back.
"""

from __future__ import annotations

import contextlib
import os
import sys
from os import getpid  # the original: the script's view of `os` is patched later
from typing import Any

from .log import Log
from .taint import Taint
from .wire import quote, send


def copy(log: Log, taint: Taint) -> None:
    """Make a copy with the descriptors that came with the request, or say why not.

    Returns in both processes; the copy then waits on its own socket.
    """
    control, out, err = (log.wire.descriptors.pop(0) for _ in range(3))
    log.world.outside.watching = False
    # A copy that has not run since it was made is as clean as its original was then.
    reason = None if log.untouched else taint.reason({control, out, err})
    if reason is not None:
        _refuse(control, reason)
    else:
        taint.watching = False
        kept = _states()
        log.world.copying()
        if _forked_twice():
            _settle_in(log, control, out, err)
            _put_back(kept)
        log.world.copied()
        taint.watching = True
    for fd in (control, out, err):
        os.close(fd)
    log.world.outside.watching = True


def _refuse(control: int, reason: str) -> None:
    with contextlib.suppress(OSError):
        send(control, f'["refused", {quote(reason)}]')


def _forked_twice() -> bool:
    """Fork a grandchild that the guard adopts; True in it, False here."""
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return False
    if os.fork():
        _leave(0)
    return True


_leave = os._exit


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
    log.untouched = True
    log.answers = []
    log.wire.send(f'["born", {log.home}]')


def _states() -> Any:
    """What a fork disturbs: `random` reseeds its global generator in every child (bpo-16500)."""
    random: Any = sys.modules.get("random")
    return random.getstate() if random else None


def _put_back(kept: Any) -> None:
    if kept is not None:
        sys.modules["random"].setstate(kept)
