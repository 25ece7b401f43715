"""Linux libc calls that Python does not expose, made without importing ctypes."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

signal: Any = __import__("_signal")
"""The C module: `signal` itself would import `enum`, and `importlib` would `warnings`."""
NEW_FILES, _NEW_NAMES, _NEW_USERS, _NEW_NETWORK = 0x00020000, 0x04000000, 0x10000000, 0x40000000
"""Flags of `unshare`: mounts, host name, user identities, network."""
BIND, RECURSIVE, PRIVATE, DETACH = 4096, 1 << 14, (1 << 18) | (1 << 14), 2
PDEATHSIG, CHILD_SUBREAPER = 1, 36
_DUMPABLE = 4
_SET_FLAGS, _UP, _LOOPBACK = 0x8914, 0x41, b"lo".ljust(16, b"\0")
_CLONE = {"x86_64": 56, "aarch64": 220, "riscv64": 220}
"""The number of the system call on each kind of machine."""
_PARENT, _SET_NUMBER, _CLEAR_NUMBER, _SIGCHLD = 0x8000, 0x01000000, 0x00200000, 17
_NUMBER_ADDRESS = 40
_MOUNT_SETATTR, _HERE, _READ_ONLY, _RECURSIVE = 442, -100, 1, 0x8000
_READ_AND_RUN, _MEMORY_EXACTLY = 1 | 4, 0x100022


def call(name: str, *arguments: int | bytes | None) -> None:
    """Call a function of the C library.

    Raises:
        OSError: It failed, or there is no such function here.
    """
    if _called(name, *arguments) != 0:
        raise OSError(f"{name} is not permitted")


def _called(name: str, *arguments: Any) -> int:
    return _prepared(name, *arguments)()


def _prepared(name: str, *arguments: Any) -> Callable[[], int]:
    """A call that needs nothing more; no address is kept, as a script could find what was called.

    Raises:
        OSError: There is no such function here.
    """
    if sys.platform != "linux":
        raise OSError("not on this system")
    import _ctypes

    function = _ctypes.dlsym(_ctypes.dlopen(None, 0), name)  # type: ignore[arg-type]
    call_function = _ctypes.call_function
    return lambda: call_function(function, arguments)


def make_room(at: int, size: int) -> None:
    """Take memory for code at an address below 2^31.

    Raises:
        OSError: There is something.
    """
    if _called("mmap", at, size, _READ_AND_RUN, _MEMORY_EXACTLY, -1, 0) != at:
        raise OSError("there is no room in memory")


def run(at: int) -> None:
    """Run code in memory."""
    import _ctypes

    _ctypes.call_function(at, ())


def make_fork_beside() -> Callable[[], int]:
    """Make a function like `os.fork` that forks a child of this process's parent.

    No fork handlers run, and the new process continues exactly as this one. Only for a process with
    one thread. All data are computed now, as later allocations would move the script's objects.

    Returns:
        The function; raises OSError if the process cannot be made.
    """
    number = _CLONE.get(os.uname().machine, -1)
    place = _place_of_number()
    flags = _PARENT | _SIGCHLD | (_SET_NUMBER | _CLEAR_NUMBER if place else 0)
    last = (place, 0) if number == _CLONE["x86_64"] else (0, place)
    make = _prepared("syscall", number, flags, 0, 0, *last)

    def fork_beside() -> int:
        pid = make()
        if pid < 0:
            raise OSError("no process could be made beside this one")
        return pid

    return fork_beside


def _place_of_number() -> Any:
    """The address where libc keeps the number of its main thread; 0 if it is not known."""
    try:
        import _ctypes

        class Word(_ctypes._SimpleCData):  # type: ignore[type-arg]
            _type_ = "L"

        place = Word(0)
        _called("prctl", _NUMBER_ADDRESS, _ctypes.byref(place), 0, 0, 0)
    except (ImportError, OSError):
        return 0
    return place if place.value else 0


def aside(act: Callable[[], int]) -> int:
    """Act in a process of its own, which shares mounts and folders with this one.

    Nothing is allocated here by that, which would move the script's objects.

    Returns:
        What the function returned; 1 if it failed.
    """
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            status = act()
        finally:
            os._exit(status)
    return os.waitpid(pid, 0)[1] >> 8


def mount(kind: bytes | None, source: bytes | None, target: bytes, flags: int, data: bytes) -> None:
    """Mount a file system."""
    call("mount", source, target, kind, flags, data)


def write_protect(path: bytes) -> None:
    """Make the mount at `path` and all below it read-only."""
    _set_attributes(path, _READ_ONLY, 0, _RECURSIVE)


def write_enable(path: bytes) -> None:
    """Make only the mount at `path` writable again."""
    _set_attributes(path, 0, _READ_ONLY, 0)


def _set_attributes(path: bytes, given: int, taken: int, flags: int) -> None:
    attributes = b"".join(word.to_bytes(8, "little") for word in (given, taken, 0, 0))
    call("syscall", _MOUNT_SETATTR, _HERE, path, flags, attributes, len(attributes))


def make_private() -> bytes:
    """Give this process private mounts and a private host name, and the right to change them.

    Returns:
        Mount options that an overlay needs under these rights.

    Raises:
        OSError: The system does not permit it.
    """
    user, group = os.geteuid(), os.getegid()
    if user == 0:
        try:
            call("unshare", NEW_FILES | _NEW_NAMES)
        except OSError:
            pass
        else:
            mount(None, None, b"/", PRIVATE, b"")
            return b""
    call("unshare", NEW_FILES | _NEW_NAMES | _NEW_USERS)
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{user} {user} 1")
    _write("/proc/self/gid_map", f"{group} {group} 1")
    return b",userxattr"


def close_to_others() -> None:
    """Keep this process's memory from processes of the same user, copies of it included.

    Whoever runs the same script in another session is one of them.
    """
    with contextlib.suppress(OSError):
        call("prctl", _DUMPABLE, 0, 0, 0, 0)


def cut_off() -> bool:
    """Give this process a private, empty network; return whether the system permits it."""
    try:
        call("unshare", _NEW_NETWORK)
    except OSError:
        return False
    return True


def wake_loopback() -> None:
    """Enable the loopback device of the private network; only on demand, as it takes long.

    Raises:
        OSError: The system does not permit it.
    """
    import _socket
    import fcntl

    plug = _socket.socket(_socket.AF_INET, _socket.SOCK_DGRAM)
    fcntl.ioctl(plug.fileno(), _SET_FLAGS, _LOOPBACK + _UP.to_bytes(2, "little") + bytes(22))
    plug.close()


def _write(path: str, text: str) -> None:
    fd = os.open(path, os.O_WRONLY)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)
