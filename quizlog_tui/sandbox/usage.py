"""Measures what a run uses: memory, processor time and processes of its tree, and disk space.

Linux only; elsewhere all values are 0. Memory is the sum of proportional shares, computed only if
the cheap upper bound exceeds the limit.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass

from ..files.process import children

_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
_TICK = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
_BYTES_AN_INODE = 1024
"""Bytes of kernel memory for an empty file in memory."""


@dataclass(frozen=True)
class _Usage:
    """What a process tree uses at one moment."""

    processes: int
    """Number of threads of all processes."""
    cpu: float
    """Seconds of processor time, ended children included."""
    resident: int
    """Bytes of memory, with shared ones counted for each process."""


@dataclass(frozen=True)
class _OpenFile:
    """A regular file that a process has open."""

    path: str
    """The path as that process sees it."""
    device: int
    size: int
    """Bytes on disk."""
    named: bool
    """Whether it still has a name."""


def tree(root: int) -> list[int]:
    """The ids of a process and all its visible descendants."""
    found, waiting = [root], [root]
    while waiting:
        pid = waiting.pop()
        started = children(pid)
        found += started
        waiting += started
    return found


def usage(pids: list[int]) -> _Usage:
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
    return _Usage(processes, cpu, resident)


def shares(pids: list[int]) -> int:
    """Bytes of these processes in memory and swap; shared ones are divided among their users."""
    total = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/smaps_rollup", "rb") as file:
                lines = file.read().splitlines()
        except OSError:
            # A process can forbid this; then all that it maps counts.
            total += usage([pid]).resident
            continue
        for line in lines:
            if line.startswith((b"Pss:", b"SwapPss:")):
                total += int(line.split()[1]) * 1024
    return total


def written(folders: list[str]) -> int:
    """Bytes used in file systems that only the run uses."""
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
    """Bytes on disk of removed files that these processes still have open."""
    return sum(file.size for file in open_files(pids) if not file.named)


def open_files(pids: list[int]) -> set[_OpenFile]:
    """The regular files that these processes have open, each once."""
    found: dict[tuple[int, int], _OpenFile] = {}
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
                file = _OpenFile(path, about.st_dev, about.st_blocks * 512, about.st_nlink > 0)
                found[about.st_dev, about.st_ino] = file
    return set(found.values())


def below(folder: str, enough: int) -> int:
    """Bytes on disk below a folder, counted file by file; stops at `enough`."""
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
