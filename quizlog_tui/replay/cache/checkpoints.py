"""Checkpoints: frozen copies of runs, found by the answers that led to them.

Pure bookkeeping: which one serves a list of answers, which one to give up. A checkpoint is only
ever a shortcut; with none at all every replay gives the same transcript, from the script's start.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, Protocol

from ...record.append_only_list import AppendOnlyList
from ..process.process import QuizProcess
from ..script.source import Source
from ..transcript import Transcript
from ..world import World

Key = tuple[Path, str, World]
"""Script, hash of its bytes, world: runs of different keys have nothing in common."""

MAX_GENERATION = 40
"""Copies of copies of copies: the kernel's cost of a fork grows with each generation."""
_CLOCK = count()


def key_of(source: Source, seed: int | World) -> Key:
    """The key of runs of a script, with a seed or in a whole world."""
    world = seed if isinstance(seed, World) else World(seed)
    return source.path, source.version, world


def possible() -> bool:
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
    """Seconds it would take to come here from the start."""
    generation: int
    gap: float
    """Seconds that taking it cost."""
    used: int = field(default_factory=lambda: next(_CLOCK))
    """Rises with each use."""

    def touch(self) -> None:
        """Note a use."""
        self.used = next(_CLOCK)


class Checkpoints:
    """A bounded set of checkpoints of many scripts.

    Args:
        count: How many to keep; 0 keeps none.
        memory: How many bytes they may hold beyond what their runs share with them.
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
        """The checkpoint that is nearest to the end of `inputs` on the way there.

        Args:
            key: Of which runs.
            inputs: The answers on the way.
            beyond: How many answers it must have more than, or it is of no use.
        """
        near = [one for one in self._held if beyond < len(one.answers) <= len(inputs)]
        near.sort(key=lambda one: len(one.answers), reverse=True)
        fit = (one for one in near if one.answers.agrees(inputs) and one.key == key)
        return next(fit, None)

    def add(self, checkpoint: Checkpoint) -> None:
        """Keep one more, giving up others where that is too many or too much."""
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
        """Give one up and end its process."""
        if checkpoint in self._held:
            self._held.remove(checkpoint)
            for one in self._held:
                if one.parent is checkpoint:
                    one.parent = checkpoint.parent
        checkpoint.process.release()

    def clear(self) -> None:
        """Give all up."""
        while self._held:
            self.drop(self._held[-1])

    def _shrink(self) -> None:
        """Keep within the bound on memory."""
        sizes = {id(one): private_bytes(one.process.pid) for one in self._held}
        while len(self._held) > 1 and sum(sizes[id(one)] for one in self._held) > self._memory:
            self.drop(self._victim())

    def _victim(self) -> Checkpoint:
        """The one that is missed least: see `spare`."""
        return self._held[spare(self._held)]


class Held(Protocol):
    """What is known of a checkpoint when one has to go."""

    @property
    def parent(self) -> Any:
        """The checkpoint before it on the way from the start, if there is one."""

    @property
    def cost(self) -> float:
        """Seconds it would take to come there from the start."""

    @property
    def used(self) -> int:
        """Rises with each use."""


def spare(held: Sequence[Held]) -> int:
    """Which of several checkpoints to give up: its index.

    The one whose absence makes the smallest gap for how long ago it was used: gaps may grow with
    age, and what nobody returns to makes room.
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


def private_bytes(pid: int | None) -> int:
    """Memory that a process shares with no other, in bytes; 0 where that cannot be known."""
    try:
        with open(f"/proc/{pid}/smaps_rollup") as file:
            lines = [line.split() for line in file if line.startswith("Private_")]
    except OSError:
        return 0
    return sum(int(words[1]) for words in lines) * 1024
