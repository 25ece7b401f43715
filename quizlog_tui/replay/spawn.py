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

from ..inherited import open_standard_descriptors

_FOLDER = os.path.dirname(os.path.abspath(__file__))
_SANDBOX = f"{os.path.dirname(_FOLDER)}/sandbox"
_BOOT = """import sys; sys.path[:0] = [{folder!r}, {sandbox!r}]; import inside.shut, worker.boot
worker.boot.main({control}, {guarded}, inside.shut.shut, network={network})"""
"""The worker knows nothing of ours: what shuts it in is handed to it."""
_CONTROL, _GUARDED = 100, 101
"""Where the interpreter finds its sockets. The same in every run: one digit more in the text it
starts from is a few bytes more of its memory, and moves what the script puts there."""
_FIXED = {
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "LOGNAME": "quizlog",
    "MKL_NUM_THREADS": "1",
    "NUMEXPR_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "SHELL": "/bin/sh",
    "TMPDIR": "/tmp/quizlog",
    "TZ": "UTC",
    "USER": "quizlog",
    "VECLIB_MAXIMUM_THREADS": "1",
}
"""The same for every run. Mathematical libraries have one thread: sums in one order, and processes
that can be copied."""
_KEPT = (
    "CONDA_PREFIX",
    "DYLD_LIBRARY_PATH",
    "HOME",
    "LD_LIBRARY_PATH",
    "PYTHONHOME",
    "PYTHONPATH",
    "PYTHONSAFEPATH",
    "PYTHONUNBUFFERED",
    "PYTHONUSERBASE",
    "SYSTEMROOT",
)
"""What an interpreter needs to find its libraries, and how it shall write."""
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_SAME_ADDRESSES = 0x0040000


def environment(hash_seed: int) -> dict[str, str]:
    """The variables a script finds."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    path = f"{os.path.dirname(sys.executable)}:{_PATH}"
    return {**kept, **_FIXED, "PATH": path, "PYTHONHASHSEED": str(hash_seed)}


def _personality(persona: int) -> int:
    """Set the kernel's ways with programs that this thread starts; the ones before, -1 on failure.

    Not by way of ctypes, which takes long to import.
    """
    if sys.platform != "linux":
        return -1
    import _ctypes

    function = _ctypes.dlsym(_ctypes.dlopen(None, 0), "personality")  # type: ignore[arg-type]
    before: int = _ctypes.call_function(function, (persona,))
    return before


class _AlikeInMemory:
    """While it is entered, programs that this thread starts are placed in memory alike."""

    def __init__(self, wanted: bool) -> None:
        self._before = _personality(-1) if wanted else -1
        self.holds = False

    def __enter__(self) -> _AlikeInMemory:
        if self._before >= 0:
            _personality(self._before | _SAME_ADDRESSES)
            self.holds = bool(_personality(-1) & _SAME_ADDRESSES)
        return self

    def __exit__(self, *error: object) -> None:
        if self._before >= 0:
            _personality(self._before)


def same_addresses() -> bool:
    """Whether this system places programs in memory alike when asked to."""
    with _AlikeInMemory(True) as alike:
        return alike.holds


class Spawned:
    """An interpreter that waits for its job, below its guard.

    Args:
        hash_seed: Sets the order of hashes, which only the start of an interpreter can.
        alike: Whether memory shall be placed as in every other run.
        network: Whether it shall have the machine's network.
    """

    def __init__(self, hash_seed: int, *, alike: bool = True, network: bool = False) -> None:
        open_standard_descriptors()
        self.out, self.err = capture("stdout"), capture("stderr")
        """Files that take its streams."""
        self.control, inner = _sockets(senders=True)
        """Our end of the socket to the quiz."""
        self.guard, guarded = _sockets()
        """Our end of the socket to the guard, which dies with it."""
        boot = _BOOT.format(
            folder=_FOLDER, sandbox=_SANDBOX, control=_CONTROL, guarded=_GUARDED, network=network
        )
        nothing, writer = os.pipe()  # no device: a script could change the mode of that
        os.close(writer)
        with _AlikeInMemory(alike) as memory:
            self.alike = memory.holds
            """Whether memory is placed as in every other run."""
            self.pid = os.posix_spawn(
                sys.executable,
                [sys.executable, "-c", boot],
                environment(hash_seed),
                file_actions=[
                    (os.POSIX_SPAWN_DUP2, nothing, 0),
                    (os.POSIX_SPAWN_DUP2, self.out, 1),
                    (os.POSIX_SPAWN_DUP2, self.err, 2),
                    (os.POSIX_SPAWN_DUP2, inner, _CONTROL),
                    (os.POSIX_SPAWN_DUP2, guarded, _GUARDED),
                ],
            )
        for fd in (nothing, inner, guarded):
            os.close(fd)


def _sockets(*, senders: bool = False) -> tuple[int, int]:
    """Our end of a pair of sockets, and the other, above the numbers that it is to have.

    Args:
        senders: Whether the system shall say who wrote what arrives at our end.
    """
    import fcntl

    ours, theirs = _socket.socketpair()
    try:
        if senders and hasattr(_socket, "SO_PASSCRED"):
            ours.setsockopt(_socket.SOL_SOCKET, _socket.SO_PASSCRED, 1)
        return ours.detach(), fcntl.fcntl(theirs.fileno(), fcntl.F_DUPFD_CLOEXEC, _GUARDED + 1)
    finally:
        theirs.close()


_TAKING = _thread.allocate_lock()
_early: list[tuple[int, Spawned]] = []


def prestart(hash_seed: int) -> None:
    """Start an interpreter that is likely to be needed soon."""
    _early.append((hash_seed, Spawned(hash_seed)))


def take(hash_seed: int, *, alike: bool = True, network: bool = False) -> Spawned:
    """An interpreter for this order of hashes: the one started early, or a fresh one."""
    with _TAKING:
        for known, spawned in _early if alike and not network else []:
            if known == hash_seed:
                _early.remove((known, spawned))
                return spawned
    return Spawned(hash_seed, alike=alike, network=network)


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
