"""Observes what the fixed world cannot fix. Use of the network is also refused.

The order of parallel threads and the behaviour of other programs cannot be fixed, so it is decided
whether a started thread or program is waited for, or runs in parallel to the script. The
observations say why a run may differ the next time.
"""

from __future__ import annotations

import _thread
import contextlib
import errno
import os
import sys
from itertools import islice
from types import FrameType

from . import OWN, STANDARD, system
from .fixed.clock import worth_waiting
from .fixed.libraries import CLOCKS
from .fixed.onimport import after_import
from .folder import TEMPORARY, Folder
from .taint import WRITES, before_threads, harmless
from .wire import quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


if sys.version_info >= (3, 11):
    from .wait_reader import WaitReader

_STARTERS = frozenset({"threading", "subprocess", "multiprocessing", "concurrent", "asyncio", "os"})
"""Modules by which scripts start threads and programs."""
_WAITING = frozenset({("subprocess", "run"), ("subprocess", "call")})
"""Functions that wait for what they start."""


class Starts:
    """Judges a start by what the script does next.

    Args:
        script: The path of the script in tracebacks.
        source: The bytes of the script.
        folder: The folder in which it runs, which may have another path.
    """

    def __init__(self, script: str, source: bytes, folder: str) -> None:
        self._folders = (f"{os.path.dirname(script)}/", f"{folder}/")
        self._sources = {script: source}
        self._read: dict[str, WaitReader] = {}

    def turn(self, *, thread: bool) -> str:
        """How what is started now runs: `waited` for at once, of a `library`, or `beside`.

        Args:
            thread: Whether it is a thread.
        """
        frame: FrameType | None = sys._getframe(1)
        by_script = False
        while frame is not None:
            path = frame.f_code.co_filename
            if path.startswith(OWN):
                pass
            elif self._of_library(path):
                top = str(frame.f_globals.get("__name__")).partition(".")[0]
                if (top, frame.f_code.co_name) in _WAITING or top not in _STARTERS:
                    return "beside" if by_script else "library"
            else:
                by_script = True
                found = self._waited(frame, thread=thread)
                if found is not None:
                    return "waited" if found and not _other_tasks() else "beside"
            frame = frame.f_back
        return "beside"

    def _of_library(self, path: str) -> bool:
        """Whether code belongs to Python or a package, wherever the script itself is installed."""
        own = next((folder for folder in self._folders if path.startswith(folder)), "")
        python = path.startswith((STANDARD, "<frozen")) and len(own) < len(STANDARD)
        return python or "-packages/" in path[len(own) :]

    def _waited(self, frame: FrameType, *, thread: bool) -> bool | None:
        """Whether a function of the script waits for what it starts; None if its caller decides."""
        if sys.version_info < (3, 11):
            return False  # such code does not tell which call of a line runs
        positions = islice(frame.f_code.co_positions(), frame.f_lasti // 2, None)
        _, line, _, column = next(positions, (None,) * 4)
        try:
            return self._file(frame.f_code.co_filename).is_waited_for(line, column, thread=thread)
        except (OSError, SyntaxError, ValueError):
            return False

    def _file(self, path: str) -> WaitReader:
        if path not in self._read:
            if path not in self._sources:
                with open(path, "rb") as file:
                    self._sources[path] = file.read()
            self._read[path] = WaitReader(self._sources[path])
        return self._read[path]


def _other_tasks() -> bool:
    """Whether an event loop has something else to do while one of its tasks waits."""
    asyncio: Any = sys.modules.get("asyncio")
    return bool(asyncio and asyncio._get_running_loop() and len(asyncio.all_tasks()) > 1)


TYPE_CHECKING = False

_STARTS = frozenset({"subprocess.Popen", "os.posix_spawn", "os.fork", "os.forkpty"})
_IN_TURN = frozenset({"os.system", "os.exec"})
"""Starts of programs for which the script waits, or ends."""
_HELPERS = frozenset({"concurrent.futures.thread", "asyncio.base_events", "asyncio.unix_events"})
"""Modules whose threads only wait, or are judged by the calls submitted to them."""
_SENDS = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg"})
_NAMES = frozenset({"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"})
_LISTS = frozenset({"open", "os.listdir", "os.scandir"})
_HEARD = frozenset().union(
    *(_STARTS, _IN_TURN, _SENDS, _NAMES, _LISTS),
    ("socket.__new__", "socket.bind", "ctypes.dlsym"),
)
"""All relevant events; others, some of which occur at each question, are ignored."""
_MAKES = os.O_CREAT | os.O_TRUNC | os.O_WRONLY
"""Flags for opening a file without reading its content."""
_FOLDERS = getattr(os, "O_DIRECTORY", 0)
"""The flag for opening only a folder, which is neither read nor written by that."""
_CHANCE = ("/dev/urandom", "/dev/random", "/dev/hwrng")
_INTERNET = (2, 10)
"""AF_INET and AF_INET6."""
_MOST_NAMES = 50


class Outside:
    """Collects observations; `quizlog_tui.replay.world` describes their names.

    Args:
        folder: The private folder, where writes are not observed.
        starts: Judges threads and programs that are started.
        network: The network of the script: `real`, its `own`, or `none`.
    """

    def __init__(self, folder: Folder, starts: Starts, *, network: str) -> None:
        self._folder = folder
        self._starts = starts
        self._network = network == "real"
        self._closed = network == "none"
        self._asleep = network == "own"
        self._noted: dict[str, None] = {}
        self._read: set[str] = set()
        self.json = "[]"
        self.watching = True

    def note(self, name: str) -> None:
        """Note an observation once."""
        if name not in self._noted and len(self._noted) < _MOST_NAMES:
            self._noted[name] = None
            self.json = f"[{', '.join(map(quote, self._noted))}]"

    def install(self) -> None:
        """Begin to watch."""
        sys.addaudithook(self._audit)
        before_threads(self._thread)
        after_import(
            {
                "concurrent.futures.thread": self._watch_pools,
                "multiprocessing.util": self._watch_spawning,
                "_signal": self._watch_timers,
                "signal": self._watch_timers,
            }
        )
        for module in (os, sys.modules.get("posix")):
            self._watch_system(module, "getloadavg", "statvfs", "fstatvfs")

    def _watch_system(self, module: Any, *names: str) -> None:
        """Note calls that return the state of the system."""
        for name in names:
            if hasattr(module, name):
                setattr(module, name, self._noting(getattr(module, name)))

    def _noting(self, plain: Any) -> Any:
        def call(*args: Any) -> Any:
            self.note("system")
            return plain(*args)

        call.__name__ = call.__qualname__ = plain.__name__
        return call

    def _watch_timers(self, module: Any) -> None:
        """Note who asks how long a timer has run; scripts that only set one seldom use the rest."""
        if hasattr(module, "getitimer"):
            module.getitimer = self._timing(module.getitimer)

    def _timing(self, plain: Any) -> Any:
        def call(*args: Any) -> Any:
            left = plain(*args)
            if left != (0.0, 0.0):
                self.note("clock")
            return left

        call.__name__ = call.__qualname__ = plain.__name__
        return call

    def _thread(self) -> None:
        starter = sys._getframe(2).f_back
        if starter is not None and starter.f_globals.get("__name__") in _HELPERS:
            self.note("thread")
        else:
            self._turn(beside=bool(_thread._count()))

    def _turn(self, *, beside: bool = False) -> None:
        """Note that a thread starts to work, perhaps in parallel with others."""
        turn = self._starts.turn(thread=True)
        if turn == "library":
            self.note("library-threads" if beside else "thread")
        else:
            self.note("threads" if beside or turn == "beside" else "thread")

    def _watch_pools(self, module: Any) -> None:
        """Watch the calls submitted to pools, whose threads stay and may be idle."""
        plain = module.ThreadPoolExecutor.submit

        def submit(pool: Any, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
            several = sys._getframe(1).f_globals.get("__name__") == "concurrent.futures._base"
            self._turn(beside=several and pool._max_workers > 1)
            return plain(pool, fn, *args, **kwargs)

        submit.__qualname__, submit.__module__ = plain.__qualname__, plain.__module__
        module.ThreadPoolExecutor.submit = submit

    def _watch_spawning(self, module: Any) -> None:
        """Watch `multiprocessing`, which starts interpreters without an audit event."""
        plain = module.spawnv_passfds

        def spawnv_passfds(*args: Any) -> Any:
            self._program("os.posix_spawn")
            return plain(*args)

        module.spawnv_passfds = spawnv_passfds

    def _program(self, event: str) -> None:
        alone = not worth_waiting() and (
            event in _IN_TURN or self._starts.turn(thread=False) != "beside"
        )
        self.note("program" if alone else "processes")
        self._wake()

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event not in _HEARD or not self.watching:
            return
        if event in _LISTS:
            self._file(event, arguments)
        elif event in _STARTS or event in _IN_TURN:
            self._program(event)
        elif event == "socket.__new__":
            if arguments[1] in _INTERNET:
                self._connect()
        elif event in _SENDS:
            self._reach(arguments[1])
        elif event == "socket.bind":
            self._bind(arguments[1])
        elif event == "ctypes.dlsym" and arguments[1] in CLOCKS:
            self.note("clock")
        elif event in _NAMES and not _local(arguments[0]):
            self._refuse_name()

    def _connect(self) -> None:
        """Refuse a socket that could reach other machines, if the script has no network."""
        if self._closed and self._folder.isolated:
            self._refuse()
        self._wake()

    def _wake(self) -> None:
        if self._asleep:
            self._asleep = False
            with contextlib.suppress(OSError):
                system.wake_loopback()

    def _file(self, event: str, arguments: tuple[Any, ...]) -> None:
        path = arguments[0]
        if not isinstance(path, (str, bytes)):
            return
        path = os.fsdecode(path)
        if path.startswith(("/proc", "/sys/")):
            self.note("system")
        elif path in _CHANCE:
            self.note("chance")
        elif event == "open" and not arguments[2] & _FOLDERS and not harmless(path):
            self._opened(os.path.abspath(path), arguments[2])

    def _opened(self, path: str, flags: int) -> None:
        """Note a written file: part of the script if it was read before, else its output."""
        inside = f"{self._folder.path}/"
        if path.startswith(inside):
            name = path[len(inside) :]
            if not flags & _MAKES and f"file {name}" not in self._noted:
                self._read.add(name)
            if flags & WRITES and name in self._read:
                self.note("updates")
                self.note(f"update {name}")
            elif flags & WRITES:
                self.note(f"file {name}")
        elif flags & WRITES and not path.startswith(TEMPORARY):
            self.note("files")

    def _reach(self, address: Any) -> None:
        """Refuse connections to other machines; within this one, a port is chosen by the system."""
        if isinstance(address, tuple) and not _local(address[0]):
            self._refuse()
        elif isinstance(address, tuple):
            self.note("ports")

    def _bind(self, address: Any) -> None:
        if isinstance(address, tuple) and address[1] == 0:
            self.note("ports")

    def _refuse(self) -> None:
        self.note("real-network" if self._network else "network")
        if not self._network:
            raise OSError(errno.ENETUNREACH, "Network is unreachable")

    def _refuse_name(self) -> None:
        self.note("real-network" if self._network else "network")
        if not self._network:
            import socket

            raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")


def _local(host: Any) -> bool:
    if isinstance(host, bytes):
        host = host.decode("ascii", "replace")
    local = (None, "", "localhost", "::1", "0.0.0.0", "::")
    return host in local or str(host).startswith("127.")
