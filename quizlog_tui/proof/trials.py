"""Replays of one script under changed conditions, in fresh processes, and the search for a culprit.

Replays for several branches are made together. The search finds the conditions that make two
runs differ by changing conditions. Knows nothing of verdicts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..errors import CancelledError, LimitError, QuizlogError
from ..replay.script.source import Source
from ..replay.transcript import Transcript
from ..replay.tree_walk import Node, Outcome, in_order, tree_of
from ..replay.uncached_runs import UncachedRuns
from ..replay.world import OPEN_CONDITIONS, STARTS, World
from .diverge import first_difference


@dataclass(frozen=True)
class Variation:
    """A variation of the usual world."""

    changed: tuple[str, ...] = ()
    """Names of the changed conditions."""
    hidden: tuple[str, ...] = ()
    """Files that are hidden, if `leftovers` is among the conditions."""
    later: bool = False
    """Whether the runs begin in a later second, by the real clock."""
    alone: bool = False
    """Whether each branch has a process of its own, from the start."""


@dataclass(frozen=True)
class CauseSearch:
    """A search for the conditions that make a run differ from the usual one."""

    answers: tuple[str, ...]
    among: Variation


TrialRequest = tuple[Variation, ...] | CauseSearch
"""A request for runs in several worlds, or for the result of a search."""


_TRIES = 3
"""Times that runs must differ and agree, so that it is hardly by chance."""
_MOST_AT_A_TIME = 8
"""Maximum number of runs alone at a time: several records may be judged at once."""


class Trials:
    """Replays of a script.

    Args:
        source: The script.
        world: The usual world.
        runs: Makes the replays.
        elsewhere: The path of the script's folder if that condition is changed.
    """

    def __init__(self, source: Source, world: World, runs: UncachedRuns, elsewhere: str) -> None:
        self._source = source
        self._world = world
        self._runs = runs
        self._elsewhere = elsewhere

    def run(self, answers: Sequence[str], other: Variation = Variation()) -> Transcript:
        """A replay.

        Raises:
            LimitError: The script exceeded a limit.
            CancelledError: The runs were cancelled.
        """
        return self._runs.replay(self._source, self._world_of(other), answers)

    def find_out(
        self, wanted: TrialRequest, lines: Iterable[Sequence[str]]
    ) -> Iterator[tuple[int, Any]]:
        """The results of a request for several branches, in any order.

        Args:
            wanted: The request, the same for all.
            lines: The answers of the branches.

        Yields:
            The index of a branch, and its runs, conditions, or errors in their place.

        Raises:
            CancelledError: The runs were cancelled.
        """
        if isinstance(wanted, CauseSearch):
            found = self._searched(wanted)
            yield from ((index, found) for index, _ in enumerate(lines))
        else:
            if any(other.later for other in wanted):
                _wait_for_the_next_second()
            yield from self._in_worlds(wanted, tree_of(lines))

    def _in_worlds(
        self, wanted: Sequence[Variation], tree: Node
    ) -> Iterator[tuple[int, list[Outcome]]]:
        """The index of each branch in a tree, and its runs in several worlds."""
        apart = [other for other in wanted if other.alone]
        walks = [self._world_of(other) for other in wanted if not other.alone]
        walked = self._runs.walk(self._source, walks, tree)
        if not apart:
            yield from walked
            return
        lines = dict(in_order(tree))
        runs = dict(zip(lines, self._alone(lines.values(), apart), strict=True))
        for index, others in walked:
            found = {True: iter(runs[index]), False: iter(others)}
            yield index, [next(found[other.alone]) for other in wanted]

    def alone(self, lines: Iterable[Sequence[str]]) -> list[Outcome]:
        """A replay for each list of answers, in the usual world, in a process of its own.

        Raises:
            CancelledError: The runs were cancelled.
        """
        return [run for (run,) in self._alone(lines, [Variation()])]

    def _alone(
        self, lines: Iterable[Sequence[str]], worlds: Sequence[Variation]
    ) -> list[list[Outcome]]:
        """The runs of each list of answers in several worlds, as many at a time as can be.

        All of them: to stop waiting for some would cancel the replays of other records.
        """

        def all_of(line: Sequence[str]) -> list[Outcome]:
            return [self._outcome(line, other) for other in worlds]

        workers = min(_MOST_AT_A_TIME, self._runs.at_once())
        return list(self._runs.run_parallel(all_of, lines, workers))

    def _outcome(self, answers: Sequence[str], other: Variation) -> Outcome:
        try:
            return self.run(answers, other)
        except CancelledError:
            raise
        except QuizlogError as error:
            return error

    def _searched(self, search: CauseSearch) -> tuple[str, ...] | LimitError:
        try:
            parts = self.parting(search.answers, search.among.hidden)
            found = find_culprits(search.among.changed, parts)
            may_be = STARTS in search.among.changed and STARTS not in found
            if may_be and ends_search(found) and self.starts_unobserved(search.answers):
                return (STARTS,)
            return found
        except LimitError as error:
            return error

    def starts_unobserved(self, answers: Sequence[str]) -> bool:
        """Whether the run starts threads or programs, though it was not seen to.

        Then anything may differ by chance, and a search would accuse what was changed just then.
        Where starts are forbidden, such a run shows the same wherever its memory lies, and never
        what it shows where they are allowed.
        """
        forbidden = self.run(answers, Variation((STARTS,)))
        moved = Variation((STARTS, "addresses"))
        return all(
            first_difference(forbidden, self.run(answers))
            and first_difference(forbidden, self.run(answers, moved)) is None
            for _ in range(_TRIES)
        )

    def parting(
        self, answers: Sequence[str], hidden: tuple[str, ...] = ()
    ) -> Callable[[Sequence[str]], bool]:
        """A function that says whether changed conditions make a run differ from the usual one."""
        usual = self.run(answers)

        def parts(changed: Sequence[str]) -> bool:
            other = self.run(answers, Variation(tuple(changed), hidden))
            return first_difference(usual, other) is not None

        return parts

    def _world_of(self, other: Variation) -> World:
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


def find_culprits(
    conditions: Sequence[str], parts: Callable[[Sequence[str]], bool]
) -> tuple[str, ...]:
    """A minimal set of conditions whose change makes the difference; mostly a single one.

    Halves the changed conditions as long as the difference remains, then drops one after the other.
    Finally the difference must come again with these, and vanish if nothing is changed; otherwise
    it is chance, and no condition causes it.

    Args:
        conditions: Conditions that make the difference when all are changed.
        parts: Whether the difference occurs with exactly these conditions changed.

    Returns:
        The conditions; empty if the difference comes and goes by chance.
    """
    left = _halved(list(conditions), parts)
    for one in left if len(left) > 1 else ():
        fewer = [other for other in left if other != one]
        if parts(fewer):
            left = fewer
    return tuple(left) if parts(left) and not parts(()) else ()


def ends_search(culprits: Sequence[str]) -> bool:
    """Whether a verdict need not search on: it is chance, or what differs between machines."""
    return not culprits or any(name in OPEN_CONDITIONS for name in culprits)


def _halved(left: list[str], parts: Callable[[Sequence[str]], bool]) -> list[str]:
    """The conditions after as many halvings as keep the difference."""
    while len(left) > 1:
        half = len(left) // 2
        remaining = next((side for side in (left[:half], left[half:]) if parts(side)), None)
        if remaining is None:
            return left
        left = remaining
    return left
