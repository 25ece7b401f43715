"""What the machine shows while an attack runs: processes, memory and disk of all that is ours."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Collection
from pathlib import Path
from threading import Event, Thread

from ...files.scratch import owned_by
from .. import watch
from ..levels import NOBODY

_EVERY = 0.02
_ENOUGH = 8 << 30
"""Bytes of a folder beyond which nobody counts."""
_PLACES = (tempfile.gettempdir(), "/var/tmp", "/dev/shm")


class Observer:
    """Samples until stopped; then its attributes hold the greatest growth of each."""

    def __init__(self) -> None:
        self.tasks = 0
        """Threads below this process that were not there before."""
        self.memory = 0
        """Bytes of our tree of processes and of files in memory."""
        self.resident = 0
        """Bytes resident in this process."""
        self.disk = 0
        """Bytes that our tree of processes wrote to file systems that everybody may write to."""
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
        pids = watch.tree(os.getpid())
        own = watch.usage([os.getpid()])
        memory = watch.private_shares(pids) + _shared()
        return watch.usage(pids).processes, memory, own.resident, on_disk(pids)


def on_disk(pids: list[int]) -> int:
    """Bytes in these processes' folders for temporary files, and of all other files they have open.

    How full the disk is tells nothing: neighbours write to it too.
    """
    folders = owned_by(pids)
    devices = {os.stat(place).st_dev for place in _PLACES if os.path.isdir(place)}
    inside = tuple(f"{folder}/" for folder in folders)
    others = (
        file.size
        for file in watch.open_files(pids)
        if file.device in devices and not (file.named and file.path.startswith(inside))
    )
    return sum(watch.below(folder, _ENOUGH) for folder in folders) + sum(others)


def _shared() -> int:
    """Bytes of memory files and shared segments on the machine."""
    for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
        if line.startswith("Shmem:"):
            return int(line.split()[1]) * 1024
    return 0


def processes() -> set[int]:
    """This process's descendants."""
    return set(watch.tree(os.getpid()))


def listening() -> dict[str, str]:
    """The sockets on which this user, or nobody, listens on this machine: address by number."""
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
    """Addresses on which somebody listens since, and no process of a neighbour.

    Args:
        before: Numbers of the sockets on which somebody listened then.
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
