"""A pool of replayers, one for each script and seed, with a limit on all their processes.

Runs of different scripts or seeds have nothing in common, so each pair has its own replayer: all
sessions of the pair share its cached runs, and a slow script delays no other. Evicting a replayer
ends its processes and changes no reply. Thread-safe.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from weakref import WeakValueDictionary

from ..errors import CancelledError
from ..replay.at_once import memory_sizes
from ..replay.process.process import Limits
from ..replay.replayer import Replayer

PROCESSES = 4096
"""Maximum number of runs and checkpoints of all replayers together."""
_SPARE_MEMORY = 0.08
"""Share of the machine's memory; replayers are evicted while less is available."""
CHECKPOINT_MEMORY = 128 * 1024 * 1024
"""Maximum memory of one replayer's checkpoints, in bytes."""

Key = tuple[Path, int]
"""A script and a seed."""


class Slot:
    """A replayer, how many processes it holds, and how many callers use it."""

    def __init__(self, key: Key, runs: int, limits: Limits | None) -> None:
        self.key = key
        self.replayer = Replayer(limits, runs=runs, checkpoint_memory=CHECKPOINT_MEMORY)
        self.held = 0
        self.users = 0


class ReplayerPool:
    """All replayers of a server.

    Args:
        processes: Maximum number of runs and checkpoints at once.
        limits: Bounds on each script; None for the default ones.
    """

    def __init__(self, processes: int = PROCESSES, limits: Limits | None = None) -> None:
        self._most = processes
        self.limits = limits
        """Bounds on each script; None for the default ones."""
        self._known: WeakValueDictionary[Key, Slot] = WeakValueDictionary()
        self._warm: OrderedDict[Key, Slot] = OrderedDict()
        self._lock = threading.Lock()
        self._ending = False
        self.processes = 0
        """Number of runs and checkpoints held now."""

    def slot(self, script: Path, seed: int) -> Slot:
        """The replayer of a script and seed; it exists while it has processes or is referenced."""
        key = (script, seed)
        with self._lock:
            slot = self._known.get(key)
            if slot is None:
                slot = self._known[key] = Slot(key, self._most, self.limits)
            return slot

    @contextmanager
    def using(self, slot: Slot) -> Iterator[Replayer]:
        """Use a replayer; afterwards evict others if there are too many processes.

        Raises:
            CancelledError: The server is ending.
        """
        before = slot.held
        with self._lock:
            if self._ending:
                raise CancelledError("the server is ending", hint="ask again when it is back")
            slot.users += 1
            self._warm[slot.key] = slot
            self._warm.move_to_end(slot.key)
        try:
            yield slot.replayer
        finally:
            with self._lock:
                slot.users -= 1
                self._count(slot)
            if slot.held > before:
                self.evict()

    def _count(self, slot: Slot) -> None:
        """Update the counts of a replayer's processes."""
        before, slot.held = slot.held, slot.replayer.processes
        self.processes += slot.held - before
        if not slot.held and not slot.users:
            self._warm.pop(slot.key, None)

    def evict(self) -> None:
        """End the processes of the least recently used replayers until few enough are left."""
        while self.processes > self._most or _memory_is_short():
            with self._lock:
                idle = (slot for slot in self._warm.values() if not slot.users and slot.held)
                coldest = next(idle, None)
                if coldest is None:
                    return
                del self._warm[coldest.key]
                self.processes -= coldest.held
                coldest.held = 0
            coldest.replayer.close()

    def stop(self, slot: Slot) -> None:
        """Cancel the run of a replayer that has only one user."""
        with self._lock:
            alone = slot.users == 1
        if alone:
            slot.replayer.cancel()

    def end(self) -> None:
        """Refuse new runs and cancel the present ones."""
        with self._lock:
            self._ending = True
        self.cancel()

    def cancel(self) -> None:
        """Cancel all runs."""
        with self._lock:
            slots = list(self._warm.values())
        for slot in slots:
            slot.replayer.cancel()

    def close(self) -> None:
        """End all processes."""
        with self._lock:
            slots = list(self._warm.values())
            self._warm.clear()
            self.processes = 0
        with ThreadPoolExecutor(8) as threads:
            list(threads.map(lambda slot: slot.replayer.close(), slots))


def _memory_is_short() -> bool:
    """Whether the machine has little memory left; False if that is unknown."""
    sizes = memory_sizes()
    available, total = sizes.get("MemAvailable"), sizes.get("MemTotal")
    return bool(available and total) and (available or 0) < _SPARE_MEMORY * (total or 0)
