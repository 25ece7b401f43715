"""Measures processes, memory and disk use of this process's tree while an attack runs."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Collection
from pathlib import Path
from threading import Event, Thread

from quizlog_tui.files.scratch import owned_by
from quizlog_tui.sandbox import usage
from quizlog_tui.sandbox.box import NOBODY

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
        memory = usage.private_shares(pids) + _shared()
        return usage.usage(pids).processes, memory, own.resident, on_disk(pids)


def on_disk(pids: list[int]) -> int:
    """Bytes in these processes' temporary folders, and in all other files they have open.

    The free space of the disk would not show it, as other programs write to it too.
    """
    folders = owned_by(pids)
    devices = {os.stat(place).st_dev for place in _PLACES if os.path.isdir(place)}
    inside = tuple(f"{folder}/" for folder in folders)
    others = (
        file.size
        for file in usage.open_files(pids)
        if file.device in devices and not (file.named and file.path.startswith(inside))
    )
    return sum(usage.below(folder, _ENOUGH) for folder in folders) + sum(others)


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
