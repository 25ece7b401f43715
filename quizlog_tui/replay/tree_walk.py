"""Replays of many lines of answers in one walk of the tree they make: what they share runs once.

A process goes down the tree. Where lines part, a copy of it takes each side way, one after the
other, and it goes on itself where most lines go: so copies of copies are few, and no more processes
wait at a time than there are partings within partings. Nothing is kept after a walk. Where a copy
could be told from a run from the start, and wherever anything else is in doubt, it is run from the
start.
"""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Iterator

from ..errors import CancelledError, QuizlogError
from .cache.checkpoints import possible
from .cache.known import died, killed
from .process.limits import Limits
from .process.process import QuizProcess
from .run import Run
from .script.source import Source
from .transcript import Transcript
from .tree import Node, in_order
from .world import World

Outcome = Transcript | QuizlogError
"""What a line of answers leads to, or the error that stopped its run."""


class TreeWalk:
    """One walk through several lines of answers; an iterator of their indices with the outcomes.

    The order depends on the lines alone: see `in_order`.

    Args:
        source: The script.
        world: What it finds.
        tree: The lines. A run may end before it has used all answers of one.
        limits: What a run may use.
    """

    def __init__(self, source: Source, world: World, tree: Node, limits: Limits) -> None:
        self._source = source
        self._world = world
        self._limits = limits
        self._runs: list[Run] = []
        self._over = False
        self._outcomes = self._all(tree)

    def __iter__(self) -> Iterator[tuple[int, Outcome]]:
        return self

    def __next__(self) -> tuple[int, Outcome]:
        """The next line that came to its end.

        Raises:
            CancelledError: `cancel` was called.
        """
        return next(self._outcomes)

    def cancel(self) -> None:
        """Make a `next` that another thread is in give up soon, and every later one."""
        self._over = True
        for run in list(self._runs):
            run.process.cancel()

    def close(self) -> None:
        """End every process; a thread that is still in `next` ends its own."""
        with contextlib.suppress(ValueError):  # given up while a thread is in it, which ends it
            self._outcomes.close()

    def _all(self, tree: Node) -> Generator[tuple[int, Outcome]]:
        yield from self._through(self._fresh(), tree, ())

    def _through(
        self, run: Run, node: Node, path: tuple[str, ...]
    ) -> Iterator[tuple[int, Outcome]]:
        """The lines through a stop.

        Args:
            run: A run on the way there; it is over with the last of the lines.
            node: The stop.
            path: The answers that lead to it.
        """
        left: Node | None = node.copy()
        try:
            while left is not None:
                outcome = self._grown(run, path)
                if run.process.refused:
                    run = self._instead_of(run)
                elif isinstance(outcome, Transcript) and outcome.status == "in_progress":
                    yield from ((line, outcome) for line in left.ends)
                    yield from self._sides(run, left, path)
                    if not _fit(run):
                        run = self._instead_of(run)
                    left, path = left.onward(path)
                else:
                    yield from self._stopped(outcome, left, path)
                    return
        finally:
            self._leave(run)

    def _sides(self, run: Run, left: Node, path: tuple[str, ...]) -> Iterator[tuple[int, Outcome]]:
        """All ways on from a stop but the last, as long as they leave the waiting run as it is."""
        for side in left.by_weight[:-1]:
            if not _fit(run):
                return
            del left.below[side.answers[0]]
            yield from self._through(self._copy(run), side, path + side.answers)

    def _stopped(
        self, outcome: Outcome | None, left: Node, path: tuple[str, ...]
    ) -> Iterator[tuple[int, Outcome]]:
        """The lines from a stop on at which a run does not ask; each alone where it is in doubt."""
        for line, answers in in_order(left, path):
            yield line, self._alone(answers) if outcome is None else outcome

    def _grown(self, run: Run, path: tuple[str, ...]) -> Outcome | None:
        """Where a run comes to with these answers; None where that is in doubt."""
        try:
            reached = run.grow(path[len(run.answers) :])
        except CancelledError:
            raise
        except QuizlogError as error:
            family = run.process.family  # whose processes are bounded together
            return None if family.exceeded and (family.shared or run.copied) else error
        unclear = killed(reached) or died(run) or run.blurred
        # Copies of it have run: what lies in the folder that they see may be theirs.
        return None if unclear or (run.copied and "strayed" in reached.observed) else reached

    def _alone(self, answers: tuple[str, ...]) -> Outcome:
        """A run from the start, an answer at a time, so that it shows which one ends it."""
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

    def _copy(self, run: Run) -> Run:
        """A copy of a waiting run, which may yet be refused; one from the start without copies."""
        process = run.copy() if possible() else None
        if process is None:
            return self._fresh()
        copy = Run.of_copy(self._source, self._limits, process, run.transcript, run.answers)
        return self._enter(copy)

    def _fresh(self) -> Run:
        process = QuizProcess.start(self._source, self._world, self._limits)
        return self._enter(Run(self._source, self._limits, process))

    def _instead_of(self, run: Run) -> Run:
        """A run from the start, in place of one that is not what it would be by itself."""
        self._leave(run)
        return self._fresh()

    def _enter(self, run: Run) -> Run:
        self._runs.append(run)
        if self._over:
            self._leave(run)
            raise CancelledError("given up", where=self._source.path.name)
        return run

    def _leave(self, run: Run) -> None:
        """End a run, if that was not done yet."""
        if run in self._runs:
            self._runs.remove(run)
            run.close()


def _fit(run: Run) -> bool:
    """Whether a waiting run is as if it had never been copied.

    It is not if a copy changed the folder that both see, or ended all by starting too much.
    """
    return not (run.process.spoiled or run.process.family.exceeded)
