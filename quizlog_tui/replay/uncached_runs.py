"""Replays without a cache, alone or in parallel, that can be cancelled all at once.

Used by everything that judges scripts and records. Calls in parallel react to Ctrl-C at once.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import TypeVar

from ..errors import QuizlogError
from .at_once import at_once
from .process.process import Limits
from .script.source import Source
from .transcript import Transcript
from .tree_walk import Node, Outcome, tree_of
from .walkers import Walks, result_of
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
        self._walks = Walks(self._limits)

    def at_once(self, processes: int = 1) -> int:
        """How many jobs may be at work at once on this machine, each with so many processes."""
        return at_once(self._limits, processes)

    def replay(self, source: Source, world: World, inputs: Sequence[str]) -> Transcript:
        """A fresh run.

        Raises:
            LimitError: The script exceeded a limit.
            CancelledError: `give_up` was called.
        """
        with closing(self.walk(source, [world], tree_of([inputs]))) as walk:
            _, [outcome] = next(walk)
        if isinstance(outcome, QuizlogError):
            raise outcome
        return outcome

    def walk(
        self, source: Source, worlds: Sequence[World], tree: Node
    ) -> Generator[tuple[int, list[Outcome]]]:
        """Fresh runs of many lists of answers in several worlds, in any order.

        Args:
            source: The script.
            worlds: The worlds.
            tree: The tree of the lists of answers.

        Yields:
            The index of a list, and its outcome in each world.

        Raises:
            CancelledError: `give_up` was called.
        """
        yield from self._walks.through(source, worlds, tree)

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
        self._walks.give_up()


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
            yield result_of(future)
    except (KeyboardInterrupt, GeneratorExit):
        pool.shutdown(wait=False, cancel_futures=True)
        give_up()
        raise
    finally:
        pool.shutdown()
