"""The server of a box: loads libraries once, then forks a keeper for every requested run."""

from __future__ import annotations

import gc
import importlib
import os
import signal
import socket
import sys
from collections.abc import Callable
from functools import partial

from . import wire
from .confine import become, ready
from .job import keep
from .wire import BoxSetup


def main(fd: int) -> None:
    """Serve until the parent ends.

    Args:
        fd: The socket to the parent.
    """
    sock = socket.socket(fileno=fd)
    first = wire.receive(sock)
    if first is None:
        return
    box = BoxSetup(**first.data)
    if box.mount_proc:
        from .namespaces import mount_proc

        mount_proc()
    if box.drop_to is not None:
        become(box.drop_to)
    sys.path += box.paths
    ready(box)
    _preload(box.preload)
    divisible = box.level == "bwrap" and _divisible()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    wire.send(sock, {"ready": True, "divisible": divisible})
    while message := wire.receive(sock):
        job = socket.socket(fileno=message.fds[0])
        try:
            _start(box, sock, job, message.fds[1:], message.data["disk"] if divisible else None)
        finally:
            job.close()
            for other in message.fds[1:]:
                os.close(other)


def _start(
    box: BoxSetup, sock: socket.socket, job: socket.socket, pipes: list[int], disk: int | None
) -> None:
    """Fork the keeper of a run, into new namespaces if `disk` is given."""
    prepare: Callable[[], None] = _take_orphans
    try:
        if disk is None:
            child = os.fork()
        else:
            from .namespaces import fork_apart, settle

            prepare = partial(settle, os.getuid(), os.getgid(), disk)
            child = fork_apart()
    except OSError as error:
        wire.send(job, {"failed": str(error)})
        return
    if child == 0:
        sock.close()
        keep(box, job, pipes, prepare)


def _take_orphans() -> None:
    if sys.platform == "linux":
        from . import kernel

        kernel.prctl(kernel.SET_CHILD_SUBREAPER, 1)


def _preload(names: list[str]) -> None:
    for name in names:
        try:
            importlib.import_module(name)
        except ImportError:
            continue
    gc.collect()
    gc.freeze()


def _divisible() -> bool:
    from .namespaces import possible

    return possible()
