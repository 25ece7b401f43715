"""Several walkers through one tree of answers: each takes half of what another has left.

One walker begins. A further one has to start a process and to run again what leads to its part, so
it begins only when a walker has been seen to need clearly longer for what it has left. It takes the
later lists, in the order of that walk, which the walk has not begun: nothing is run in vain. Parts
have processes and folders of their own, so their runs share less than those of one walk.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence
from itertools import accumulate, islice
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from ..errors import CancelledError
from .at_once import at_once
from .process.process import Limits
from .script.source import Source
from .tree_walk import Node, Outcome, TreeWalk, in_order, tree_of_lines
from .world import World

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

# A shell's answer walks through no tree, and need not load what threads need.

R = TypeVar("R")

Found = tuple[int, list[Outcome]]
"""The index of a list of answers, and its outcome in each world."""

_WORTH = 0.3
"""Seconds that a further walker must save: several times what it takes to start."""
_LOOK = 0.3
"""Seconds between looks at whether a further walker pays."""


class Walk:
    """A walk through a tree in each of several worlds, all of them in step."""

    def __init__(self, walks: Sequence[TreeWalk], owner: Walks) -> None:
        self._walks = walks
        self._owner = owner
        from concurrent.futures import ThreadPoolExecutor

        self._pool = ThreadPoolExecutor(len(walks))

    def __iter__(self) -> Iterator[Found]:
        return self

    def __next__(self) -> Found:
        """The next list that came to its end.

        Raises:
            CancelledError: `cancel` was called.
        """
        if len(self._walks) == 1:
            index, outcome = next(self._walks[0])
            return index, [outcome]
        pairs = [result_of(future) for future in [self._pool.submit(next, w) for w in self._walks]]
        return pairs[0][0], [outcome for _, outcome in pairs]

    def cancel(self) -> None:
        """Make a running `next` of another thread, and every later one, raise `CancelledError`."""
        for walk in self._walks:
            walk.cancel()

    def close(self) -> None:
        """End every process."""
        self.cancel()
        self._pool.shutdown()
        for walk in self._walks:
            walk.close()
        self._owner.end(self._walks)


class Work(NamedTuple):
    """What a list of answers takes, in answers; a copy counts as one."""

    alone: int
    """From the start."""
    after: int
    """After the lists before it."""


def works(tree: Node) -> list[Work]:
    """The work for each list of a tree, in the order of a walk."""
    found, left, new = [], [(tree, 0)], 0
    while left:
        here, length = left.pop()
        new += len(here.answers)
        for _ in here.ends:
            found.append(Work(1 + length, 1 + new))
            new = 0
        left += [(below, length + len(below.answers)) for below in reversed(here.by_weight)]
    return found


class _Walker:
    """A walk, and the lists that it has yet to come to."""

    def __init__(self, tree: Node, walk: Walk) -> None:
        self.walk = walk
        self._tree = tree
        self._works = works(tree)
        self._began = time.perf_counter()
        self._ended = 0
        self._work_done = 0

    @property
    def left(self) -> Sequence[Work]:
        """The works of the lists that are left."""
        return self._works[self._ended :]

    def advance(self) -> None:
        """Note that the walk came to the end of its next list."""
        self._work_done += self._works[self._ended].after
        self._ended += 1

    def spare(self) -> tuple[float, int]:
        """Seconds that another walker would save, and the number of lists it would take."""
        left = self.left
        if not self._work_done or len(left) < 2:
            return 0.0, 0
        after = [work.after for work in left]
        kept = halfway(after)
        longest = max(sum(after[:kept]), left[kept].alone + sum(after[kept + 1 :]))
        pace = (time.perf_counter() - self._began) / self._work_done
        return pace * (sum(after) - longest), len(left) - kept

    def give(self, count: int) -> Node:
        """Give away the last lists."""
        end = len(self._works)
        del self._works[end - count :]
        return tree_of_lines(islice(in_order(self._tree), end - count, end))


def halfway(amounts: Sequence[int]) -> int:
    """How many of several amounts make about half of their sum; not none, nor all."""
    half = sum(amounts) / 2
    count = sum(so_far <= half for so_far in accumulate(amounts))
    return min(max(1, count), len(amounts) - 1)


class _Abreast:
    """A walk through a tree by one walker and, where they pay, by further ones."""

    def __init__(self, owner: Walks, source: Source, worlds: Sequence[World]) -> None:
        self._owner = owner
        self._source = source
        self._worlds = worlds
        self._walking: dict[Future[Found], _Walker] = {}
        self._failed: list[Future[Found]] = []
        self._next_look = time.perf_counter() + _LOOK

    def results(self, tree: Node) -> Iterator[Found]:
        """The results in any order; if a walk fails, its error comes after those of the others."""
        from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait

        pool = ThreadPoolExecutor(tree.count)
        try:
            self._add(pool, tree)
            while self._walking:
                # In slices, as a Ctrl-C just before an endless wait is missed.
                done = wait(self._walking, timeout=0.2, return_when=FIRST_COMPLETED).done
                for future in done:
                    yield from self._ended(pool, future)
                self._look(pool)
            for future in self._failed:
                future.result()
        finally:
            self._end(pool)

    def _add(self, pool: ThreadPoolExecutor, tree: Node) -> None:
        walk = self._owner.begin(self._source, self._worlds, tree)
        self._go_on(pool, _Walker(tree, walk))

    def _go_on(self, pool: ThreadPoolExecutor, walker: _Walker) -> None:
        self._walking[pool.submit(next, walker.walk)] = walker

    def _ended(self, pool: ThreadPoolExecutor, future: Future[Found]) -> Iterator[Found]:
        """The result of a call that ended, if any; its walker goes on if it has lists left.

        Raises:
            CancelledError: It was cancelled; a walk that has just begun may not know.
        """
        if isinstance(future.exception(), CancelledError):
            future.result()
        walker = self._walking.pop(future)
        if future.exception() is not None:
            self._failed.append(future)
            walker.walk.close()
            return
        walker.advance()
        if walker.left:
            self._go_on(pool, walker)
        else:
            walker.walk.close()
        yield future.result()

    def _look(self, pool: ThreadPoolExecutor) -> None:
        """Begin a further walker if one pays; it takes most from where that saves most."""
        if time.perf_counter() < self._next_look or not self._walking:
            return
        if not self._owner.may_begin(len(self._worlds)):
            return
        self._next_look = time.perf_counter() + _LOOK
        offers = [(*walker.spare(), walker) for walker in self._walking.values()]
        saved, count, walker = max(offers, key=lambda offer: offer[0])
        if saved >= _WORTH:
            self._add(pool, walker.give(count))

    def _end(self, pool: ThreadPoolExecutor) -> None:
        """End every walk that was abandoned."""
        for walker in self._walking.values():
            walker.walk.cancel()
        pool.shutdown()
        for walker in self._walking.values():
            walker.walk.close()


class Walks:
    """The walks of a replayer: together no more at once than the machine bears, if that pays.

    Args:
        limits: Bounds on each run.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._under_way: list[TreeWalk] = []
        self._over = False

    def through(self, source: Source, worlds: Sequence[World], tree: Node) -> Iterator[Found]:
        """The outcomes of many lists of answers in several worlds, in any order.

        Raises:
            CancelledError: `cancel` was called meanwhile.
        """
        # what was granted is used in place, where runs at once would meet each other's files
        several = tree.count > 1 and not source.allowed
        if several and 2 * len(worlds) <= at_once(self._limits):
            yield from _Abreast(self, source, worlds).results(tree)
        else:
            with contextlib.closing(self.begin(source, worlds, tree)) as walk:
                yield from islice(walk, tree.count)

    def begin(self, source: Source, worlds: Sequence[World], tree: Node) -> Walk:
        """Begin a walk through a tree, to be closed by the caller.

        Raises:
            CancelledError: `give_up` was called.
        """
        return self._begun([TreeWalk(source, world, tree, self._limits) for world in worlds])

    def may_begin(self, count: int) -> bool:
        """Whether the machine bears so many walks more."""
        return len(self._under_way) + count <= at_once(self._limits)

    def _begun(self, walks: Sequence[TreeWalk]) -> Walk:
        self._under_way += walks
        if self._over:
            self.end(walks)
            raise CancelledError("given up")
        return Walk(walks, self)

    def end(self, walks: Sequence[TreeWalk]) -> None:
        """Note that walks have ended."""
        for walk in walks:
            self._under_way.remove(walk)

    def give_up(self) -> None:
        """Cancel all walks under way, and refuse new ones."""
        self._over = True
        self.cancel()

    def cancel(self) -> None:
        """Make all walks under way raise `CancelledError` soon."""
        for walk in list(self._under_way):
            walk.cancel()


def result_of(future: Future[R]) -> R:
    """The result of a call. Waits in slices, as a Ctrl-C just before an endless wait is missed."""
    from concurrent.futures import wait

    while not wait([future], timeout=0.2).done:
        pass
    return future.result()
