"""Checkpoints: frozen copies of runs, found by the answers that led to them.

Decides which one serves a list of answers, and which one to drop. A checkpoint is only a shortcut:
without any, every replay gives the same transcript from the script's start.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from ..record.append_only_list import AppendOnlyList
from .process.process import QuizProcess
from .script.needed_files import file_hashes
from .script.source import Source
from .transcript import Transcript
from .world import World

Key = tuple[Path, str, World]
"""Script, hashes of it and of its other files, world. Runs with other keys share nothing."""

# Why a stop is kept as a frozen process, and why the copy is the one that is frozen.
#
# A script cannot be run back, and what it computed cannot be told from outside. To leave `input()`
# by an exception of ours and to run the script again does not work: at 463 places where 104 public
# scripts ask, 36 swallow an `Exception` and 20 even a `BaseException` (a bare `except`, a thread, a
# `finally` that prints more). A process that is blocked in a read is out of the script's reach.
#
# The obvious way to keep it is the wrong one: the copy takes the next answer, and the parent waits
# as the checkpoint. Then each step makes a process that is one deeper than the one before, and what
# the kernel keeps about pages that they share grows with the depth: a step took 0.9 ms after ten
# questions, 5 ms after a hundred and 94 ms after a thousand. With the live process as the parent of
# all its frozen copies a step that takes a checkpoint costs about 0.8 ms, however long the run is.
# Only a rewind goes deeper, as it copies a copy; so that depth is bounded.
MAX_GENERATION = 40
"""Maximum depth of copies of copies: the cost of a fork grows with each generation."""
_CLOCK = count()
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


def key_of(source: Source, seed: int | World) -> Key:
    """The key of runs of a script, with a seed or in a whole world."""
    world = seed if isinstance(seed, World) else World(seed)
    version = " ".join((source.version, *file_hashes(source).values()))
    return source.path, version, world


def can_copy() -> bool:
    """Whether this system can copy a run."""
    return sys.platform == "linux"


@dataclass(eq=False)
class Checkpoint:
    """A frozen process at a question."""

    key: Key
    source: Source
    parent: Checkpoint | None
    """The checkpoint before it on the way from the start, if there is one."""
    answers: AppendOnlyList[str]
    """The answers that led here."""
    transcript: Transcript
    process: QuizProcess
    cost: float
    """Estimated seconds to come here from the start."""
    generation: int
    gap: float
    """Seconds that taking it cost."""
    used: int = field(default_factory=lambda: next(_CLOCK))
    """Time of the last use, as a number that rises with each use."""

    def touch(self) -> None:
        """Note a use."""
        self.used = next(_CLOCK)


class Checkpoints:
    """A bounded set of checkpoints of many scripts.

    Args:
        count: Maximum number of checkpoints; 0 keeps none.
        memory: Maximum bytes of memory that they do not share with their runs.
    """

    def __init__(self, count: int, memory: int) -> None:
        self._count = count
        self._memory = memory
        self._held: list[Checkpoint] = []
        self._unmeasured = 0

    @property
    def enabled(self) -> bool:
        """Whether any may be kept."""
        return self._count > 0

    def __iter__(self) -> Iterator[Checkpoint]:
        return iter(list(self._held))

    def __len__(self) -> int:
        return len(self._held)

    def deepest(self, key: Key, inputs: Sequence[str], beyond: int = -1) -> Checkpoint | None:
        """The checkpoint with the most answers among those on the way to `inputs`.

        Args:
            key: The key of the runs.
            inputs: The answers.
            beyond: The checkpoint must have more than this number of answers.
        """
        near = [one for one in self._held if beyond < len(one.answers) <= len(inputs)]
        near.sort(key=lambda one: len(one.answers), reverse=True)
        fit = (one for one in near if one.answers.agrees(inputs) and one.key == key)
        return next(fit, None)

    def add(self, checkpoint: Checkpoint) -> None:
        """Add a checkpoint, and drop others if there are too many or they are too big."""
        while checkpoint.parent is not None and checkpoint.parent not in self._held:
            checkpoint.parent = checkpoint.parent.parent
        self._held.append(checkpoint)
        while len(self._held) > self._count:
            self.drop(self._victim())
        self._unmeasured += 1
        if self._unmeasured * 4 >= self._count:
            self._unmeasured = 0
            self._shrink()

    def drop(self, checkpoint: Checkpoint) -> None:
        """Drop a checkpoint and end its process."""
        if checkpoint in self._held:
            self._held.remove(checkpoint)
            for one in self._held:
                if one.parent is checkpoint:
                    one.parent = checkpoint.parent
        checkpoint.process.release()

    def clear(self) -> None:
        """Drop all checkpoints."""
        while self._held:
            self.drop(self._held[-1])

    def _shrink(self) -> None:
        """Drop checkpoints until they fit into the memory."""
        if sum(most_private_bytes(one.process.pid) for one in self._held) <= self._memory:
            return  # as nearly always; to know more takes twenty times as long
        sizes = {id(one): private_bytes(one.process.pid) for one in self._held}
        while len(self._held) > 1 and sum(sizes[id(one)] for one in self._held) > self._memory:
            self.drop(self._victim())

    def _victim(self) -> Checkpoint:
        """The checkpoint to drop next; see `least_missed`."""
        return self._held[least_missed(self._held)]


def least_missed(held: Sequence[Checkpoint]) -> int:
    """The index of the checkpoint to drop.

    It is the one that leaves the smallest gap in cost, divided by its rank in order of last use:
    gaps may be wider where nobody has returned to for long.
    """
    following: dict[int, float] = {}
    for one in held:
        before = id(one.parent)
        following[before] = min(one.cost, following.get(before, one.cost))
    by_use = sorted(range(len(held)), key=lambda index: -held[index].used)
    ranks = {index: rank for rank, index in enumerate(by_use)}

    def missed(index: int) -> float:
        one = held[index]
        before = one.parent.cost if one.parent is not None else 0.0
        gap: float = following.get(id(one), one.cost) - before
        return gap / (ranks[index] + 1)

    return min(range(len(held)), key=missed)


def most_private_bytes(pid: int | None) -> int:
    """An upper bound of `private_bytes` for a copy, which shares all files that it has mapped."""
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            _, resident, shared, *_ = map(int, file.read().split())
    except OSError:
        return 0
    return (resident - shared) * _PAGE


def private_bytes(pid: int | None) -> int:
    """Memory that a process shares with no other, in bytes; 0 if that is not known."""
    try:
        with open(f"/proc/{pid}/smaps_rollup") as file:
            lines = [line.split() for line in file if line.startswith("Private_")]
    except OSError:
        return 0
    return sum(int(words[1]) for words in lines) * 1024
