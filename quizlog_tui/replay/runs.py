"""Replays of which nothing is kept, alone or side by side, that can be given up all at once.

What judges scripts and records runs them by this. Knows nothing of what is judged.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TypeVar

from ..errors import CancelledError
from .limits import Limits
from .replayer import Replayer
from .source import Source
from .transcript import Transcript
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
        pool = ThreadPoolExecutor(workers)
        try:
            for future in [pool.submit(function, item) for item in items]:
                # In slices: a Ctrl-C just before an endless wait would be noticed after it.
                while not wait([future], timeout=0.2).done:
                    pass
                yield future.result()
        except (KeyboardInterrupt, GeneratorExit):
            pool.shutdown(wait=False, cancel_futures=True)
            self.give_up()
            raise
        finally:
            pool.shutdown()

    def give_up(self) -> None:
        """End what is running, and refuse more."""
        self._over = True
        while self._running:  # a process that is just starting is met the next time round
            for replayer in list(self._running):
                replayer.cancel()
            time.sleep(0.01)
