"""What quizlog asks a quiz process to run: plain fields, as parsing JSON would need imports."""

from __future__ import annotations

import os
from typing import NamedTuple


class Job(NamedTuple):
    """A script and the world it shall find. The order is that of `quizlog_tui.replay.process`."""

    path: str
    """The script, absolute."""
    name: str
    """Its file name."""
    seed: int
    memory: int
    """Bytes of data it may use; 0 for no bound."""
    start: int
    """Where the clocks start: nanoseconds since the epoch."""
    tick: int
    """Nanoseconds by which a reading advances them."""
    at: str
    """Another path at which the script shall find its folder; empty for its own."""
    kept: str
    """A folder that takes what the script writes; empty to forget it."""
    asked: frozenset[str]
    """What the script asked for: `real-clock`, `real-network`, `real-environment`."""
    changed: frozenset[str]
    """The conditions that shall be other than usual."""
    hidden: tuple[str, ...]
    """Files that shall not be there, where left over files are such a condition."""
    environment: tuple[str, ...]
    """Variables, `NAME=value`, beyond the fixed ones."""
    source: bytes
    """The script's bytes."""

    @classmethod
    def of(cls, fields: list[bytes]) -> Job:
        """The job in a message."""
        *fixed, source = fields
        path, name, seed, memory, start, tick, at, kept, *lists = map(os.fsdecode, fixed)
        asked, changed, hidden, environment = (tuple(_texts(packed)) for packed in lists)
        return cls(
            path,
            name,
            int(seed),
            int(memory),
            int(start),
            int(tick),
            at,
            kept,
            frozenset(asked),
            frozenset(changed),
            hidden,
            environment,
            source,
        )


def _texts(packed: str) -> list[str]:
    return packed.split("\0") if packed else []
