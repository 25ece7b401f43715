"""Replays of one script under changed conditions, each line of answers in fresh processes.

What several lines want to know at once is found out in one walk. Knows nothing of what is judged.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..errors import LimitError
from ..replay.script.source import Source
from ..replay.transcript import Transcript
from ..replay.tree import tree_of
from ..replay.uncached_runs import UncachedRuns
from ..replay.world import World
from .causes import culprits
from .diverge import first_difference


@dataclass(frozen=True)
class Other:
    """What is other than usual."""

    changed: tuple[str, ...] = ()
    """Names of conditions."""
    hidden: tuple[str, ...] = ()
    """Files that are not found, if left over files are among the conditions."""
    later: bool = False
    """Whether the runs begin in a later second, by the real clock."""


@dataclass(frozen=True)
class Search:
    """A search for conditions that make a run part from the usual one by the end of its answers."""

    answers: tuple[str, ...]
    among: Other


Wanted = tuple[Other, ...] | Search
"""Runs of a line of answers in several worlds, or what comes of a search."""


class Trials:
    """Replays of a script.

    Args:
        source: The script.
        world: The usual world.
        runs: Does the replaying.
        elsewhere: The path at which the script finds its folder, where that is changed.
    """

    def __init__(self, source: Source, world: World, runs: UncachedRuns, elsewhere: str) -> None:
        self._source = source
        self._world = world
        self._runs = runs
        self._elsewhere = elsewhere

    def run(self, answers: Sequence[str], other: Other = Other()) -> Transcript:
        """A replay.

        Raises:
            LimitError: The script went over a limit.
            CancelledError: The runs were given up.
        """
        return self._runs.replay(self._source, self._world_of(other), answers)

    def find_out(self, wanted: Wanted, lines: Iterable[Sequence[str]]) -> Iterator[tuple[int, Any]]:
        """What several lines of answers want to know, for each by its index, in any order.

        Args:
            wanted: The same for all.
            lines: Their answers.

        Yields:
            With each index the runs, or the conditions; errors in place of either.

        Raises:
            CancelledError: The runs were given up.
        """
        if isinstance(wanted, Search):
            found = self._searched(wanted)
            yield from ((index, found) for index, _ in enumerate(lines))
        else:
            if any(other.later for other in wanted):
                _wait_for_the_next_second()
            worlds = [self._world_of(other) for other in wanted]
            yield from self._runs.walk(self._source, worlds, tree_of(lines))

    def _searched(self, search: Search) -> tuple[str, ...] | LimitError:
        try:
            parts = self.parting(search.answers, search.among.hidden)
            return culprits(search.among.changed, parts)
        except LimitError as error:
            return error

    def parting(
        self, answers: Sequence[str], hidden: tuple[str, ...] = ()
    ) -> Callable[[Sequence[str]], bool]:
        """Whether a run under changed conditions parts from the usual one."""
        usual = self.run(answers)

        def parts(changed: Sequence[str]) -> bool:
            other = self.run(answers, Other(tuple(changed), hidden))
            return first_difference(usual, other) is not None

        return parts

    def _world_of(self, other: Other) -> World:
        world = self._world.but(other.changed)
        if "folder" in world.changed:
            world = replace(world, at=self._elsewhere)
        if "leftovers" in world.changed:
            world = replace(world, hidden=other.hidden)
        return world


def _wait_for_the_next_second() -> None:
    second = int(time.time())
    while int(time.time()) == second:
        time.sleep(0.02)
