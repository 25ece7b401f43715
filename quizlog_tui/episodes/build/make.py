"""Makes a file of episodes from records: reads, groups, asks for runs, builds and stores.

An unusable record is reported and left out; the others are still used. Whether a gold run holds
only here is asked as `quizlog verify` asks it. The file may contain episodes: each is stored once,
and none is replaced by a weaker one.
"""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

from ...errors import CancelledError, EpisodeError, QuizlogError
from ...proof.verify import verify_branches
from ...record.append_only_list import AppendOnlyList
from ...record.lock import locked
from ...record.model import Record
from ...replay.process.process import Limits
from ...replay.replayer import Replayer
from ...replay.uncached_runs import UncachedRuns
from ...replay.world import world_of
from ...text import plural
from ..format.hashing import to_line
from ..read.files import LineError, lines, parse, refuse_place, write_lines
from ..runs.asking import GOLD, Solver, WantedRun, ask, finished, runs_folder, wanted
from ..runs.instance import Instance, RecordAttempt, attempt, instances
from ..runs.runs import Replayed, SolverRun
from .build import BuildSettings, build

if TYPE_CHECKING:
    from ..format.hashing import JsonObject
    from ..format.schema import Episode

_Advanced = Callable[[str, int, int], None]
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
    advanced: _Advanced,
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
    advanced: _Advanced,
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
    """Why another world would not show what the gold run shows, in a clause; None if it would."""
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


# -- storing


class _StoreResult(NamedTuple):
    """The result of storing episodes in a file."""

    added: int
    """Number of episodes that are new in the file."""
    known: int
    """Number of episodes it had already, possibly as the unfinished run that they continue."""
    lowered: int
    """Number of known episodes that are no longer verified."""
    kept: int
    """Number of known episodes left unchanged, verified by runs that the new ones lack."""


def store_episodes(path: Path, episodes: Iterable[Episode]) -> _StoreResult:
    """Store episodes in a file: known ids are replaced, new ones added, all others kept.

    A verified episode is replaced by an unverified one only if that has all of its runs. The
    episode of an unfinished run is replaced by one of the same run that got further.

    Raises:
        EpisodeError: The file cannot be read or written, or has a line that is not an episode;
            nothing was changed.
        LockedError: Another process writes it.
    """
    merge = _Merge(episodes)
    refuse_place(path)  # before a lock file is made beside what a link leads to
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EpisodeError(f"cannot write: {error.strerror}", where=str(path)) from None
    with locked(path):
        write_lines(path, merge.lines(path))
    return merge.result()


class _Merge:
    """Merges new episodes into the lines of a file, and counts what happens to them."""

    def __init__(self, episodes: Iterable[Episode]) -> None:
        self._new = {episode["episode_id"]: episode for episode in episodes}
        self._by_run: dict[tuple[str, ...] | None, list[Episode]] = defaultdict(list)
        for episode in self._new.values():
            if (run := _run_of(episode)) is not None:
                self._by_run[run].append(episode)
        self._known: set[str] = set()
        self._counts: Counter[str] = Counter()

    def lines(self, path: Path) -> Iterator[str]:
        """All lines of the merged file; kept ones are unchanged byte for byte."""
        for number, line in lines(path) if path.exists() else ():
            name, old = _parsed(line, f"{path}:{number}")
            fresh = self._new.get(name)
            if fresh is None:
                if not self._grown(old):
                    yield line.decode("utf-8")
            elif name not in self._known:
                self._known.add(name)
                yield line.decode("utf-8") if self._stays(old, fresh) else to_line(fresh)
        yield from (to_line(each) for name, each in self._new.items() if name not in self._known)

    def _grown(self, old: JsonObject) -> bool:
        """Whether one of the new episodes continues the unfinished run of an old one."""
        heirs = [each for each in self._by_run.get(_run_of(old), ()) if _grew_from(each, old)]
        self._counts["grown"] += bool(heirs)
        return bool(heirs)

    def _stays(self, old: JsonObject, fresh: Episode) -> bool:
        if old.get("verified") is not True or fresh["verified"]:
            return False
        stays = not _knows_all_of(fresh, old)
        self._counts["kept" if stays else "lowered"] += 1
        return stays

    def result(self) -> _StoreResult:
        """The counts, once all lines are written."""
        known = len(self._known) + self._counts["grown"]
        added = len(self._new) - known
        return _StoreResult(added, known, self._counts["lowered"], self._counts["kept"])


def _knows_all_of(new: Episode, old: JsonObject) -> bool:
    """Whether an episode has every run of another episode with the same gold run.

    It counts as having them if the other was built by other rules, by which runs may have changed.
    """
    exporters = {_metadata(each["teacher_gold_trace"]).get("exporter") for each in (new, old)}
    return len(exporters) > 1 or not _answered(old) - _answered(new)


def _grew_from(new: Episode, old: JsonObject) -> bool:
    """Whether the gold run of an episode continues the unfinished one of another.

    Both must be of one execution.
    """
    before, after = old["teacher_gold_trace"], new["teacher_gold_trace"]
    if not isinstance(before, dict) or before.get("execution_success") is not False:
        return False
    accepted, inputs = before.get("code_cells"), _metadata(before).get("inputs")
    grown = _metadata(after)["inputs"]
    if not (isinstance(accepted, list) and isinstance(inputs, list) and isinstance(grown, list)):
        return False
    return inputs[: len(accepted)] == grown[: len(accepted)]


def _run_of(episode: Mapping[str, object]) -> tuple[str, ...] | None:
    """The script, seed and execution of the gold run; None if the execution is unknown."""
    metadata = _metadata(episode["teacher_gold_trace"])
    names = [metadata.get(name) for name in ("code_hash", "seed", "execution_id")]
    return None if names[-1] is None else tuple(map(str, names))


def _answered(episode: Mapping[str, object]) -> Counter[str]:
    """The answers of the consistency runs, each with the number of runs that gave them."""
    traces = episode.get("consistency_traces")
    found = traces if isinstance(traces, list) else []
    return Counter(str(_metadata(trace).get("inputs")) for trace in found)


def _metadata(trace: object) -> JsonObject:
    metadata = trace.get("submission_metadata") if isinstance(trace, dict) else None
    return metadata if isinstance(metadata, dict) else {}


def _parsed(line: bytes, where: str) -> tuple[str, JsonObject]:
    """The id of the episode on a line, and the episode, whatever its version."""
    try:
        found = parse(line)
    except LineError as error:
        hint = "fix or remove that line, or choose another file with -o"
        raise EpisodeError(str(error), where=where, hint=hint) from None
    name = found.get("episode_id")
    if not isinstance(name, str) or "teacher_gold_trace" not in found:
        hint = "episodes are added only to a file of episodes: choose another one with -o"
        raise EpisodeError("is not an episode", where=where, hint=hint)
    return name, found
