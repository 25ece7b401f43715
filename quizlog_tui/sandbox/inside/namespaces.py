"""The private namespaces of a run inside a box: users, processes, network, and its folders."""

from __future__ import annotations

import os

from . import kernel

_STAGE = "/stage"
"""Mount point of the file system with a run's quota while its folders are made."""
FOLDERS = {"task": "/task", "tmp": "/tmp", "shm": "/dev/shm"}
_BYTES_AN_INODE = 8192


def fork_apart() -> int:
    """Like `os.fork`; the child is the first process in new namespaces.

    Raises:
        OSError: The machine does not allow it.
    """
    return kernel.clone(kernel.NEW_NAMESPACES)


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
    flags = kernel.NO_SUID | kernel.NO_DEV
    options = f"size={disk},nr_inodes={max(64, disk // _BYTES_AN_INODE)},mode=700"
    kernel.mount("tmpfs", _STAGE, "tmpfs", flags, options)
    for name, target in FOLDERS.items():
        os.mkdir(f"{_STAGE}/{name}", 0o700)
        kernel.mount(f"{_STAGE}/{name}", target, None, kernel.BIND)
    kernel.unmount(_STAGE)


def _own_processes() -> None:
    """Mount a read-only /proc of the own processes, or an empty one if the kernel refuses."""
    try:
        mount_proc(kernel.READ_ONLY)
    except OSError:
        flags = kernel.NO_SUID | kernel.NO_DEV | kernel.NO_EXEC | kernel.READ_ONLY
        kernel.mount("tmpfs", "/proc", "tmpfs", flags, "size=4k,nr_inodes=2")


def mount_proc(flags: int = 0) -> None:
    """Mount a /proc for the process namespace.

    Raises:
        OSError: The kernel refused.
    """
    kernel.mount("proc", "/proc", "proc", kernel.NO_SUID | kernel.NO_DEV | kernel.NO_EXEC | flags)


def _write(path: str, text: str) -> None:
    fd = os.open(path, os.O_WRONLY)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)
