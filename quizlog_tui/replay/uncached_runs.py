"""Replays without a cache, alone or in parallel, that can be cancelled all at once.

Used by everything that judges scripts and records.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from ..errors import CancelledError
from .parallel import run_parallel, wait_for_result
from .process.limits import Limits
from .replayer import Replayer
from .script.source import Source
from .transcript import Transcript
from .tree import Node
from .tree_walk import Outcome, TreeWalk
from .world import World

T = TypeVar("T")
R = TypeVar("R")


class UncachedRuns:
    """Replays without a cache that can be cancelled all at once.

    Args:
        limits: Bounds on each script.
    """

    def __init__(self, limits: Limits | None = None) -> None:
        self._limits = limits
        self._running: set[Replayer] = set()
        self._walks: set[TreeWalk] = set()
        self._over = False

    def replay(self, source: Source, world: World, inputs: Sequence[str]) -> Transcript:
        """A fresh run.

        Raises:
            LimitError: The script exceeded a limit.
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

    def walk(
        self, source: Source, worlds: Sequence[World], tree: Node
    ) -> Iterator[tuple[int, list[Outcome]]]:
        """Fresh runs of many lists of answers in several worlds: one walk in each, in parallel.

        Args:
            source: The script.
            worlds: The worlds.
            tree: The tree of the lists of answers.

        Yields:
            The index of a list, and its outcome in each world.

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
                    wait_for_result(future)
                    for future in [pool.submit(next, walk) for walk in walks]
                ]
                yield pairs[0][0], [outcome for _, outcome in pairs]
        finally:
            for walk in walks:
                walk.cancel()
            pool.shutdown()
            self._walks.difference_update(walks)
            for walk in walks:
                walk.close()

    def run_parallel(
        self, function: Callable[[T], R], items: Iterable[T], workers: int
    ) -> Iterator[R]:
        """The results of a function that replays, for each item in order.

        Args:
            function: Called in threads.
            items: Its arguments.
            workers: Maximum number of concurrent calls.

        Raises:
            CancelledError: `give_up` was called, or the caller stopped waiting.
        """
        return run_parallel(function, items, workers, self.give_up)

    def give_up(self) -> None:
        """Cancel all running replays, and refuse new ones."""
        self._over = True
        for walk in list(self._walks):
            walk.cancel()
        while self._running:  # a process that is just starting is cancelled in the next round
            for replayer in list(self._running):
                replayer.cancel()
            time.sleep(0.01)
