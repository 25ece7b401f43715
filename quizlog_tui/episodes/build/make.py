"""Makes a file of episodes from records: reads, groups, asks for runs, builds and writes.

An unusable record is reported and left out; the others are still used. Whether a gold run holds
only here is asked as `quizlog verify` asks it.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from ...errors import CancelledError, EpisodeError, QuizlogError
from ...proof.verify import verify_branches
from ...record.append_only_list import AppendOnlyList
from ...record.model import Record
from ...replay.process.process import Limits
from ...replay.replayer import Replayer
from ...replay.uncached_runs import UncachedRuns
from ...replay.world import world_of
from ...text import plural
from ..read.files import refuse_place
from ..runs.asking import GOLD, Solver, WantedRun, ask, finished, runs_folder, wanted
from ..runs.instance import Instance, RecordAttempt, attempt, instances
from ..runs.runs import Replayed, SolverRun
from .build import BuildSettings, build
from .store import store_episodes

if TYPE_CHECKING:
    from ..format.schema import Episode


Advanced = Callable[[str, int, int], None]
"""Called with the present activity, the amount done, and the total amount."""


@dataclass
class BuildResult:
    """The result of building."""

    episodes: int = 0
    """Number of episodes built."""
    verified: int = 0
    """Number of verified episodes among them."""
    added: int = 0
    """Number of episodes that are new in the file."""
    known: int = 0
    """Number of episodes that were in the file already."""
    lowered: int = 0
    """Number of known episodes that are no longer verified."""
    kept: int = 0
    """Number of known episodes left unchanged, verified by runs that were not given now."""
    reasons: Counter[str] = field(default_factory=Counter)
    """The reasons why episodes are not verified, counted."""
    skipped: list[QuizlogError] = field(default_factory=list)
    """The reasons why records were left out."""

    @property
    def standing(self) -> str:
        """Whether a single episode is verified in the file now and why not, in a clause."""
        if not self.reasons:
            return "verified"
        why = "; ".join(self.reasons)
        if self.kept:
            return f"still verified by earlier runs (the present runs do not verify it: {why})"
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
        output: The file; its other episodes are kept.
        settings: How to build.
        advanced: Called with the progress.
        replayer: Replays the runs; pass one to be able to cancel it. It should keep no checkpoints,
            because an episode asserts what its script does from the start.
        branch: The branch of each record to use; None for the active one.
        solver: Answers the requested runs.
        runs: Number of independent runs to request for each script instance.

    Raises:
        EpisodeError: The file cannot be written, or a run could not be made.
    """
    made = BuildResult()
    refuse_place(output)
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
        metadata = episode["teacher_gold_trace"]["submission_metadata"]
        made.reasons.update(cast("list[str]", metadata["not_verified_because"]))
    if episodes:
        made.added, made.known, made.lowered, made.kept = store_episodes(output, episodes)
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
) -> list[Episode]:
    try:
        return [build(instance, replayer, settings, partial(_fragility, replayer.limits))]
    except CancelledError:
        raise
    except QuizlogError as error:
        made.skipped.append(error)
        return []


def _with_kept(instance: Instance, output: Path, made: BuildResult) -> Instance:
    """The instance, with the runs that were requested earlier for the same file."""
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
    """The instances with the requested runs, and a gold run if no record finished."""
    todo: list[WantedRun] = []
    for one in found:
        solved = any(
            replayer.replay(one.source, world_of(own.record), own.run.inputs).status == "success"
            for own in one.attempts
        )
        todo += wanted(one, runs, gold=not solved)

    def metadata(done: int, answers: int) -> None:
        advanced(f"asking for runs ({plural(answers, 'answer')})", done, len(todo))

    async def answers() -> list[SolverRun]:
        async with solver.open() as solve_run:
            return await ask(todo, solve_run, runs_folder(output), metadata, solver.concurrent_runs)

    answered = asyncio.run(answers())
    by_instance: dict[tuple[str, int], list[SolverRun]] = {}
    for want, run in zip(todo, answered, strict=True):
        if run.broken:
            hint = "build again to request it again"
            which = "gold run" if want.sample == GOLD else f"run {want.sample}"
            made.skipped.append(EpisodeError(run.broken, where=f"{which} by {run.name}", hint=hint))
            continue
        by_instance.setdefault(want.instance.key, []).append(replace(run, sample=want.sample))
    return [replace(one, solved=tuple(by_instance.get(one.key, ()))) for one in found]


def _fragility(limits: Limits, instance: Instance, gold: Replayed) -> str | None:
    """Why another world would not show what the gold run shows, in a clause; None if it would.

    Args:
        limits: Bounds on the script.
        instance: The script with its seed.
        gold: The run.
    """
    run = gold.run
    extras = {"start_time": run.start_time} if run.start_time else {}
    bare = Record(
        instance.source.path.name,
        instance.seed,
        AppendOnlyList(run.inputs),
        len(run.inputs),
        extras=extras,
    )
    verdict = verify_branches(bare, instance.source, UncachedRuns(limits))
    return f"at step {verdict.step} {verdict.reason}" if verdict.differs else None
