"""Verifies a record by replays under different conditions, branch by branch. No record is changed.

Branches are judged together where they share answers, and some of them alone: branches that share
processes can tell each other what no run of its own would know. So no verdict rests on shared
processes alone. A few branches are replayed from the start in a process of their own, drawn by
chance, so that no author of a record knows which. All of them are if they are few, or if the script
could have passed anything on. Once the processes have misled, none is shared.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from os import listdir
from pathlib import Path

from ..record.model import Record
from ..record.store import RecordFile
from ..replay.script.granted import granted_script_of
from ..replay.script.source import Source
from ..replay.uncached_runs import UncachedRuns
from ..replay.worker.fixed.other_machine import OtherMachine
from ..replay.worker.folder import ROOMS
from ..replay.world import world_of
from .trials import Trials
from .verdict import Verdict, combine_verdicts, of_another_text
from .verify_branch import BranchVerifier, Inquiry

SAMPLE = 5
"""Number of branches, besides the active one, that are replayed alone where there are many."""

Draw = Callable[[Sequence[int], int], Iterable[int]]
"""Draws so many of these branches."""


Progress = Callable[[str, int, int], None]
"""Told each time a branch is judged: its name, how many are, and how many are to be."""


def by_chance(some: Sequence[int], count: int) -> Iterable[int]:
    """Draw from the system's randomness, which nobody can foretell."""
    from random import SystemRandom  # takes long to import, and few records need it

    return SystemRandom().sample(some, count)


def verify(path: Path, runs: UncachedRuns | None = None, *, thorough: bool = False) -> Verdict:
    """Verify the record in a file.

    Args:
        path: The record.
        runs: Makes the replays; may be shared.
        thorough: Replay each branch alone, not only some.

    Raises:
        RecordError: The record cannot be read.
        ScriptError: Its script cannot be read.
        CancelledError: `runs` were cancelled.
    """
    record = RecordFile(path).read()
    source = granted_script_of(path, record)
    return verify_branches(record, source, runs or UncachedRuns(), thorough=thorough)


def verify_branches(
    record: Record,
    source: Source,
    runs: UncachedRuns,
    vouched: Collection[str] = (),
    *,
    thorough: bool = False,
    draw: Draw = by_chance,
    progress: Progress = lambda branch, done, total: None,
) -> Verdict:
    """The verdict on all branches of a record, each to its end; the active one comes first.

    Branches of another text of the script are named but not judged, as that text is not available.

    Args:
        record: The record.
        source: The present text of its script.
        runs: Makes the replays.
        vouched: Files of the script's folder that are not leftovers, though the script writes them.
        thorough: Replay each branch alone, not only some.
        draw: Draws the branches that are replayed alone.
        progress: Told how far it is, in the thread of the caller.

    Raises:
        CancelledError: `runs` were cancelled.
    """
    others = [name for name in record.branches if name != record.branch]
    older = {part.branch: part for part in of_another_text(record, source.code_hash)}
    with elsewhere(source.path.parent, record.seed) as at:
        trials = Trials(source, world_of(record), runs, at)
        names = [None, *(name for name in others if name not in older)]
        judged = _counted(progress, len(names))
        branches = [
            BranchVerifier(record, source, trials, name, vouched, judged, thorough=thorough)
            for name in names
        ]
        verdicts = _judge_branches(trials, branches, draw, thorough=thorough)
        found, not_judged = [next(verdicts)], []
        for name in others:
            if found[-1].verdict == "diverges":
                break
            if name in older:
                not_judged.append(older[name])
            else:
                found.append(next(verdicts))
    return combine_verdicts(found, not_judged)


def _counted(progress: Progress, total: int) -> Callable[[str], None]:
    """Tells the progress for each branch that is judged; none counts twice."""
    done: set[str] = set()

    def judged(branch: str) -> None:
        done.add(branch)
        progress(branch, len(done), total)

    return judged


def _judge_branches(
    trials: Trials, branches: Sequence[BranchVerifier], draw: Draw, *, thorough: bool
) -> Iterator[Verdict]:
    """The verdicts on branches, in order, up to the first that differs from the record.

    Args:
        trials: Makes the replays.
        branches: The branches, the active one first.
        draw: Draws those that are replayed alone.
        thorough: Replay each of them alone.
    """
    if len(branches) == 1:
        return iter([_judge_alone(trials, branches[0])])
    each = thorough or len(branches) <= 1 + SAMPLE
    found, misled = _judge_together(trials, branches, alone=each)
    if not each and not misled and found[-1].verdict != "diverges":
        chosen = _chosen(branches, found, draw)
        runs = trials.alone(branches[index].answers for index in chosen)
        pairs = zip(chosen, runs, strict=True)
        misled = not all(branches[index].agrees_with(run) for index, run in pairs)
        found = [replace(one, alone=1) if at in chosen else one for at, one in enumerate(found)]
    if misled:
        return _until_difference(_judge_alone(trials, branch) for branch in branches)
    return iter(found)


def _chosen(
    branches: Sequence[BranchVerifier], found: Sequence[Verdict], draw: Draw
) -> Collection[int]:
    """The branches to be replayed alone, of those that only shared processes were asked about."""
    shared = [index for index, verdict in enumerate(found) if not verdict.alone]
    if any(branch.may_have_shared for branch in branches):
        return shared
    others = [index for index in shared if index]
    return [*shared[: shared[:1] == [0]], *draw(others, min(SAMPLE, len(others)))]


def _judge_together(
    trials: Trials, branches: Sequence[BranchVerifier], *, alone: bool
) -> tuple[list[Verdict], bool]:
    """The verdicts by shared processes up to the first difference, and whether they misled.

    Common answers of branches are replayed once. A verdict against a branch needs its own replays;
    if these find nothing, then what was found came from other branches.
    """
    found: list[Verdict] = []
    inquiries = [branch.inquiry(shared=True, alone=alone) for branch in branches]
    for branch, verdict in zip(branches, _results(trials, branches, inquiries), strict=True):
        if verdict is not None:
            found.append(replace(verdict, alone=int(alone)))
            continue
        found.append(_judge_alone(trials, branch))
        if found[-1].verdict == "reproducible":
            return found, True
        if found[-1].verdict == "diverges":
            break
    return found, False


def _judge_alone(trials: Trials, branch: BranchVerifier) -> Verdict:
    """The verdict on a branch by its own replays."""
    inquiry = branch.inquiry(shared=False, alone=False)
    (verdict,) = _results(trials, [branch], [inquiry])
    assert verdict is not None, "nothing was shared"
    return verdict


def _results(
    trials: Trials, branches: Sequence[BranchVerifier], inquiries: Sequence[Inquiry[Verdict | None]]
) -> Iterator[Verdict | None]:
    """The results of inquiries about branches, in order.

    Equal requests are answered once: an inquiry is only advanced for its own result, or along with
    an earlier one that has the same request.
    """
    wanted = {index: next(inquiry) for index, inquiry in enumerate(inquiries)}
    found: dict[int, Verdict | None] = {}
    for index in range(len(inquiries)):
        while index not in found:
            asking = [other for other, what in wanted.items() if what == wanted[index]]
            answers = [branches[other].answers for other in asking]
            for place, answer in trials.find_out(wanted[index], answers):
                one = asking[place]
                try:
                    wanted[one] = inquiries[one].send(answer)
                except StopIteration as ended:
                    found[one] = ended.value
                    del wanted[one]
        yield found.pop(index)


def _until_difference(verdicts: Iterable[Verdict]) -> Iterator[Verdict]:
    for verdict in verdicts:
        yield verdict
        if verdict.verdict == "diverges":
            return


@contextmanager
def elsewhere(folder: Path, seed: int) -> Iterator[str]:
    """Another path, of another length, for a folder: as if another user had it.

    Args:
        folder: The folder.
        seed: Chooses the user.
    """
    machine = OtherMachine(seed)
    user, name = machine.user, next(one for one in machine.folders if one != folder.name)
    places = (f"{room}/{user}/{name}" for room in ROOMS if _is_empty(room))
    known = next((path for path in places if len(path) != len(str(folder))), None)
    if known is not None:
        yield known
        return
    from ..files.scratch import scratch_folder

    with scratch_folder("verify") as base:
        other = base / (name if len(str(base / name)) != len(str(folder)) else f"{user}/{name}")
        other.mkdir(parents=True)
        yield str(other)


def _is_empty(folder: str) -> bool:
    """Whether a folder is there, in which a run may mount what only it sees."""
    try:
        return not listdir(folder)
    except OSError:
        return False
