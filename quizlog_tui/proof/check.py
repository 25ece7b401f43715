"""Checks whether a record comes out as it is recorded: one straight replay of each branch.

It tells what an edited script changes in a record, as a run in CI asks. Whether a script would
show the same in another world is for `verify` to say. No record is changed.

Branches are replayed together where they share answers. One that comes out otherwise, or whose
script could have passed anything on to others, is replayed again in a process of its own.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from ..errors import LimitError, QuizlogError
from ..record.model import Record, Status
from ..record.store import RecordFile
from ..replay.script.granted import granted_script_of
from ..replay.script.source import Source
from ..replay.transcript import Transcript
from ..replay.tree_walk import Outcome, tree_of
from ..replay.uncached_runs import UncachedRuns
from ..replay.world import may_share, world_of
from .recorded import RecordedBranch, difference_from_record, recorded_branch
from .verdict import Verdict, apply_doubt, bounded, combine_verdicts, noted, of_another_text


@dataclass(frozen=True)
class StatusAndScore:
    """The status and score of a branch."""

    status: Status | None = None
    """None if it is not known."""
    score: float | None = None
    """1 if it finished, the partial score of an error; None while it asks, or if not known."""


@dataclass(frozen=True)
class RecordCheck:
    """How a record comes out."""

    verdict: Verdict
    """`diverges`, `unverifiable`, or `reproducible`, which here says only that nothing differs."""
    recorded: StatusAndScore
    """How the verdict's branch is recorded to stand."""
    replayed: StatusAndScore
    """How its replay stands after as many answers."""

    @property
    def result(self) -> Literal["same", "diverges", "unverifiable"]:
        """The verdict in the words of a check, which proves less than `verify` does."""
        if self.verdict.differs:
            return "diverges"
        return "unverifiable" if self.verdict.verdict == "unverifiable" else "same"

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        verdict, then, now = self.verdict, self.recorded, self.replayed
        names = ("branch", "step", "what", "recorded", "replayed", "reason", "branches")
        return {
            "verdict": self.result,
            **{name: getattr(verdict, name) for name in names},
            "outcome": {"recorded": then.status, "replayed": now.status},
            "score": {"recorded": then.score, "replayed": now.score},
            "not_judged": [str(part) for part in verdict.not_judged],
        }


def check(path: Path, runs: UncachedRuns) -> RecordCheck:
    """Check the record in a file.

    Raises:
        RecordError: The record cannot be read.
        ScriptError: Its script cannot be read.
        CancelledError: `runs` were cancelled.
    """
    record = RecordFile(path).read()
    return check_branches(record, granted_script_of(path, record), runs)


def check_branches(record: Record, source: Source, runs: UncachedRuns) -> RecordCheck:
    """Check all branches of a record, each to its end; the active one comes first.

    Branches of another text of the script are named but not judged.

    Raises:
        CancelledError: `runs` were cancelled.
    """
    older = of_another_text(record, source.code_hash)
    left_out = {record.branch, *(part.branch for part in older)}
    names = [record.branch, *(name for name in record.branches if name not in left_out)]
    found = _checked(record, names, source, runs)
    verdict = combine_verdicts([one.verdict for one in found], older)
    [shown] = (one for one in found if one.verdict.branch == verdict.branch)
    return replace(shown, verdict=verdict)


def _checked(
    record: Record, names: list[str], source: Source, runs: UncachedRuns
) -> list[RecordCheck]:
    """The checks of several branches of a record."""
    world, lines = world_of(record), [record.path_of(name) for name in names]
    found: dict[int, RecordCheck] = {}
    again: list[int] = []
    with closing(runs.walk(source, [world], tree_of(lines))) as walk:
        for index, [run] in walk:
            found[index] = _compared(record, names[index], run)
            if len(names) > 1 and _may_mislead(found[index].verdict, run):
                again.append(index)
    for index in again:
        try:
            run = runs.replay(source, world, lines[index])
        except LimitError as error:
            run = error
        found[index] = _compared(record, names[index], run)
    return [found[index] for index in range(len(names))]


def _may_mislead(verdict: Verdict, run: Outcome) -> bool:
    """Whether what a run in shared processes shows may come from other branches."""
    if isinstance(run, QuizlogError):
        return True
    return verdict.differs or may_share(run.observed, run.unavailable, run.tainted)


def _compared(record: Record, name: str, run: Outcome) -> RecordCheck:
    """The check of a branch by its run.

    Raises:
        QuizlogError: What stopped the run, unless that is a limit.
    """
    branch = None if name == record.branch else name
    known = recorded_branch(record, name)
    if isinstance(run, LimitError):
        verdict = Verdict("unverifiable", reason=run.message, branch=branch)
        return RecordCheck(verdict, _standing(known), StatusAndScore())
    if isinstance(run, QuizlogError):
        raise run
    verdict = bounded(replace(_verdict(known, run), branch=branch), known, branch)
    stands = run.upto(known.stop)
    return RecordCheck(verdict, _standing(known), StatusAndScore(stands.status, stands.score))


def _verdict(known: RecordedBranch, run: Transcript) -> Verdict:
    found = difference_from_record(known, run)
    verdict = Verdict("reproducible")
    if found is not None:
        sides = (found.what, found.a, found.b)
        verdict = Verdict("diverges", found.step, *sides, no_text=found.no_text)
    return apply_doubt(replace(verdict, observed=noted(run.observed)))


def _standing(known: RecordedBranch) -> StatusAndScore:
    return StatusAndScore(known.status, 1.0 if known.status == "success" else known.score)
