"""Replays many lists of answers in one walk of their tree: what they have in common runs once.

A process walks down the tree. Where lists diverge, copies of it take the side branches one after
the other, and the process itself continues where most lists go. So copies of copies are few, and
no more processes wait at a time than branches are nested. Nothing is kept after a walk. Wherever a
copy might differ from a run from the start, the run is made from the start.
"""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from ..errors import CancelledError, QuizlogError
from .checkpoints import can_copy
from .live_run import LiveRun, was_killed, was_lost
from .process.process import Limits, QuizProcess
from .script.source import Source
from .transcript import Transcript
from .world import World


@dataclass(eq=False)
class Node:
    """A stop at which lists of answers end or diverge."""

    answers: tuple[str, ...] = ()
    """The answers that lead here from the stop above."""
    ends: Sequence[int] = ()
    """Indices of the lists that end here."""
    below: dict[str, Node] = field(default_factory=dict)
    """The next stops, by the first answer that leads there."""
    count: int = 0
    """Number of lists that end here or below."""

    @property
    def by_weight(self) -> list[Node]:
        """The next stops; the one with the most lists comes last."""
        return sorted(self.below.values(), key=lambda node: node.count)

    def copy(self) -> Node:
        """A copy of the stop, from which ends and next stops can be removed when they are done."""
        return replace(self, below=dict(self.below))

    def onward(self, path: tuple[str, ...]) -> tuple[Node | None, tuple[str, ...]]:
        """The only next stop that is left, and the answers that lead there.

        The stop itself without its ends if there are several; None if there is none.
        """
        if len(self.below) == 1:
            (node,) = self.below.values()
            return node.copy(), path + node.answers
        return replace(self, ends=()) if self.below else None, path


def tree_of(lines: Iterable[Sequence[str]]) -> Node:
    """The root of the tree of several lists of answers."""
    return tree_of_lines(enumerate(map(tuple, lines)))


Line = tuple[int, tuple[str, ...]]
"""The index of a list of answers, and all of them."""


def tree_of_lines(lines: Iterable[Line]) -> Node:
    """The root of the tree of some lists of answers that keep their indices."""
    root = Node()
    for index, line in lines:
        node, at = root, 0
        while at < len(line):
            node.count += 1
            node = _next(node, line, at)
            at += len(node.answers)
        node.count += 1
        node.ends = (*node.ends, index)
    return root


def _next(node: Node, line: tuple[str, ...], at: int) -> Node:
    """The stop below a node to which a list continues from its answer `at`; made if needed."""
    there = node.below.get(line[at])
    if there is None:
        there = node.below[line[at]] = Node(line[at:])
        return there
    common = _shared(there.answers, line[at : at + len(there.answers)])
    if common == len(there.answers):
        return there
    parting = Node(there.answers[:common], below={there.answers[common]: there}, count=there.count)
    there.answers = there.answers[common:]
    node.below[line[at]] = parting
    return parting


def _shared(a: tuple[str, ...], b: tuple[str, ...]) -> int:
    """Number of equal answers at the beginning."""
    if a == b:
        return len(a)
    pairs = enumerate(zip(a, b, strict=False))
    return next((i for i, (one, other) in pairs if one != other), min(len(a), len(b)))


def in_order(node: Node, path: tuple[str, ...] = ()) -> Iterator[Line]:
    """The lists that end at a stop or below it, in the order in which a walk reaches their ends.

    Args:
        node: The stop.
        path: The answers that lead to it.

    Yields:
        The index of a list and all its answers.
    """
    left = [(node, path)]
    while left:
        here, path = left.pop()
        yield from ((line, path) for line in here.ends)
        left += [(below, path + below.answers) for below in reversed(here.by_weight)]


Outcome = Transcript | QuizlogError
"""The transcript of a list of answers, or the error that stopped its run."""


class TreeWalk:
    """One walk through several lists of answers: an iterator of their indices and outcomes.

    The order depends only on the lists; see `in_order`.

    Args:
        source: The script.
        world: The world of the script.
        tree: The lists of answers. A run may end before it has used all answers of a list.
        limits: Bounds on each run.
    """

    def __init__(self, source: Source, world: World, tree: Node, limits: Limits) -> None:
        self._source = source
        self._world = world
        self._limits = limits
        self._runs: list[LiveRun] = []
        self._over = False
        self._outcomes = self._all(tree)

    def __iter__(self) -> Iterator[tuple[int, Outcome]]:
        return self

    def __next__(self) -> tuple[int, Outcome]:
        """The next list that came to its end.

        Raises:
            CancelledError: `cancel` was called.
        """
        return next(self._outcomes)

    def cancel(self) -> None:
        """Make a running `next` of another thread, and every later one, raise `CancelledError`."""
        self._over = True
        for run in list(self._runs):
            run.process.cancel()

    def close(self) -> None:
        """End every process; a thread that is still in `next` ends its own."""
        with contextlib.suppress(ValueError):  # another thread is in it, and ends it
            self._outcomes.close()

    def _all(self, tree: Node) -> Generator[tuple[int, Outcome]]:
        yield from self._through(self._fresh(), tree, ())

    def _through(
        self, run: LiveRun, node: Node, path: tuple[str, ...]
    ) -> Iterator[tuple[int, Outcome]]:
        """The outcomes of all lists through a stop.

        Args:
            run: A run on the way there; it is ended with the last of the lists.
            node: The stop.
            path: The answers that lead to it.
        """
        left: Node | None = node.copy()
        try:
            while left is not None:
                outcome = self._extend(run, path)
                if run.process.refused:
                    run = self._replace_by_fresh(run)
                elif isinstance(outcome, Transcript) and outcome.status == "in_progress":
                    yield from ((line, outcome) for line in left.ends)
                    yield from self._sides(run, left, path)
                    if not _is_unaffected(run):
                        run = self._replace_by_fresh(run)
                    left, path = left.onward(path)
                else:
                    yield from self._stopped(outcome, left, path)
                    return
        finally:
            self._leave(run)

    def _sides(
        self, run: LiveRun, left: Node, path: tuple[str, ...]
    ) -> Iterator[tuple[int, Outcome]]:
        """The outcomes below all next stops but the last, while the waiting run is unaffected."""
        for side in left.by_weight[:-1]:
            if not _is_unaffected(run):
                return
            del left.below[side.answers[0]]
            yield from self._through(self._copy(run), side, path + side.answers)

    def _stopped(
        self, outcome: Outcome | None, left: Node, path: tuple[str, ...]
    ) -> Iterator[tuple[int, Outcome]]:
        """The outcomes of the lists below a stop where the run ended; run alone if unclear."""
        for line, answers in in_order(left, path):
            yield line, self._run_alone(answers) if outcome is None else outcome

    def _extend(self, run: LiveRun, path: tuple[str, ...]) -> Outcome | None:
        """The outcome of a run with these answers; None if it is unclear."""
        try:
            reached = run.grow(path[len(run.answers) :])
        except CancelledError:
            raise
        except QuizlogError as error:
            family = run.process.family  # its processes share their bounds
            return None if family.exceeded and (family.shared or run.copied) else error
        unclear = was_killed(reached) or was_lost(run) or run.blurred
        # Copies of it have run: the files in the folder that they share may be theirs.
        return None if unclear or (run.copied and "strayed" in reached.observed) else reached

    def _run_alone(self, answers: tuple[str, ...]) -> Outcome:
        """A run from the start, one answer at a time, which shows the answer that ends it."""
        run = self._fresh()
        try:
            reached = run.grow(())
            for answer in answers:
                reached = run.grow((answer,))
            return reached
        except CancelledError:
            raise
        except QuizlogError as error:
            return error
        finally:
            self._leave(run)

    def _copy(self, run: LiveRun) -> LiveRun:
        """A copy of a waiting run, which may yet be refused; a fresh run if it cannot be copied."""
        process = run.copy() if can_copy() else None
        if process is None:
            return self._fresh()
        copy = LiveRun.from_copy(self._source, self._limits, process, run.transcript, run.answers)
        return self._enter(copy)

    def _fresh(self) -> LiveRun:
        process = QuizProcess.start(self._source, self._world, self._limits)
        return self._enter(LiveRun(self._source, self._limits, process))

    def _replace_by_fresh(self, run: LiveRun) -> LiveRun:
        """A fresh run, in place of one that was affected by its copies."""
        self._leave(run)
        return self._fresh()

    def _enter(self, run: LiveRun) -> LiveRun:
        self._runs.append(run)
        if self._over:
            self._leave(run)
            raise CancelledError("given up", where=self._source.path.name)
        return run

    def _leave(self, run: LiveRun) -> None:
        """End a run, unless it was ended before."""
        if run in self._runs:
            self._runs.remove(run)
            run.close()


def _is_unaffected(run: LiveRun) -> bool:
    """Whether a waiting run is unaffected by its copies.

    A copy may have changed the folder that both see, or exceeded a bound that ends them all.
    """
    return not (run.process.spoiled or run.process.family.exceeded)
