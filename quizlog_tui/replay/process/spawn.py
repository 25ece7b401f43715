"""Starts the interpreter of a quiz process, for which only the seed must be known.

An interpreter takes longer to start than most scripts take to ask. So the command line starts one
while it is still loading itself (`prestart`), and the first run with that seed uses it (`take`).
Imports next to nothing, as it runs first.
"""

from __future__ import annotations

import _socket
import _thread
import os
import sys

from ...files.process import open_standard_descriptors
from ..worker.room import when_there_is_room

_FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_SANDBOX = f"{os.path.dirname(_FOLDER)}/sandbox"
_BOOT = """import sys; sys.path[:not getattr(sys.flags, "safe_path", 0)] = {folder!r}, {sandbox!r}
import inside.isolation, worker.boot
worker.boot.main({control:>3}, {guard_end:>3}, inside.isolation.isolate, network={network})"""
"""The worker imports nothing of ours: the function that isolates it is passed to it."""
_CONTROL = 100
"""Descriptor of the interpreter's socket to quizlog; the guard's is the next. It has the same width
in every run: one more character in the boot text takes memory, and moves the script's objects."""
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
"""Variables that are the same in every run. Mathematical libraries get one thread, so that sums
have one order and processes can be copied."""
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
"""Variables of the user that an interpreter needs to find its libraries, and for its output."""
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_SAME_ADDRESSES = 0x0040000


def environment(hash_seed: int, program: str = "") -> dict[str, str]:
    """The environment variables of a script.

    Args:
        hash_seed: The value of PYTHONHASHSEED.
        program: The interpreter; empty for quizlog's own.
    """
    inherited = {name: os.environ[name] for name in _KEPT if name in os.environ}
    if program:  # this is where quizlog's own interpreter has its library
        inherited.pop("PYTHONHOME", None)
    path = f"{os.path.dirname(program or sys.executable)}:{_PATH}"
    return {**inherited, **_FIXED, "PATH": path, "PYTHONHASHSEED": str(hash_seed)}


def _personality(persona: int) -> int:
    """Set the kernel's flags for programs that this thread starts; return the old ones, or -1.

    Does not use ctypes, which takes long to import.
    """
    if sys.platform != "linux":
        return -1
    import _ctypes

    function = _ctypes.dlsym(_ctypes.dlopen(None, 0), "personality")  # type: ignore[arg-type]
    before: int = _ctypes.call_function(function, (persona,))
    return before


class _SameAddresses:
    """A block in which programs that this thread starts get the same memory addresses."""

    def __init__(self, wanted: bool) -> None:
        self._before = _personality(-1) if wanted else -1
        self.holds = False

    def __enter__(self) -> _SameAddresses:
        if self._before >= 0:
            _personality(self._before | _SAME_ADDRESSES)
            self.holds = bool(_personality(-1) & _SAME_ADDRESSES)
        return self

    def __exit__(self, *error: object) -> None:
        if self._before >= 0:
            _personality(self._before)


def same_addresses() -> bool:
    """Whether this system can give programs the same memory addresses."""
    with _SameAddresses(True) as alike:
        return alike.holds


class Spawned:
    """An interpreter that waits for its job, below its guard.

    Args:
        hash_seed: The value of PYTHONHASHSEED.
        alike: Whether it gets the same memory addresses as every other run.
        network: Whether it may use the machine's network.
        program: The interpreter; empty for quizlog's own.
    """

    def __init__(
        self, hash_seed: int, *, alike: bool = True, network: bool = False, program: str = ""
    ) -> None:
        open_standard_descriptors()
        control = _control()
        with DescriptorGroup() as group:
            self.out, self.err = group.files()
            """Files for its streams."""
            self.control, inner = group.sockets(least=control + 2)
            """Our end of the socket to the quiz process."""
            self.guard, guard_end = group.sockets(least=control + 2)
            """Our end of the socket to the guard, which dies with it."""
            empty = group.empty_file()
            numbers = {empty: 0, self.out: 1, self.err: 2, inner: control, guard_end: control + 1}
            with _SameAddresses(alike) as memory:
                self.alike = memory.holds
                """Whether it has the same memory addresses as every other run."""
                self.pid = _started(hash_seed, network, numbers, program)
        for fd in (empty, inner, guard_end):
            os.close(fd)


def _control() -> int:
    """The descriptor of its socket to quizlog; lower only if the system allows none so high."""
    most = os.sysconf("SC_OPEN_MAX")
    return _CONTROL if most < 0 else min(_CONTROL, most - 4)


def _started(hash_seed: int, network: bool, numbers: dict[int, int], program: str) -> int:
    """Start an interpreter with some of our descriptors, under other numbers."""
    *_, control, guard_end = numbers.values()
    boot = _BOOT.format(
        folder=_FOLDER, sandbox=_SANDBOX, control=control, guard_end=guard_end, network=network
    )
    started, variables = program or sys.executable, environment(hash_seed, program)
    actions = [(os.POSIX_SPAWN_DUP2, ours, its) for ours, its in numbers.items()]
    return when_there_is_room(
        lambda: os.posix_spawn(started, [started, "-c", boot], variables, file_actions=actions)
    )


class DescriptorGroup:
    """Descriptors that are opened together: if one cannot be opened, all are closed."""

    def __init__(self) -> None:
        self._fds: list[int] = []

    def __enter__(self) -> DescriptorGroup:
        return self

    def __exit__(self, kind: object, *error: object) -> None:
        if kind is not None:
            for fd in self._fds:
                os.close(fd)

    def empty_file(self) -> int:
        """An empty pipe. Not a device, as a script could change the mode of that."""
        reader, writer = os.pipe()
        os.close(writer)
        return self._add(reader)

    def files(self) -> tuple[int, int]:
        """Files for the process's stdout and stderr."""
        return self._add(_capture("stdout")), self._add(_capture("stderr"))

    def sockets(self, *, least: int = 0) -> tuple[int, int]:
        """A pair of sockets: our end, which reports senders, and the process's end.

        Args:
            least: The lowest descriptor number for the process's end.
        """
        import fcntl

        ours, theirs = _socket.socketpair()
        try:
            if hasattr(_socket, "SO_PASSCRED"):
                ours.setsockopt(_socket.SOL_SOCKET, _socket.SO_PASSCRED, 1)
            end = fcntl.fcntl(theirs.fileno(), fcntl.F_DUPFD_CLOEXEC, least)
            return self._add(ours.detach()), self._add(end)
        finally:
            ours.close()
            theirs.close()

    def _add(self, fd: int) -> int:
        self._fds.append(fd)
        return fd


def _capture(name: str) -> int:
    """A file without a name for a stream, so that a position in it is a moment in time."""
    import fcntl

    if hasattr(os, "memfd_create"):
        fd = os.memfd_create(f"quizlog-{name}", os.MFD_CLOEXEC)
    else:
        import tempfile

        with tempfile.TemporaryFile() as file:
            fd = os.dup(file.fileno())
    fcntl.fcntl(fd, fcntl.F_SETFL, fcntl.fcntl(fd, fcntl.F_GETFL) | os.O_APPEND)
    return fd


_TAKING = _thread.allocate_lock()
_early: list[tuple[int, Spawned]] = []


def prestart(hash_seed: int) -> None:
    """Start an interpreter that is likely to be needed soon."""
    _early.append((hash_seed, Spawned(hash_seed)))


def take(
    hash_seed: int, *, alike: bool = True, network: bool = False, program: str = ""
) -> Spawned:
    """An interpreter with this hash seed: the one started early, or a fresh one."""
    with _TAKING:
        for known, spawned in _early if alike and not network and not program else []:
            if known == hash_seed:
                _early.remove((known, spawned))
                return spawned
    return Spawned(hash_seed, alike=alike, network=network, program=program)


def discard() -> None:
    """End interpreters that were started early and never taken."""
    while _early:
        _, spawned = _early.pop()
        for fd in (spawned.guard, spawned.control, spawned.out, spawned.err):
            os.close(fd)
        os.waitpid(spawned.pid, 0)
