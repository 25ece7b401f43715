"""Who the script is: one process number, one host name, whatever the system gave it."""

from __future__ import annotations

import os
from typing import Any

from .onimport import after_import

PID = 2**22
"""The number the script's process tells: past the highest the system can give to another."""
HOST = "quizlog"


class Identity:
    """Translates between the number told and the real one of the process or its copy."""

    def __init__(self, pid: int = PID) -> None:
        self.told = pid
        self.home = os.getpid()
        """The real number."""
        self._above = os.getppid()

    def outward(self, pid: int) -> int:
        """A real number as the script may see it."""
        if pid == self._above:
            return self.told - 1
        return self.told if pid == self.home else pid

    def inward(self, pid: int) -> int:
        """What the script says, as the system knows it."""
        if pid in (self.told, -self.told):
            return self.home if pid > 0 else -self.home
        return pid

    def path(self, path: str) -> str:
        """A path below `/proc` with the number that was told."""
        told = f"/proc/{self.told}"
        return "/proc/self" + path[len(told) :] if path.startswith(told) else path


def install(identity: Identity, *, named: bool) -> None:
    """Put the number in place.

    Args:
        identity: Which number.
        named: Whether the system itself tells the fixed host name.
    """
    for name in ("getpid", "getppid", "getpgrp", "getsid", "getpgid"):
        if hasattr(os, name):
            setattr(os, name, _answers_in_place(getattr(os, name), identity))
    for name in ("kill", "killpg"):
        setattr(os, name, _taken(getattr(os, name), identity))
    if not named:
        plain = os.uname

        def uname() -> Any:
            own = plain()
            return type(own)((own.sysname, HOST, own.release, own.version, own.machine))

        os.uname = uname
        after_import({"socket": lambda module: setattr(module, "gethostname", lambda: HOST)})


def _answers_in_place(real: Any, identity: Identity) -> Any:
    def call(*args: Any) -> int:
        return identity.outward(real(*map(identity.inward, args)))

    call.__name__ = call.__qualname__ = real.__name__
    return call


def _taken(real: Any, identity: Identity) -> Any:
    def call(pid: int, signal: int, /) -> None:
        real(identity.inward(pid), signal)

    call.__name__ = call.__qualname__ = real.__name__
    return call
