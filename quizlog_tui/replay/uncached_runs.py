"""Replays without a cache, alone or in parallel, that can be cancelled all at once.

Used by everything that judges scripts and records. Calls in parallel react to Ctrl-C at once.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TypeVar

from ..errors import CancelledError, QuizlogError
from .process.process import Limits
from .script.source import Source
from .transcript import Transcript
from .tree_walk import Node, Outcome, TreeWalk, tree_of
from .world import World

T = TypeVar("T")
R = TypeVar("R")


class UncachedRuns:
    """Replays without a cache that can be cancelled all at once.

    Args:
        limits: Bounds on each script.
    """

    def __init__(self, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()
        self._walks: set[TreeWalk] = set()
        self._over = False

    def replay(self, source: Source, world: World, inputs: Sequence[str]) -> Transcript:
        """A fresh run.

        Raises:
            LimitError: The script exceeded a limit.
            CancelledError: `give_up` was called.
        """
        with self._begun(source, [world], tree_of([inputs])) as [walk]:
            _, outcome = next(walk)
        if isinstance(outcome, QuizlogError):
            raise outcome
        return outcome

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
        with self._begun(source, worlds, tree) as walks:
            pool = ThreadPoolExecutor(len(walks))
            try:
                for _ in range(tree.count):
                    pairs = [
                        _result(future) for future in [pool.submit(next, walk) for walk in walks]
                    ]
                    yield pairs[0][0], [outcome for _, outcome in pairs]
            finally:
                for walk in walks:
                    walk.cancel()
                pool.shutdown()

    @contextlib.contextmanager
    def _begun(
        self, source: Source, worlds: Sequence[World], tree: Node
    ) -> Iterator[list[TreeWalk]]:
        """Walks through a tree, one in each world, that `give_up` cancels; closed at the end."""
        walks = [TreeWalk(source, world, tree, self._limits) for world in worlds]
        self._walks.update(walks)
        try:
            if self._over:
                raise CancelledError("given up")
            yield walks
        finally:
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


def run_parallel(
    function: Callable[[T], R], items: Iterable[T], workers: int, give_up: Callable[[], None]
) -> Iterator[R]:
    """The results of a function for each item, in the order of the items.

    Args:
        function: Called in threads.
        items: Its arguments.
        workers: Maximum number of concurrent calls.
        give_up: Called when the caller stops waiting; must make running calls end soon.
    """
    pool = ThreadPoolExecutor(workers)
    try:
        for future in [pool.submit(function, item) for item in items]:
            yield _result(future)
    except (KeyboardInterrupt, GeneratorExit):
        pool.shutdown(wait=False, cancel_futures=True)
        give_up()
        raise
    finally:
        pool.shutdown()


def _result(future: Future[R]) -> R:
    """The result of a call. Waits in slices, as a Ctrl-C just before an endless wait is missed."""
    while not wait([future], timeout=0.2).done:
        pass
    return future.result()
