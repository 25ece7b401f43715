"""The two sides of a comparison: a branch of a record each, run under its script."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ...files.paths import record_path
from ...record.lineage import no_branch
from ...record.model import Record
from ...record.store import RecordFile
from ...replay.replayer import Replayer
from ...replay.script.granted import granted_script_of
from ...replay.script.source import Source
from ...replay.transcript import Transcript
from ...replay.uncached_runs import run_parallel
from ..diverge import Difference, first_difference
from ..drift import BranchDrift, branch_drift, branch_drifts
from .align import align


@dataclass(frozen=True)
class Side:
    """A branch of a record, as named by the user."""

    path: Path
    record: Record
    source: Source
    branch: str
    whole: bool
    """Whether all its answers count, not only those before the pointer."""

    @property
    def name(self) -> str:
        """Its name, such as `record.yaml@branch`."""
        return f"{self.path}@{self.branch}"


@dataclass(frozen=True)
class RunComparison:
    """Two runs and their first difference."""

    a: Transcript
    b: Transcript
    difference: Difference | None
    """The first difference in what they show; None if they show the same."""
    answer: int | None
    """Index of the first differing answer; None if the common ones are equal."""

    @property
    def equal(self) -> bool:
        """Whether they show the same and have the same answers."""
        return self.difference is None and self.answer is None

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON. If only answers differ, `what` is `answer`."""
        found = self.difference
        data: dict[str, Any] = {"equal": self.equal, "step": None, "what": None}
        if found is not None:
            data |= {"step": found.step, "what": found.what, "a": found.a, "b": found.b}
        elif self.answer is not None:
            a, b = self.a.steps[self.answer].input, self.b.steps[self.answer].input
            data |= {"step": self.answer, "what": "answer", "a": a, "b": b}
        rows = [{"kind": r.kind, "a": r.index_a, "b": r.index_b} for r in align(self.a, self.b)]
        return {"a": None, "b": None} | data | {"answer": self.answer, "steps": rows}


def side_of(name: str, other: Side | None = None) -> Side:
    """The side for a name: `RECORD`, `RECORD@BRANCH`, or `@BRANCH` of the other side's record.

    Without a branch, the active branch up to the pointer; with one, that branch to its end.

    Raises:
        RecordError: The record cannot be read.
        ScriptError: Its script cannot be read.
        UsageError: It has no such branch.
    """
    path, at, branch = (name, "", "") if Path(name).exists() else name.rpartition("@")
    if not at:
        path, branch = name, ""
    if not path and other is not None:
        return with_branch(other, branch)
    file = record_path(path)
    record = RecordFile(file).read()
    source = granted_script_of(file, record)
    side = Side(file, record, source, record.branch, whole=False)
    return with_branch(side, branch) if at else side


def with_branch(side: Side, branch: str) -> Side:
    """Another branch of the same record, to its end.

    Raises:
        UsageError: There is no such branch.
    """
    if branch not in side.record.names:
        raise no_branch(side.record, branch, str(side.path))
    return replace(side, branch=branch, whole=True)


def run_of(side: Side, replayer: Replayer) -> tuple[Transcript, Difference | None]:
    """The run of a side as far as its answers fit their questions, and the difference there."""
    return _run(side, branch_drift(side.record, side.branch, side.source, replayer))


def runs_of(
    sides: Sequence[Side], replayer: Replayer
) -> list[tuple[Transcript, Difference | None]]:
    """The results of `run_of` for sides: one walk for each record, records in parallel."""

    def drifts(record: Record) -> list[BranchDrift]:
        own = [side for side in sides if side.record is record]
        names = list(dict.fromkeys(side.branch for side in own))
        return branch_drifts(record, names, own[0].source, replayer)

    records = list({id(side.record): side.record for side in sides}.values())
    parallel = run_parallel(drifts, records, len(records), replayer.cancel)
    found = {
        (id(record), drift.branch): drift
        for record, own in zip(records, parallel, strict=True)
        for drift in own
    }
    return [_run(side, found[id(side.record), side.branch]) for side in sides]


def _run(side: Side, drift: BranchDrift) -> tuple[Transcript, Difference | None]:
    run = drift.run if side.whole else drift.run.upto(side.record.pointer)
    return run, drift.difference


def compare(
    a: Transcript, b: Transcript, *, ended: tuple[Difference | None, ...] = ()
) -> RunComparison:
    """The first differences between two runs, in what they show and in their answers.

    Args:
        a: One run.
        b: The other run.
        ended: The differences at which they ended early, see `run_of`: a branch that its script no
            longer accepts is not equal to one with the same beginning.
    """
    pairs = enumerate(zip(a.steps, b.steps, strict=False))
    answer = next((i for i, (one, other) in pairs if one.input != other.input), None)
    found = (first_difference(a, b), *ended)
    return RunComparison(a, b, next((one for one in found if one is not None), None), answer)
