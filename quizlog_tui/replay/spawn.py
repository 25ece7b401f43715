"""Starting the interpreter of a quiz, before anything of the quiz is known but its seed.

An interpreter takes longer to start than most scripts take to ask, so the command line starts one
while it is still loading itself (`prestart`); whoever needs one for that seed takes it (`take`).
Imports next to nothing, as it runs first.
"""

from __future__ import annotations

import _socket
import _thread
import os
import sys

_FOLDER = os.path.dirname(os.path.abspath(__file__))
_BOOT = """import sys; sys.path.insert(0, {folder!r}); import worker.boot
worker.boot.main({control}, {guarded})"""
_ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)
"""Mathematical libraries with one thread: sums in one order, and processes that can be copied."""


class Spawned:
    """An interpreter that waits for its job, below its guard.

    Args:
        seed: Sets the order of hashes, which only the start of an interpreter can.
    """

    def __init__(self, seed: int) -> None:
        self.out, self.err = capture("stdout"), capture("stderr")
        """Files that take its streams."""
        self.control, inner = (sock.detach() for sock in _socket.socketpair())
        """Our end of the socket to the quiz."""
        self.guard, guarded = (sock.detach() for sock in _socket.socketpair())
        """Our end of the socket to the guard, which dies with it."""
        boot = _BOOT.format(folder=_FOLDER, control=inner, guarded=guarded)
        environment = os.environ | _ONE_THREAD | {"PYTHONHASHSEED": str(seed % 2**32)}
        with _SPAWNING:  # or another thread's child could inherit these
            os.set_inheritable(inner, True)
            os.set_inheritable(guarded, True)
            self.pid = os.posix_spawn(
                sys.executable,
                [sys.executable, "-c", boot],
                environment,
                file_actions=[
                    (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                    (os.POSIX_SPAWN_DUP2, self.out, 1),
                    (os.POSIX_SPAWN_DUP2, self.err, 2),
                ],
            )
            os.close(inner)
            os.close(guarded)


_SPAWNING = _thread.allocate_lock()
_early: list[tuple[int, Spawned]] = []


def prestart(seed: int) -> None:
    """Start an interpreter that is likely to be needed soon."""
    _early.append((seed, Spawned(seed)))


def take(seed: int) -> Spawned:
    """An interpreter for this seed: the one started early, or a fresh one."""
    for known, spawned in _early:
        if known == seed:
            _early.remove((known, spawned))
            return spawned
    return Spawned(seed)


def discard() -> None:
    """End what was started early and never taken."""
    while _early:
        _, spawned = _early.pop()
        for fd in (spawned.guard, spawned.control, spawned.out, spawned.err):
            os.close(fd)
        os.waitpid(spawned.pid, 0)


def capture(name: str) -> int:
    """A file without a name that takes a stream, so that a position in it is a moment in time."""
    import fcntl

    if hasattr(os, "memfd_create"):
        fd = os.memfd_create(f"quizlog-{name}", os.MFD_CLOEXEC)
    else:
        import tempfile

        with tempfile.TemporaryFile() as file:
            fd = os.dup(file.fileno())
    fcntl.fcntl(fd, fcntl.F_SETFL, fcntl.fcntl(fd, fcntl.F_GETFL) | os.O_APPEND)
    return fd
