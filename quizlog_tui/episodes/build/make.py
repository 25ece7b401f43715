"""From records to a file of episodes: read, group, ask where wanted, build, write.

One record that cannot be used does not cost the others: it is told of and left out.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ...errors import CancelledError, EpisodeError, QuizlogError
from ...replay.replayer import Replayer
from ...replay.world import world_of
from ...text import plural
from ..read.files import refuse_folder
from ..runs.asking import GOLD, Solver, WantedRun, ask, finished, runs_folder, wanted
from ..runs.instance import Instance, RecordAttempt, attempt, instances
from ..runs.runs import SolverRun
from .build import BuildSettings, build
from .store import put_episodes

Advanced = Callable[[str, int, int], None]
"""Told what is being done, how much of it is done, of how much."""


@dataclass
class BuildResult:
    """What came of building."""

    episodes: int = 0
    """Episodes built."""
    verified: int = 0
    """Those that are verified."""
    added: int = 0
    """Those the file did not have."""
    known: int = 0
    """Those it had, written anew."""
    lowered: int = 0
    """Those of them that were verified before and are no longer."""
    kept: int = 0
    """Those of them that stay as they were: verified, by runs that were not named now."""
    reasons: Counter[str] = field(default_factory=Counter)
    """Why episodes are not verified."""
    skipped: list[QuizlogError] = field(default_factory=list)
    """Why records were left out."""

    @property
    def standing(self) -> str:
        """How a single episode stands in the file now, in a clause."""
        if not self.reasons:
            return "verified"
        why = "; ".join(self.reasons)
        if self.kept:
            return f"left there verified, as by other runs (by those at hand not: {why})"
        return f"{'no longer' if self.lowered else 'not'} verified: {why}"


def make(
    records: Sequence[Path],
    output: Path,
    settings: BuildSettings,
    advanced: Advanced,
    *,
    replayer: Replayer | None = None,
    branch: str | None = None,
    solver: Solver | None = None,
    runs: int = 0,
) -> BuildResult:
    """Build the episodes of some records into a file.

    Args:
        records: The records, in any order.
        output: The file; what it holds of other episodes stays.
        settings: How to build.
        advanced: Told of progress.
        replayer: Where runs are replayed, to stop a slow one; None for one of its own. It should
            keep no checkpoints: an episode vouches for what its script does from the start.
        branch: The branch that is each record's run; None for the active one.
        solver: Who answers the runs to ask for.
        runs: How many independent runs to ask for of each script instance.

    Raises:
        EpisodeError: The file cannot be written, or a run could not be made.
    """
    made = BuildResult()
    refuse_folder(output)
    with nullcontext(replayer) if replayer else Replayer(checkpoints=0) as replayer:
        found = _instances(_attempts(records, branch, made), made)
        if solver is not None and runs:
            found = _asked(found, solver, runs, output, replayer, advanced, made)
        found = [_with_kept(one, output, made) for one in found]
        episodes = []
        for done, one in enumerate(found):
            advanced("building", done, len(found))
            episodes += _built(one, replayer, settings, made)
    made.episodes = len(episodes)
    made.verified = sum(episode["verified"] for episode in episodes)
    for episode in episodes:
        told = episode["teacher_gold_trace"]["submission_metadata"]
        made.reasons.update(told["not_verified_because"])
    if episodes:
        made.added, made.known, made.lowered, made.kept = put_episodes(output, episodes)
    return made


def _attempts(
    records: Sequence[Path], branch: str | None, made: BuildResult
) -> list[RecordAttempt]:
    found = []
    for path in records:
        try:
            found.append(attempt(path, branch))
        except QuizlogError as error:
            made.skipped.append(error)
    return found


def _instances(attempts: Sequence[RecordAttempt], made: BuildResult) -> list[Instance]:
    """The instances whose scripts can be read."""
    try:
        return instances(attempts)
    except QuizlogError:
        usable = []
        for one in attempts:
            try:
                instances([one])
                usable.append(one)
            except QuizlogError as error:
                made.skipped.append(error)
        return instances(usable)


def _built(
    instance: Instance, replayer: Replayer, settings: BuildSettings, made: BuildResult
) -> list[dict[str, Any]]:
    try:
        return [build(instance, replayer, settings)]
    except CancelledError:
        raise
    except QuizlogError as error:
        made.skipped.append(error)
        return []


def _with_kept(instance: Instance, output: Path, made: BuildResult) -> Instance:
    """The instance with the runs too that were asked for the same file before."""
    try:
        earlier = finished(instance, runs_folder(output))
    except QuizlogError as error:
        made.skipped.append(error)
        return instance
    known = {run.sample for run in instance.solved}
    more = [run for run in earlier if run.sample not in known]
    return replace(instance, solved=(*instance.solved, *more))


def _asked(
    found: Sequence[Instance],
    solver: Solver,
    runs: int,
    output: Path,
    replayer: Replayer,
    advanced: Advanced,
    made: BuildResult,
) -> list[Instance]:
    """The instances with the runs that were asked for; of one that nobody finished, gold too."""
    todo: list[WantedRun] = []
    for one in found:
        solved = any(
            replayer.replay(one.source, world_of(own.record), own.run.inputs).status == "success"
            for own in one.attempts
        )
        todo += wanted(one, runs, gold=not solved)

    def told(done: int, answers: int) -> None:
        advanced(f"asking for runs ({plural(answers, 'answer')})", done, len(todo))

    async def answers() -> list[SolverRun]:
        async with solver.open() as solve_run:
            return await ask(todo, solve_run, runs_folder(output), told, solver.abreast)

    answered = asyncio.run(answers())
    by_instance: dict[tuple[str, int], list[SolverRun]] = {}
    for want, run in zip(todo, answered, strict=True):
        if run.broken:
            hint = "build again, and it is asked for again"
            which = "gold run" if want.sample == GOLD else f"run {want.sample}"
            made.skipped.append(EpisodeError(run.broken, where=f"{which} by {run.name}", hint=hint))
            continue
        by_instance.setdefault(want.instance.key, []).append(replace(run, sample=want.sample))
    return [replace(one, solved=tuple(by_instance.get(one.key, ()))) for one in found]
