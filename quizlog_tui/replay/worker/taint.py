"""Finds why this process must not be copied.

A copy has to continue exactly as a fresh run would. It would not if a part of the run is outside
the process: written files, threads, children, open descriptors, timers. What has ended at the
question (a file read and closed, a thread joined) is harmless. What reached the outside (a written
file, a started program, the network) taints the process permanently.
"""

from __future__ import annotations

import _thread
import contextlib
import os
import sys
from collections.abc import Callable, Collection
from os import fstat, listdir
from time import process_time_ns, thread_time_ns

from .family_bounds import contents
from .folder import Folder
from .system import signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


TYPE_CHECKING = False

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
}

_OPEN = "/proc/self/fd"
_MOST = 1024
"""The number of descriptors that are tried singly where the system does not list them."""
_Descriptor = tuple[int, int, int]
"""A number, and the device and number of what it leads to."""
_getitimer = signal.getitimer  # the original: what a script calls is patched later
_KEEP_NOTHING = ("/dev/null", "/dev/zero", "/dev/full", "/dev/tty")
_BEYOND_FILES = frozenset({_LASTING["socket.bind"], _LASTING["os.system"]})
"""Reasons that copies could notice in their common network."""


# What is looked at, and why it does not suffice to watch or to look alone.
#
# Events of the interpreter tell what a script does by Python, for nothing, and before it is done;
# but code below Python raises none (the event for mapped memory cannot even tell shared memory from
# other), so what copies would share is seen by the filter of system calls too: the guard's witness
# tells quizlog before the call goes on. Where no witness is, the maps are compared instead. State
# that ends by itself (threads, children, descriptors, timers) is looked up at the question: a file
# that was read and closed is harmless.
#
# - It must not be found too often, or scripts lose their checkpoints for nothing. `getpass` and
#   click open `/dev/tty` first, which fails alike in every run; a file of bytecode is no output;
#   and what lies in the folder when the script starts was written by the world, not by the script.
# - Nobody may mount once the process is isolated. So copies that share a folder are told before the
#   first write (`on_shared_write`) and not used again; before that, the folder is separated.
# - Some systems import `threading` before the script runs, and it keeps references of its own to
#   what starts a thread; not every version audits such a start.
class Taint:
    """Watches the script from its first line on.

    Args:
        folder: The folder in which it runs, separated from that of copies before it is changed.
    """

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self.lasting: str | None = None
        self.watching = False
        self.wrote_shared = False
        """Whether files were written that copies of this process see."""
        self.on_shared_write: Callable[[], None] = lambda: None
        """Called before the first such write."""
        self.witnessed = True
        """Whether the guard's witness sees what is shared; else this process looks itself."""
        self._descriptors: set[_Descriptor] = set()
        self._handlers: list[Any] = []
        self._shared: set[bytes] = set()

    def install(self) -> None:
        """Note the initial state of the process; `begin` begins to watch."""
        self._descriptors = _opened()
        self._handlers = _handlers()
        if not self.witnessed:
            self._shared = shared_maps()
        sys.addaudithook(self._audit)
        before_threads(self._thread)
        register = os.register_at_fork

        def register_at_fork(**callbacks: Any) -> None:
            by_script = sys._getframe(1).f_globals.get("__name__") == "__main__"
            if by_script and self.lasting is None:
                self._last("it set handlers for forks")
            register(**callbacks)

        os.register_at_fork = register_at_fork

    def settle(self, replaced: Collection[int]) -> None:
        """Note that this process is a copy, in which some descriptors lead to other things."""
        kept = filter(lambda one: one[0] not in replaced, self._descriptors)
        self._descriptors = {*kept, *filter(None, map(_described, replaced))}

    def begin(self) -> None:
        """Begin to watch: from now on the script runs."""
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
        # Nothing more is watched from here on: whatever follows, copies must not see it.
        self.lasting = reason
        beyond = reason in _BEYOND_FILES and self.folder.shared
        self.wrote_shared = not self._part() or beyond
        if self.wrote_shared:
            self.on_shared_write()

    def _thread(self) -> None:
        """Separate the folder before a thread starts: later it would hold for one thread only."""
        if not self.folder.isolated:
            self._part()

    def _part(self) -> bool:
        """Make later changes invisible to copies; return whether that was possible."""
        self.watching = False
        parted = True
        with contextlib.suppress(OSError):  # then `reason` finds what was written
            parted = self.folder.part()
        self.watching = True
        return parted

    def quick_reason(self) -> str | None:
        """The reason that is known without system calls; None if there is none. For each stop."""
        if self.lasting is None and self.folder.wrote_shared():
            self.wrote_shared, self.lasting = True, "it wrote files"
        if self.lasting is not None:
            return self.lasting
        return "it runs threads" if _thread._count() else None

    def reason(self, arrived: set[int]) -> str | None:
        """Why no copy may be made now; None if one may.

        Args:
            arrived: Descriptors that came with the request to copy.
        """
        known = self.quick_reason()
        if known is not None:
            return known
        if _has_threads():
            return "a library of it runs threads"
        if _has_children():
            return "it has child processes"
        opened = {one for one in _opened() if one[0] not in arrived}
        if not self._descriptors.issuperset(opened):
            return "it holds files, pipes or sockets open"
        if self.folder.touched():
            return "it wrote files"
        if not self.witnessed and shared_maps() - self._shared:
            return "it mapped memory that copies would share"
        if any(_getitimer(timer)[0] for timer in range(3)):
            return "it set a timer"
        if _handlers() != self._handlers:
            return "it set signal handlers"
        return None


def before_threads(act: Callable[[], None]) -> None:
    """Call a function before each start of a thread; not every version audits that."""
    for name in ("start_new_thread", "start_joinable_thread"):
        if hasattr(_thread, name):
            plain = getattr(_thread, name)
            announced = _announced(plain, act)
            setattr(_thread, name, announced)
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
    """Whether no run can notice a write: to a device that stores nothing, or to the bytecode cache.

    The terminal is such a device, as no run has one: opening it fails in all of them. A descriptor
    was judged when it was opened.
    """
    if isinstance(path, bytes):
        path = os.fsdecode(path)
    if isinstance(path, int):
        return True
    return isinstance(path, str) and (path in _KEEP_NOTHING or "__pycache__" in path)


def _has_threads() -> bool:
    """Whether there are other threads, or were if the system does not list them."""
    try:
        return len(listdir("/proc/self/task")) > 1
    except OSError:
        return process_time_ns() > thread_time_ns()


def _opened() -> set[_Descriptor]:
    """The open descriptors, without one that only listed them."""
    try:
        numbers = list(map(int, listdir(_OPEN)))
    except OSError:
        numbers = list(range(_MOST))
    return {found for found in map(_described, numbers) if found is not None}


def _described(fd: int) -> _Descriptor | None:
    """An open descriptor; another thing may be put in the place of one that was known."""
    try:
        known = fstat(fd)
    except OSError:
        return None
    return fd, known.st_dev, known.st_ino


def _has_children() -> bool:
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def shared_maps() -> set[bytes]:
    """The parts of memory that a copy would share, as far as the system lists them."""
    try:
        lines = contents("/proc/self/maps").splitlines()
    except OSError:
        return set()
    return {line for line in lines if line.split()[1].endswith(b"s")}


def _handlers() -> list[Any]:
    return [signal.getsignal(number) for number in range(1, signal.NSIG)]
