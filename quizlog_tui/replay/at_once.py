"""How many runs this machine can bear at once: as many as it has cores, and memory for."""

from __future__ import annotations

import os

from .process.process import Limits


def at_once(limits: Limits, processes: int = 1) -> int:
    """How many jobs may be at work at once; at least one.

    One on each core that this process may use, and no more than fit into the memory that is
    available if each run takes all that it may.

    Args:
        limits: Bounds on each run.
        processes: Number of runs that each job holds in memory, though it mostly waits for some.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    available = memory_sizes().get("MemAvailable", 0)
    fit = available // (processes * limits.memory) if available and limits.memory else cores
    return max(1, min(cores or 1, fit or 1))


def memory_sizes() -> dict[str, int]:
    """The system's figures about its memory, in bytes, by their names; empty if unknown."""
    try:
        with open("/proc/meminfo") as file:
            words = [line.split() for line in file]
    except OSError:
        return {}
    return {line[0].rstrip(":"): int(line[1]) * 1024 for line in words if len(line) > 1}
