"""System calls that Python does not expose. They raise OSError."""

from __future__ import annotations

import ctypes
import os
import platform

LIBC = ctypes.PyDLL(None, use_errno=True)
"""Keeps the interpreter's lock during calls, as `clone` must not happen while it is released."""

X86 = platform.machine() == "x86_64"
_CLONE = 56 if X86 else 220
_CAPSET = 126 if X86 else 91
_CAPABILITY_VERSION_3 = 0x20080522
_LAST_CAPABILITY = 63

NEW_NAMESPACES = (
    0x10000000  # user
    | 0x00020000  # mount
    | 0x20000000  # pid
    | 0x08000000  # ipc
    | 0x40000000  # network
    | 0x04000000  # uts
    | 0x02000000  # cgroup
)
READ_ONLY, NO_SUID, NO_DEV, NO_EXEC, BIND = 1, 2, 4, 8, 4096
DETACH = 2

SET_DUMPABLE, SET_SECCOMP, _CAPBSET_DROP = 4, 22, 24
SET_CHILD_SUBREAPER, SET_NO_NEW_PRIVS = 36, 38
SIGCHLD = 17


def checked(result: int, call: str) -> int:
    """The result of a call.

    Raises:
        OSError: The call failed.
    """
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{call}: {os.strerror(code)}")
    return result


def syscall(number: int, *arguments: int) -> int:
    """Make a system call by number."""
    words = map(ctypes.c_long, (number, *arguments))
    return checked(int(LIBC.syscall(*words)), f"system call {number}")


def clone(flags: int) -> int:
    """Like `os.fork`, into new namespaces. Call it only in a process with one thread."""
    return syscall(_CLONE, flags | SIGCHLD, 0, 0, 0, 0)


def prctl(option: int, value: int) -> None:
    """Set an option of the process."""
    zero = ctypes.c_ulong(0)
    result = LIBC.prctl(option, ctypes.c_ulong(value), zero, zero, zero)
    checked(int(result), f"prctl {option}")


def mount(source: str, target: str, kind: str | None, flags: int, options: str = "") -> None:
    """Mount, bind or remount."""
    words = [text.encode() if text is not None else None for text in (source, target, kind)]
    result = LIBC.mount(*words, ctypes.c_ulong(flags), options.encode())
    checked(int(result), f"mount {target}")


def unmount(target: str) -> None:
    """Detach a mount; bind mounts of its folders stay."""
    checked(int(LIBC.umount2(target.encode(), DETACH)), f"umount {target}")


def drop_capabilities() -> None:
    """Drop all capabilities irrevocably, including those that an exec would restore."""
    for number in range(_LAST_CAPABILITY + 1):
        try:
            prctl(_CAPBSET_DROP, number)
        except OSError:
            break
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    none = (ctypes.c_uint32 * 6)()
    checked(int(LIBC.syscall(ctypes.c_long(_CAPSET), header, none)), "capset")
