"""Looks at what a run uses: memory, processor time and processes of its tree, bytes on its disk.

Linux only; elsewhere nothing can be seen. Memory is the sum of proportional shares, taken only
when the cheap upper bound goes over the limit.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass

_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
_TICK = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
_BYTES_AN_INODE = 1024
"""Memory of the kernel for an empty file in memory."""


@dataclass(frozen=True)
class Usage:
    """What a tree of processes uses at one moment."""

    processes: int
    """Threads of all processes."""
    cpu: float
    """Seconds, those of children that ended included."""
    resident: int
    """Bytes, shared ones counted once for each process."""


@dataclass(frozen=True)
class OpenFile:
    """A regular file that a process has open."""

    path: str
    """As that process sees it."""
    device: int
    size: int
    """Bytes on its disk."""
    named: bool
    """Whether it has a name still."""


def tree(root: int) -> list[int]:
    """A process and all its descendants, as far as they can be seen."""
    found, waiting = [root], [root]
    while waiting:
        pid = waiting.pop()
        children = _children(pid)
        found += children
        waiting += children
    return found


def _children(pid: int) -> list[int]:
    found: list[int] = []
    try:
        threads = os.listdir(f"/proc/{pid}/task")
        for thread in threads:
            with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
                found += [int(word) for word in file.read().split()]
    except OSError:
        pass
    return found


def usage(pids: list[int]) -> Usage:
    """What these processes use."""
    processes, cpu, resident = 0, 0.0, 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:
                fields = file.read().rpartition(b") ")[2].split()
        except OSError:
            continue
        processes += int(fields[17])
        cpu += sum(int(field) for field in fields[11:15]) / _TICK
        resident += int(fields[21]) * _PAGE
    return Usage(processes, cpu, resident)


def shares(pids: list[int]) -> int:
    """Bytes these processes hold in memory and swap, what they share divided among its holders."""
    return _shares(pids, (b"Pss:", b"SwapPss:"))


def private_shares(pids: list[int]) -> int:
    """Those of `shares` that are no files in memory and no segments that can be shared."""
    return _shares(pids, (b"Pss_Anon:", b"Pss_File:", b"SwapPss:"))


def _shares(pids: list[int], kinds: tuple[bytes, ...]) -> int:
    total = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/smaps_rollup", "rb") as file:
                lines = file.read().splitlines()
        except OSError:
            # A process can close itself to such questions; it then answers for all it maps.
            total += usage([pid]).resident
            continue
        for line in lines:
            if line.startswith(kinds):
                total += int(line.split()[1]) * 1024
    return total


def written(folders: list[str]) -> int:
    """Bytes in file systems that belong to the run alone."""
    total, seen = 0, set()
    for folder in folders:
        try:
            state, device = os.statvfs(folder), os.stat(folder).st_dev
        except OSError:
            continue
        if device not in seen:
            seen.add(device)
            total += (state.f_blocks - state.f_bfree) * state.f_frsize
            total += (state.f_files - state.f_ffree) * _BYTES_AN_INODE
    return total


def unnamed(pids: list[int]) -> int:
    """Bytes on disk of files that were removed while these processes have them open."""
    return sum(file.size for file in open_files(pids) if not file.named)


def open_files(pids: list[int]) -> set[OpenFile]:
    """The regular files that these processes have open, each once."""
    found: dict[tuple[int, int], OpenFile] = {}
    for pid in pids:
        try:
            names = os.listdir(f"/proc/{pid}/fd")
        except OSError:
            continue
        for name in names:
            link = f"/proc/{pid}/fd/{name}"
            try:
                path, about = os.readlink(link), os.stat(link)
            except OSError:
                continue
            if stat.S_ISREG(about.st_mode):
                file = OpenFile(path, about.st_dev, about.st_blocks * 512, about.st_nlink > 0)
                found[about.st_dev, about.st_ino] = file
    return set(found.values())


def below(folder: str, enough: int) -> int:
    """Bytes on disk below a folder that shares its file system with others; stops at `enough`."""
    total, waiting = 0, [folder]
    while waiting and total < enough:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    total += entry.stat(follow_symlinks=False).st_blocks * 512 + _BYTES_AN_INODE
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        except OSError:
            continue
    return total
