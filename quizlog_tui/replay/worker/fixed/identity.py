"""Fixes what a script finds of its machine, in all runs alike.

The process number, the host name, the size of the terminal, the version of the C library (which
`platform` asks by `os.confstr`), and the order in which folders list their entries.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

from .onimport import after_import

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PID = 2**22
"""The process number that the script sees: above all numbers that the system uses."""
HOST = "quizlog"
TERMINAL_SIZE = (80, 24)
"""Columns and rows."""
_WITH_OWN_SIZE = frozenset({"shutil", "rich"})
"""Libraries with a size of their own, often the script's choice, where there is no terminal."""
_GLIBC = "glibc "


class Identity:
    """Translates between the number that the script sees and the real one."""

    def __init__(self, pid: int = PID) -> None:
        self.shown_pid = pid
        self.home = os.getpid()
        """The real number."""
        self._above = os.getppid()

    def to_script(self, pid: int) -> int:
        """A real number as the script may see it."""
        if pid == self._above:
            return self.shown_pid - 1
        return self.shown_pid if pid == self.home else pid

    def to_system(self, pid: int) -> int:
        """A number given by the script, as the system knows it."""
        if pid in (self.shown_pid, -self.shown_pid):
            return self.home if pid > 0 else -self.home
        return pid

    def path(self, path: str) -> str:
        """A path in `/proc` with the number that the script sees, as the system knows it."""
        shown = f"/proc/{self.shown_pid}"
        return "/proc/self" + path[len(shown) :] if path.startswith(shown) else path


def install(identity: Identity, *, named: bool) -> None:
    """Replace the functions that return the identity.

    Args:
        identity: The process number.
        named: Whether the system itself has the fixed host name.
    """
    for name in ("getpid", "getppid", "getpgrp", "getsid", "getpgid"):
        if hasattr(os, name):
            setattr(os, name, _answers_in_place(getattr(os, name), identity))
    for name in ("kill", "killpg"):
        setattr(os, name, _taken(getattr(os, name), identity))
    after_import({"_thread": lambda module: _hide_number(module, identity)})
    if not named:
        plain = os.uname

        def uname() -> Any:
            own = plain()
            return type(own)((own.sysname, HOST, own.release, own.version, own.machine))

        os.uname = uname
        after_import({"socket": lambda module: setattr(module, "gethostname", lambda: HOST)})


def _hide_number(threads: Any, identity: Identity) -> None:
    """Let the first thread have the number of the process, also where copies go on."""
    shown = _answers_in_place(threads.get_native_id, identity)
    threads.get_native_id = shown
    after_import({"threading": lambda module: setattr(module, "get_native_id", shown)})


def _answers_in_place(real: Any, identity: Identity) -> Any:
    def call(*args: Any) -> int:
        return identity.to_script(real(*map(identity.to_system, args)))

    call.__name__ = call.__qualname__ = real.__name__
    return call


def _taken(real: Any, identity: Identity) -> Any:
    def call(pid: int, signal: int, /) -> None:
        real(identity.to_system(pid), signal)

    call.__name__ = call.__qualname__ = real.__name__
    return call


def c_library_version() -> str:
    """The version of the C library here; empty if it is another one than that of GNU."""
    try:
        text = os.confstr("CS_GNU_LIBC_VERSION") or ""
    except (AttributeError, OSError, ValueError):
        return ""
    return text[len(_GLIBC) :] if text.startswith(_GLIBC) else ""


def install_c_library(told: str) -> None:
    """Replace `os.confstr`, in every world alike.

    Args:
        told: The version that it tells if it knows any.
    """
    if not hasattr(os, "confstr"):
        return
    plain = os.confstr

    def confstr(name: Any, /) -> str | None:
        text = plain(name)
        return _GLIBC + told if text and text.startswith(_GLIBC) else text

    confstr.__module__, confstr.__qualname__ = "posix", "confstr"
    os.confstr = confstr


def install_terminal(size: tuple[int, int]) -> None:
    """Replace `os.get_terminal_size`."""
    if not hasattr(os, "get_terminal_size"):
        return
    real, frame = os.get_terminal_size, sys._getframe

    def get_terminal_size(fd: Any = 1, /) -> os.terminal_size:
        caller = frame(1).f_globals.get("__name__", "").partition(".")[0]
        if fd not in (0, 1, 2) or caller in _WITH_OWN_SIZE:
            return real(fd)
        return os.terminal_size(size)

    os.get_terminal_size = get_terminal_size


def install_listing() -> None:
    """Replace `listdir` and `scandir`, which `glob`, `walk` and `pathlib` use too."""
    plain_list, plain_scan = os.listdir, os.scandir

    def listdir(path: Any = None) -> list[Any]:
        return sorted(plain_list(path))

    def scandir(path: Any = None) -> Entries:
        with plain_scan(path) as entries:
            return Entries(sorted(entries, key=_name))

    os.listdir, os.scandir = listdir, scandir  # type: ignore[assignment]


def _name(entry: Any) -> Any:
    return entry.name


class Entries:
    """The result of `scandir`: an iterator that can be closed."""

    def __init__(self, entries: list[Any]) -> None:
        self._rest: Iterator[Any] = iter(entries)

    def __iter__(self) -> Entries:
        return self

    def __next__(self) -> Any:
        return next(self._rest)

    def __enter__(self) -> Entries:
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()

    def close(self) -> None:
        self._rest = iter(())
