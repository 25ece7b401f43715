"""System calls that Python does not expose, and the private namespaces that they make for a run.

A run inside a box has its own users, processes, network and folders. Refused calls raise OSError.
"""

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

_NEW_NAMESPACES = (
    0x10000000  # user
    | 0x00020000  # mount
    | 0x20000000  # pid
    | 0x08000000  # ipc
    | 0x40000000  # network
    | 0x04000000  # uts
    | 0x02000000  # cgroup
)
_READ_ONLY, _NO_SUID, _NO_DEV, _NO_EXEC, _BIND = 1, 2, 4, 8, 4096
_DETACH = 2

SET_DUMPABLE, SET_SECCOMP, _CAPBSET_DROP = 4, 22, 24
SET_CHILD_SUBREAPER, SET_NO_NEW_PRIVS = 36, 38
_SIGCHLD = 17


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


def prctl(option: int, value: int) -> None:
    """Set an option of the process."""
    zero = ctypes.c_ulong(0)
    result = LIBC.prctl(option, ctypes.c_ulong(value), zero, zero, zero)
    checked(int(result), f"prctl {option}")


def _mount(source: str, target: str, kind: str | None, flags: int, options: str = "") -> None:
    """Mount, bind or remount."""
    words = [text.encode() if text is not None else None for text in (source, target, kind)]
    result = LIBC.mount(*words, ctypes.c_ulong(flags), options.encode())
    checked(int(result), f"mount {target}")


def _unmount(target: str) -> None:
    """Detach a mount; bind mounts of its folders stay."""
    checked(int(LIBC.umount2(target.encode(), _DETACH)), f"umount {target}")


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


_STAGE = "/stage"
"""Mount point of the file system with a run's quota while its folders are made."""
_FOLDERS = {"task": "/task", "tmp": "/tmp", "shm": "/dev/shm"}
_BYTES_AN_INODE = 8192


def fork_apart() -> int:
    """Like `os.fork`; the child is the first process in new namespaces.

    Call it only in a process with one thread.

    Raises:
        OSError: The machine does not allow it.
    """
    return syscall(_CLONE, _NEW_NAMESPACES | _SIGCHLD, 0, 0, 0, 0)


def settle(user: int, group: int, disk: int) -> None:
    """Set up new namespaces; must be called first in their first process.

    Args:
        user: The user id, the same inside as outside.
        group: The group id.
        disk: Maximum number of bytes in all folders together.

    Raises:
        OSError: The machine does not allow it.
    """
    _map_users(user, group)
    _own_folders(disk)
    _own_processes()


def possible() -> bool:
    """Whether boxes can be divided on this machine, found by trying."""
    user, group = os.getuid(), os.getgid()
    try:
        child = fork_apart()
    except OSError:
        return False
    if child == 0:
        try:
            settle(user, group, 1 << 20)
        except BaseException:
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def _map_users(user: int, group: int) -> None:
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{user} {user} 1")
    _write("/proc/self/gid_map", f"{group} {group} 1")


def _own_folders(disk: int) -> None:
    """Make new folders on one file system, so that they share one quota."""
    flags = _NO_SUID | _NO_DEV
    options = f"size={disk},nr_inodes={max(64, disk // _BYTES_AN_INODE)},mode=700"
    _mount("tmpfs", _STAGE, "tmpfs", flags, options)
    for name, target in _FOLDERS.items():
        os.mkdir(f"{_STAGE}/{name}", 0o700)
        _mount(f"{_STAGE}/{name}", target, None, _BIND)
    _unmount(_STAGE)


def _own_processes() -> None:
    """Mount a read-only /proc of the own processes, or an empty one if the kernel refuses."""
    try:
        mount_proc(_READ_ONLY)
    except OSError:
        flags = _NO_SUID | _NO_DEV | _NO_EXEC | _READ_ONLY
        _mount("tmpfs", "/proc", "tmpfs", flags, "size=4k,nr_inodes=2")


def mount_proc(flags: int = 0) -> None:
    """Mount a /proc for the process namespace.

    Raises:
        OSError: The kernel refused.
    """
    _mount("proc", "/proc", "proc", _NO_SUID | _NO_DEV | _NO_EXEC | flags)


def _write(path: str, text: str) -> None:
    fd = os.open(path, os.O_WRONLY)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)
