"""Observes the machine from before an attack until all that it started should have ended.

An `Observer` measures processes, memory and disk use of this process's tree; a `MachineWatch` also
compares folders, processes and listeners before and after.
"""

from __future__ import annotations

import contextlib
import glob
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread

from quizlog_tui.sandbox import usage
from quizlog_tui.sandbox.box import NOBODY
from tests.attacks.scene import Scene, digest

_SOON = 10.0
"""Seconds in which the last process of an attack must end, on a busy machine."""
_EVERY = 0.02
_ENOUGH = 8 << 30
"""Bytes in a folder at which counting stops."""
_PLACES = (tempfile.gettempdir(), "/var/tmp", "/dev/shm")


class Observer:
    """Takes samples until stopped; its attributes then hold the greatest growth of each value."""

    def __init__(self) -> None:
        self.tasks = 0
        """Number of additional threads in descendants of this process."""
        self.memory = 0
        """Bytes of memory of the process tree and of files in memory."""
        self.resident = 0
        """Bytes of resident memory of this process."""
        self.disk = 0
        """Bytes that the process tree wrote to file systems that everybody may write to."""
        self._before = self._now()
        self._done = Event()
        self._thread = Thread(target=self._sample, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Take the last sample."""
        self._done.set()
        self._thread.join()

    def _sample(self) -> None:
        last = False
        while not last:
            last = self._done.wait(_EVERY)
            now = self._now()
            growth = [value - before for value, before in zip(now, self._before, strict=True)]
            self.tasks = max(self.tasks, growth[0])
            self.memory = max(self.memory, growth[1])
            self.resident = max(self.resident, growth[2])
            self.disk = max(self.disk, growth[3])

    @staticmethod
    def _now() -> tuple[int, int, int, int]:
        pids = usage.tree(os.getpid())
        own = usage.usage([os.getpid()])
        memory = sum(map(_private, pids)) + _shared()
        return usage.usage(pids).processes, memory, own.resident, on_disk(pids)


def on_disk(pids: list[int]) -> int:
    """Bytes in these processes' temporary folders, and in all other files they have open.

    The free space of the disk would not show it, as other programs write to it too.
    """
    owners = tuple(f".{pid}-" for pid in pids)
    made = glob.glob(f"{tempfile.gettempdir()}/quizlog.*")
    folders = [one for one in made if any(each in os.path.basename(one) for each in owners)]
    devices = {os.stat(place).st_dev for place in _PLACES if os.path.isdir(place)}
    inside = tuple(f"{folder}/" for folder in folders)
    others = (
        file.size
        for file in usage.open_files(pids)
        if file.device in devices and not (file.named and file.path.startswith(inside))
    )
    return sum(usage.below(folder, _ENOUGH) for folder in folders) + sum(others)


def _private(pid: int) -> int:
    """Bytes of a process in memory and swap, without files in memory and shared segments."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_bytes().splitlines()
    except OSError:
        return usage.usage([pid]).resident  # it forbids this; then all that it maps counts
    kinds = (b"Pss_Anon:", b"Pss_File:", b"SwapPss:")
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(kinds))


def _shared() -> int:
    """Bytes of memory files and shared segments on the machine."""
    for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
        if line.startswith("Shmem:"):
            return int(line.split()[1]) * 1024
    return 0


def processes() -> set[int]:
    """This process's descendants."""
    return set(usage.tree(os.getpid()))


def listening() -> dict[str, str]:
    """The listening sockets of this user and of `nobody`: addresses by inode number."""
    users = {str(os.getuid()), str(NOBODY)}
    found: dict[str, str] = {}
    for name in ("tcp", "tcp6"):
        try:
            lines = Path("/proc/net", name).read_text(encoding="ascii").splitlines()[1:]
        except OSError:
            continue
        for fields in map(str.split, lines):
            if fields[3] == "0A" and fields[7] in users:
                found[fields[9]] = fields[1]
    return found


def new_listeners(before: Collection[str]) -> set[str]:
    """Addresses on which a process listens since then that is not a stranger's.

    Args:
        before: Inode numbers of the sockets that listened before.
    """
    found = {n: a for n, a in listening().items() if n not in before and not held_elsewhere(n)}
    return {found[n] for n in found.keys() & listening().keys()}  # a neighbour may have closed its


def held_elsewhere(number: str) -> bool:
    """Whether a process that does not descend from this one holds a socket."""
    ours = processes()
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) in ours:
            continue
        try:
            folder = f"/proc/{name}/fd"
            links = [os.readlink(f"{folder}/{fd}") for fd in os.listdir(folder)]
        except OSError:
            continue
        if f"socket:[{number}]" in links:
            return True
    return False


@dataclass(frozen=True)
class Observations:
    """Observations of the machine during and after an attack."""

    took: float
    """Seconds until the result was available."""
    seen: Observer
    before: dict[str, str]
    """Digests of folders before."""
    survivors: set[int]
    listeners: set[str]
    """Addresses on which a socket listens that did not before."""


class MachineWatch:
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

    def stop(self, ours: Callable[[], set[int]] = set) -> Observations:
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
        return Observations(self._took, self._observer, self._before, survivors, listeners)


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
