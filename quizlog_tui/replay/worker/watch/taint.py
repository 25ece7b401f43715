"""Why this process must not be copied: what a copy would share with it, or would not have.

A copy has to continue exactly as a fresh run would. It would not if something of the run lives
outside the process: files it wrote, threads, children, open descriptors, timers. What is over when
the script asks (a file read and closed, a thread joined) leaves no trace; what reached the outside
(a file written, a program started, the network) stays a reason for good.
"""

from __future__ import annotations

import _thread
import contextlib
import os
import sys
from collections.abc import Callable
from importlib import import_module
from os import getpid, listdir  # the originals, here and below: they are patched later
from time import process_time_ns, thread_time_ns
from typing import Any

from ..folder import Folder

_signal: Any = import_module("_signal")
"""The C module: `signal` itself would import `enum`."""
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_LASTING = {
    "subprocess.Popen": "it started another program",
    "os.system": "it started another program",
    "os.posix_spawn": "it started another program",
    "os.fork": "it forked",
    "os.forkpty": "it forked",
    "sqlite3.connect": "it opened a database",
    "socket.connect": "it used the network",
    "socket.bind": "it used the network",
    "socket.sendto": "it used the network",
    "socket.getaddrinfo": "it used the network",
    "os.mkdir": "it changed files",
    "os.rmdir": "it changed files",
    "os.remove": "it changed files",
    "os.rename": "it changed files",
    "os.link": "it changed files",
    "os.symlink": "it changed files",
    "os.truncate": "it changed files",
    "os.chmod": "it changed files",
    "os.utime": "it changed files",
    "shutil.copyfile": "it changed files",
    "shutil.rmtree": "it changed files",
    "tempfile.mkdtemp": "it made a temporary folder",
    "tempfile.mkstemp": "it made a temporary file",
    "os.setxattr": "it changed files",
    "mmap.__new__": "it mapped memory that copies may share",
}

_OPEN = "/proc/self/fd"
_HIGH, _MOST = 102, 1024
"""A number that no descriptor of a script gets in passing, and how many are tried one by one."""
_KEEP_NOTHING = ("/dev/null", "/dev/zero", "/dev/full", "/dev/tty")
_BEYOND_FILES = frozenset({_LASTING["socket.bind"], _LASTING["os.system"]})
"""Reasons that copies could notice in the network they share."""


class Taint:
    """Watches the script from its first line on.

    Args:
        folder: Where it runs; parted from that of its copies before anything is changed there.
    """

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self.lasting: str | None = None
        self.watching = False
        self.strayed = False
        """Whether files were written where copies of this process see them."""
        self.straying: Callable[[], None] = lambda: None
        """Called before the first of them is."""
        self._descriptors: set[int] = set()
        self._list: int | None = None
        self._listed = 0
        self._handlers: list[Any] = []

    def look_before(self) -> None:
        """Open now what lists descriptors, of this process alone, as it will not be let in."""
        self._list, self._listed = os.open(_OPEN, os.O_RDONLY), getpid()
        with contextlib.suppress(OSError):  # so many may not be open
            os.dup2(self._list, _HIGH, inheritable=False)
            os.close(self._list)
            self._list = _HIGH

    def install(self) -> None:
        """Note what the script starts with; `begin` begins to watch."""
        self._descriptors = self._opened()
        self._handlers = _handlers()
        sys.addaudithook(self._audit)
        before_threads(self._thread)
        register = os.register_at_fork

        def register_at_fork(**callbacks: Any) -> None:
            by_script = sys._getframe(1).f_globals.get("__name__") == "__main__"
            if by_script and self.lasting is None:
                self._last("it set handlers for forks")
            register(**callbacks)

        os.register_at_fork = register_at_fork

    def begin(self) -> None:
        """From now on the script runs."""
        self.folder.begin()
        self.watching = True

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.lasting is not None or not self.watching:
            return
        if event == "open":
            if arguments[2] & WRITES and not harmless(arguments[0]):
                self._last("it wrote files")
        elif event in _LASTING and not (arguments and harmless(arguments[0])):
            self._last(_LASTING[event])

    def _last(self, reason: str) -> None:
        # From here on nothing more is looked at: whatever follows, copies must not see it.
        self.lasting = reason
        beyond = reason in _BEYOND_FILES and self.folder.shared
        self.strayed = not self._part() or beyond
        if self.strayed:
            self.straying()

    def _thread(self) -> None:
        """Part here, and not later in the thread, as only the one that calls would be parted."""
        if not self.folder.shut:
            self._part()

    def _part(self) -> bool:
        """Make what follows invisible to copies; whether that was possible."""
        self.watching = False
        parted = True
        with contextlib.suppress(OSError):  # then `reason` finds what was written
            parted = self.folder.part()
        self.watching = True
        return parted

    def cheap(self) -> str | None:
        """What is known without asking the system: for each stop."""
        if self.lasting is None and self.folder.strayed():
            self.strayed, self.lasting = True, "it wrote files"
        if self.lasting is not None:
            return self.lasting
        return "it runs threads" if _thread._count() else None

    def reason(self, arrived: set[int]) -> str | None:
        """Why no copy may be made now; None if one may.

        Args:
            arrived: Descriptors that came with the request to copy.
        """
        known = self.cheap()
        if known is not None:
            return known
        if self._has_threads():
            return "a library of it runs threads"
        if _has_children():
            return "it has child processes"
        if not self._descriptors.issuperset(self._opened() - arrived):
            return "it holds files, pipes or sockets open"
        if self.folder.touched():
            return "it wrote files"
        if any(_signal.getitimer(timer)[0] for timer in range(3)):
            return "it set a timer"
        if _handlers() != self._handlers:
            return "it set signal handlers"
        return None

    def _has_threads(self) -> bool:
        """Whether there are others than this one; or were, where the system does not tell."""
        if self._list is None:
            return len(listdir("/proc/self/task")) > 1
        return process_time_ns() > thread_time_ns()

    def _opened(self) -> set[int]:
        """The open descriptors; the one that lists them is closed by the time it is looked at."""
        if self._list is not None and getpid() != self._listed:
            return set(filter(_is_open, range(_MOST)))
        names = listdir(_OPEN if self._list is None else self._list)
        return set(filter(_is_open, map(int, names)))


def before_threads(act: Callable[[], None]) -> None:
    """Do something whenever a thread is about to be started; not every version audits that."""
    for name in ("start_new_thread", "start_joinable_thread"):
        if hasattr(_thread, name):
            plain = getattr(_thread, name)
            announced = _announced(plain, act)
            setattr(_thread, name, announced)
            # Some systems import it before any script runs, and it keeps names of its own.
            threading = sys.modules.get("threading")
            if threading is not None and getattr(threading, f"_{name}", None) is plain:
                setattr(threading, f"_{name}", announced)


def _announced(start: Any, act: Callable[[], None]) -> Any:
    def call(*args: Any, **options: Any) -> Any:
        act()
        return start(*args, **options)

    call.__name__ = call.__qualname__ = start.__name__
    return call


def harmless(path: Any) -> bool:
    """Writes that no run can notice: to devices that keep nothing, and the interpreter's own cache.

    The terminal is one of these, as no run has any: opening it fails alike in all of them.
    A descriptor that is wrapped was opened before, and judged then.
    """
    if isinstance(path, bytes):
        path = os.fsdecode(path)
    if isinstance(path, int):
        return True
    return isinstance(path, str) and (path in _KEEP_NOTHING or "__pycache__" in path)


def _is_open(fd: int) -> bool:
    try:
        os.fstat(fd)
    except OSError:
        return False
    return True


def _has_children() -> bool:
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def _handlers() -> list[Any]:
    return [_signal.getsignal(number) for number in range(1, _signal.NSIG)]
