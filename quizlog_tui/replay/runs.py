"""Replays of which nothing is kept, alone or side by side, that can be given up all at once.

What judges scripts and records runs them by this. Knows nothing of what is judged.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from ..errors import CancelledError
from .abreast import result_of, side_by_side
from .process.limits import Limits
from .replayer import Replayer
from .script.source import Source
from .transcript import Transcript
from .tree import Node
from .tree_walk import Outcome, TreeWalk
from .world import World

T = TypeVar("T")
R = TypeVar("R")


class Runs:
    """Replays of which nothing is kept, and which can be given up all at once.

    Args:
        limits: What each may use.
    """

    def __init__(self, limits: Limits | None = None) -> None:
        self._limits = limits
        self._running: set[Replayer] = set()
        self._walks: set[TreeWalk] = set()
        self._over = False

    def replay(self, source: Source, world: World, inputs: Sequence[str]) -> Transcript:
        """A fresh run.

        Raises:
            LimitError: The script went over a limit.
            CancelledError: `give_up` was called.
        """
        with Replayer(self._limits, checkpoints=0) as replayer:
            self._running.add(replayer)
            try:
                if self._over:
                    raise CancelledError("given up")
                return replayer.replay(source, world, inputs)
            finally:
                self._running.discard(replayer)

    def walked(
        self, source: Source, worlds: Sequence[World], tree: Node
    ) -> Iterator[tuple[int, list[Outcome]]]:
        """Fresh runs of many lines of answers, in several worlds: one walk in each, side by side.

        Args:
            source: The script.
            worlds: What it finds.
            tree: The lines.

        Yields:
            The index of a line, and what it leads to in each world.

        Raises:
            CancelledError: `give_up` was called.
        """
        walks = [TreeWalk(source, world, tree, self._limits or Limits()) for world in worlds]
        self._walks.update(walks)
        pool = ThreadPoolExecutor(len(walks))
        try:
            if self._over:
                raise CancelledError("given up")
            for _ in range(tree.count):
                pairs = [
                    result_of(future) for future in [pool.submit(next, walk) for walk in walks]
                ]
                yield pairs[0][0], [outcome for _, outcome in pairs]
        finally:
            for walk in walks:
                walk.cancel()
            pool.shutdown()
            self._walks.difference_update(walks)
            for walk in walks:
                walk.close()

    def side_by_side(
        self, function: Callable[[T], R], items: Iterable[T], workers: int
    ) -> Iterator[R]:
        """What a function that replays makes of each item, in their order.

        Args:
            function: Called in threads.
            items: Its arguments.
            workers: How many at a time.

        Raises:
            CancelledError: The runs were given up: by `give_up`, or as nobody waits any more.
        """
        return side_by_side(function, items, workers, self.give_up)

    def give_up(self) -> None:
        """End what is running, and refuse more."""
        self._over = True
        for walk in list(self._walks):
            walk.cancel()
        while self._running:  # a process that is just starting is met the next time round
            for replayer in list(self._running):
                replayer.cancel()
            time.sleep(0.01)
