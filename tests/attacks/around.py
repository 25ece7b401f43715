"""Observes the machine from before an attack until all that it started should have ended."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.attacks.observe import Observer, listening, new_listeners, processes
from tests.attacks.scene import Scene, digest

_SOON = 10.0
"""Seconds in which the last process of an attack must end, on a busy machine."""


@dataclass(frozen=True)
class Around:
    """Observations of the machine during and after an attack."""

    took: float
    """Seconds until the result was available."""
    seen: Observer
    before: dict[str, str]
    """Digests of folders before."""
    survivors: set[int]
    listeners: set[str]
    """Addresses on which a socket listens that did not before."""


class Lookout:
    """Observes the machine during an attack; must be made before it.

    Args:
        scene: The scene whose folders are watched.
    """

    def __init__(self, scene: Scene) -> None:
        watched = (scene.home, scene.outside, scene.workspace)
        self._before = {str(folder): digest(folder) for folder in watched}
        self._were, self._listened = processes(), listening()
        self._observer = Observer()
        self._started = time.monotonic()
        self._took = 0.0

    def over(self) -> None:
        """Note that the result is available."""
        self._took = time.monotonic() - self._started

    def stop(self, ours: Callable[[], set[int]] = set) -> Around:
        """Observe a last time, and end the processes that are left.

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
    """The processes that remain after a while, without ended ones and our own."""
    deadline = time.monotonic() + _SOON
    while left := {pid for pid in found() if not _buried(pid)}:
        if time.monotonic() > deadline:
            break
        time.sleep(0.02)
    return left


def _buried(pid: int) -> bool:
    """Whether a process has ended."""
    with contextlib.suppress(OSError):
        state = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b") ")[2][:1]
        if state == b"Z":
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
        return state == b"Z"
    return True


@contextlib.contextmanager
def adopting() -> Iterator[None]:
    """Make orphaned descendants children of this process during the block, so that none escapes."""
    if sys.platform != "linux":
        yield
        return
    from quizlog_tui.sandbox.inside import kernel

    kernel.prctl(kernel.SET_CHILD_SUBREAPER, 1)
    try:
        yield
    finally:
        kernel.prctl(kernel.SET_CHILD_SUBREAPER, 0)
