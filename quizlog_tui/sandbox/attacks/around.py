"""What is seen around an attack, from before it begins until all that it started should be gone."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from .observe import Observer, listening, new_listeners, processes
from .scene import Scene, digest

_SOON = 10.0
"""Seconds within which, on a busy machine, the last process of an attack must be gone."""


@dataclass(frozen=True)
class Around:
    """What the machine showed while an attack ran, and after it."""

    took: float
    """Seconds until the result was there."""
    seen: Observer
    before: dict[str, str]
    """Digests of folders before."""
    survivors: set[int]
    listeners: set[str]
    """Addresses that were not listened on before."""


class Lookout:
    """Looks at the machine while an attack runs; made before it.

    Args:
        scene: Whose folders are watched.
    """

    def __init__(self, scene: Scene) -> None:
        watched = (scene.home, scene.outside, scene.workspace)
        self._before = {str(folder): digest(folder) for folder in watched}
        self._were, self._listened = processes(), listening()
        self._observer = Observer()
        self._started = time.monotonic()
        self._took = 0.0

    def over(self) -> None:
        """The result is there."""
        self._took = time.monotonic() - self._started

    def stop(self, ours: Callable[[], set[int]] = set) -> Around:
        """Look a last time, when all should be gone; end what is left.

        Args:
            ours: Processes that may stay.
        """
        self._observer.stop()
        survivors = _left(lambda: processes() - self._were - ours())
        listeners = new_listeners(self._listened)
        for pid in survivors:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        return Around(self._took, self._observer, self._before, survivors, listeners)


def _left(found: Callable[[], set[int]]) -> set[int]:
    """The processes that are still there after a while, those that ended and were ours aside."""
    deadline = time.monotonic() + _SOON
    while left := {pid for pid in found() if not _buried(pid)}:
        if time.monotonic() > deadline:
            break
        time.sleep(0.02)
    return left


def _buried(pid: int) -> bool:
    """Whether a process has ended; then nothing is left of it."""
    with contextlib.suppress(OSError):
        state = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b") ")[2][:1]
        if state == b"Z":
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
        return state == b"Z"
    return True


@contextlib.contextmanager
def adopting() -> Iterator[None]:
    """While it is entered, orphans below this process become its children: none slips away."""
    if sys.platform != "linux":
        yield
        return
    from ..inside import kernel

    kernel.prctl(kernel.SET_CHILD_SUBREAPER, 1)
    try:
        yield
    finally:
        kernel.prctl(kernel.SET_CHILD_SUBREAPER, 0)
