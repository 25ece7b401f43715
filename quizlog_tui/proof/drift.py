"""Reports how far a record agrees with the present text of its script, in data and in words.

An answer counts only if its question is the recorded one. Changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import LimitError, QuizlogError
from ..record.model import Record, edited_files
from ..replay.replayer import Replayer
from ..replay.script.needed_files import file_hashes
from ..replay.script.source import Source
from ..replay.transcript import Transcript
from ..replay.world import World, world_of
from ..text import one_line, plural
from .diverge import NOTHING, Difference
from .recorded import RecordedBranch, difference_from_record, differs, recorded_branch


@dataclass(frozen=True)
class BranchDrift:
    """How far one branch of a record agrees with its script as it is now."""

    branch: str
    """Its name."""
    answers: int
    """Number of its answers."""
    agreed: int
    """Number of answers whose questions are still the recorded ones."""
    difference: Difference | None
    """The difference at the stop after them: `a` as recorded, `b` now. None if all agree."""
    run: Transcript
    """The run of the script with the agreeing answers."""
    known: int
    """Number of stops with recorded data; fewer than `answers` if another tool gave the answers."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        found = self.difference
        return {
            "branch": self.branch,
            "answers": self.answers,
            "agreed": self.agreed,
            "judged": min(self.known, self.answers),
            "step": found and found.step,
            "what": found and found.what,
            "recorded": found and found.a,
            "now": found and found.b,
        }


@dataclass(frozen=True)
class DriftReport:
    """How far a record agrees with its script as it is now."""

    changed: bool
    """Whether the script's text differs from the recorded one."""
    branches: tuple[BranchDrift, ...]
    """All branches, the active one first."""
    files: tuple[tuple[str, str], ...] = ()
    """The script's other files that are not as recorded: name, and `edited`, `new`, `missing`."""

    @property
    def agrees(self) -> bool:
        """Whether every branch shows the same as recorded."""
        return all(branch.difference is None for branch in self.branches)

    @property
    def active(self) -> BranchDrift:
        """The active branch."""
        return self.branches[0]

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        lines = [branch.to_dict() for branch in self.branches]
        files = [{"name": name, "change": change} for name, change in self.files]
        return {"changed": self.changed, "agrees": self.agrees, "files": files, "branches": lines}


def drift_report(record: Record, source: Source, replayer: Replayer) -> DriftReport:
    """How far a record agrees with a version of its script, branch by branch.

    Raises:
        LimitError: The script exceeded a limit.
        CancelledError: The replayer was cancelled meanwhile.
    """
    names = [record.branch, *(name for name in record.names if name != record.branch)]
    branches = branch_drifts(record, names, source, replayer)
    changed = record.is_of_another_script(source.code_hash)
    files = tuple(edited_files(record, file_hashes(source)))
    return DriftReport(changed, tuple(branches), files)


def branch_drifts(
    record: Record, names: Sequence[str], source: Source, replayer: Replayer
) -> list[BranchDrift]:
    """How far several branches agree with a version of the script, each to its end.

    They are run together with all their answers, and steps after the first difference are
    dropped: answers to other questions change nothing outside the run. Branches of a script with
    grants, or one that exceeded a limit, are run one by one instead.
    """
    if source.allowed:
        return [branch_drift(record, name, source, replayer) for name in names]
    found: dict[str, BranchDrift] = {}
    lines = map(record.path_of, names)
    for index, run in replayer.walk(source, world_of(record), lines):
        name = names[index]
        if isinstance(run, LimitError):
            found[name] = branch_drift(record, name, source, replayer)
        elif isinstance(run, QuizlogError):
            raise run
        else:
            known = recorded_branch(record, name)
            found[name] = _drift(name, known, run, difference_from_record(known, run))
    return [found[name] for name in names]


def branch_drift(record: Record, name: str, source: Source, replayer: Replayer) -> BranchDrift:
    """How far one branch agrees with a version of the script, answer by answer to its end.

    An answer is given to the run only if the pending question is the recorded one.
    """
    known = recorded_branch(record, name)
    return _drift(name, known, *_follow(known, source, world_of(record), replayer))


def _drift(
    name: str, known: RecordedBranch, run: Transcript, found: Difference | None
) -> BranchDrift:
    run = run if found is None else run.upto(found.step)
    stops = len(known.inputs) if known.print is not None else 0
    judged = max(len(known.trail), min(stops, known.stop))
    return BranchDrift(name, len(known.inputs), len(run.steps), found, run, judged)


def _follow(
    known: RecordedBranch, source: Source, world: World, replayer: Replayer
) -> tuple[Transcript, Difference | None]:
    """Give answers one by one while each stop is as recorded; return the run and the difference."""
    run = replayer.replay(source, world, ())
    found = differs(known, run)
    while found is None and len(run.steps) < len(known.inputs):
        index = len(run.steps)
        further = replayer.extend(run, known.inputs[index])
        if further is not None:
            run, found = further, differs(known, further)
        else:  # a live run may have been given several of these answers already
            count = max(index + 1, replayer.passed(source, world, known.inputs))
            run = replayer.replay(source, world, known.inputs.upto(count))
            found = difference_from_record(known, run)
    return run, found


def describe_drift(drift: BranchDrift, parked: str | None) -> Iterator[str]:
    """Describe a drift: how many answers agree, the difference, the branch of the old answers."""
    if drift.difference is None:
        return
    yield f"the script no longer shows what was recorded: {drift_text(drift)}"
    if parked is not None:
        yield f"the answers as they were stay on the branch {parked}"


def drift_text(drift: BranchDrift) -> str:
    """Describe how many answers of a branch agree, and the difference after them."""
    agreed = _agreement(drift.agreed, drift.answers)
    if drift.difference is None:
        return agreed
    return f"{agreed}{', then' if drift.agreed else ':'} {difference_text(drift.difference)}"


def fit_text(branch: BranchDrift) -> str:
    """Describe how far a branch fits; nothing more is known if another tool gave the answers."""
    if branch.difference is None and branch.known < branch.answers:
        answers = plural(branch.answers, "answer")
        return f"{answers}, nothing differs in the {plural(branch.known, 'step')} known"
    return drift_text(branch)


def _agreement(agreed: int, answers: int) -> str:
    if answers == 0:
        return "no answers"
    if answers == 1:
        return "its answer agrees" if agreed else "its answer does not agree"
    if agreed == answers:
        return f"all of {answers} answers agree"
    return f"{agreed or 'none'} of {answers} answers {'agree' if agreed > 1 else 'agrees'}"


def difference_text(found: Difference) -> str:
    """Describe a difference: the step, and what was and is shown there."""
    then, now = _shown(found.a, found.no_text), _shown(found.b, NOTHING)
    return f"{NOUNS[found.what]} at step {found.step} was {then}, is {now}"


def describe_files(files: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Describe the script's other files that are not as recorded; see `DriftReport.files`."""
    return (f"{name}: {_FILE_CHANGES[change]}" for name, change in files)


_FILE_CHANGES = {
    "edited": "changed since the record was written",
    "new": "was not there, or not named, when the record was written",
    "missing": "is no longer there, or no longer named",
}
"""Descriptions of what happened to a file of the script."""
NOUNS = {
    "print": "the printed text",
    "prompt": "the question",
    "error": "the error",
    "outcome": "the outcome",
}
"""Names of what differs, for sentences."""


def _shown(value: Any, no_text: str) -> str:
    if value is None:
        return no_text
    return one_line(repr(value) if isinstance(value, str) else f"{value:g}")
