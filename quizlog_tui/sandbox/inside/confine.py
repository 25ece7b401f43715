"""Irrevocably removes all rights from a process that is about to run untrusted code."""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import sys
from functools import cache

from . import bpf
from .wire import BoxSetup, RunSetup

_STACK = 8 << 20
_FILES = 256
_MOST_THREADS = 1 << 22
"""More threads than a machine can have."""
_UNIX = 1


def become(user: int) -> None:
    """Switch irrevocably from root to an ordinary user, who may still inspect the process."""
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    if sys.platform == "linux":
        from . import kernel

        kernel.prctl(kernel.SET_DUMPABLE, 1)


def confine(box: BoxSetup, run: RunSetup) -> None:
    """Apply limits, drop capabilities and load the filter, for this process and its children.

    Raises:
        OSError: A right could not be removed; the code must not run.
    """
    _set_limits(run, 0 if box.level == "bwrap" else _others())
    if sys.platform != "linux":
        return
    from . import isolation, kernel

    kernel.prctl(kernel.SET_NO_NEW_PRIVS, 1)
    if box.level == "bwrap":
        # Otherwise the parent, with the same user id, could not read its memory use.
        kernel.prctl(kernel.SET_DUMPABLE, 0)
    if box.level == "landlock":
        own = [run.folder, run.temporary]
        isolation.restrict(isolation.SCOPES, own, box.readable, listed=["/proc/self"], tcp=False)
    kernel.drop_capabilities()
    if box.level != "rlimits":
        load_filter(own_namespaces=box.level == "bwrap")


def _set_limits(run: RunSetup, others: int) -> None:
    """Set the limits of each process; lower existing limits are kept.

    Args:
        run: The limits.
        others: Number of processes outside the run that count against the same limit.
    """
    wanted = {
        "RLIMIT_AS": run.address_space,
        "RLIMIT_FSIZE": run.file_size,
        "RLIMIT_NPROC": run.processes + others,
        "RLIMIT_NOFILE": _FILES,
        "RLIMIT_STACK": _STACK,
        "RLIMIT_CORE": 0,
        "RLIMIT_MEMLOCK": 0,
        "RLIMIT_MSGQUEUE": 0,
    }
    for name, value in wanted.items():
        if hasattr(resource, name):
            # Some systems refuse to set a limit they know (address space on macOS).
            with contextlib.suppress(ValueError, OSError):
                _lower(getattr(resource, name), value, value)
    _lower(resource.RLIMIT_CPU, run.cpu, run.cpu + 1)


def _others() -> int:
    """Threads of this user, as the system counts them against the limit.

    It is found by trying: not all of them are visible, and not all visible ones count.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NPROC)
    low, high = 0, _MOST_THREADS if hard == resource.RLIM_INFINITY else hard
    seen = _seen()
    guesses = [seen, seen + 1]
    try:
        while low < high:
            guess = guesses.pop() if guesses else -1
            limit = guess if low <= guess < high else (low + high) // 2
            resource.setrlimit(resource.RLIMIT_NPROC, (limit, hard))
            if _may_fork():
                high = limit
            else:
                low = limit + 1
    finally:
        resource.setrlimit(resource.RLIMIT_NPROC, (soft, hard))
    return max(0, low - 1)


def _may_fork() -> bool:
    try:
        child = os.fork()
    except OSError:
        return False
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return True


def _seen() -> int:
    """Number of visible threads of this user."""
    user, count = os.getuid(), 0
    for name in os.listdir("/proc") if os.path.isdir("/proc") else ():
        with contextlib.suppress(OSError):
            if name.isdigit() and os.stat(f"/proc/{name}").st_uid == user:
                count += len(os.listdir(f"/proc/{name}/task"))
    return count


def _lower(limit: int, soft: int, hard: int) -> None:
    _, most = resource.getrlimit(limit)
    if most != resource.RLIM_INFINITY:
        soft, hard = min(soft, most), min(hard, most)
    resource.setrlimit(limit, (soft, hard))


@cache
def _program(own_namespaces: bool) -> bytes:
    from . import kernel

    families = (_UNIX,) if own_namespaces else ()
    return bpf.program(x86=kernel.X86, own_ipc=own_namespaces, families=families)


def ready(box: BoxSetup) -> None:
    """Do once, before the first run, what need not be repeated in every run."""
    if sys.platform == "linux":
        _program(box.level == "bwrap")


def load_filter(*, own_namespaces: bool) -> None:
    """Apply the filter of system calls to this thread and all that it starts."""
    from . import kernel

    code = _program(own_namespaces)

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_char_p))

    program = Program(len(code) // 8, code)
    zero = ctypes.c_ulong(0)
    filter_mode = ctypes.c_ulong(2)
    result = kernel.LIBC.prctl(kernel.SET_SECCOMP, filter_mode, ctypes.byref(program), zero, zero)
    kernel.checked(int(result), "seccomp")
