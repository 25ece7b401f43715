"""Fixes the identity of the script: one process number and one host name in all runs."""

from __future__ import annotations

import os

from .onimport import after_import

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PID = 2**22
"""The process number that the script sees: above all numbers that the system uses."""
HOST = "quizlog"


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
