"""Continues a record whose script has changed: agreeing answers stay, the rest becomes a branch.

No answer is dropped, and none is given to another question than its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..errors import UsageError
from ..record.branches import BranchEnd, replanted
from ..record.model import Record, edited_files
from ..replay.replayer import Replayer
from ..replay.script.needed_files import file_hashes
from ..replay.script.source import Source
from ..replay.transcript import Transcript, extended_trail, question_of
from ..replay.world import world_of

if TYPE_CHECKING:
    from .drift import BranchDrift


@dataclass(frozen=True)
class SettledRecord:
    """A record that can be continued with the present text of its script."""

    record: Record
    transcript: Transcript
    """The run up to its pointer."""
    warnings: tuple[str, ...]
    """What a user should know."""


def settle(
    record: Record, source: Source, replayer: Replayer, clock: Callable[[], str]
) -> SettledRecord:
    """A record just read, with all answers whose questions are still the recorded ones.

    If not all are, the old answers become a branch. For an unchanged script only the questions are
    compared: that it prints something else each time is a warning.
    """
    found = _settled_answers(record, source, replayer, clock)
    edits = tuple(edited_files(record, file_hashes(source)))
    if not edits:
        return found
    from .drift import describe_files

    return replace(found, warnings=(*found.warnings, *describe_files(edits)))


def _settled_answers(
    record: Record, source: Source, replayer: Replayer, clock: Callable[[], str]
) -> SettledRecord:
    changed = record.is_of_another_script(source.code_hash)
    record = _with_code_hashes(record) if changed else record
    if record.code_hash == source.code_hash or not (record.print or record.trail):
        run = replayer.replay(source, world_of(record), record.used)
        if _same_questions(record, run):  # nearly always so; the rest is imported on demand
            notes = (*_notes(record, source, run), *run.warnings)
            return _settled(record, run, run, notes)
    from .drift import branch_drift

    drift = branch_drift(record, record.branch, source, replayer)
    if drift.difference is not None:
        stood = _standing(record, clock())
        then = record.code_hash if changed else None
        return _with_old_branch(record, drift, replace(stood, code_hash=then))
    same = "the script has changed since the record was written; all that it shows is the same"
    run = replayer.replay(source, world_of(record), record.used)
    notes = (*((same,) if changed else ()), *run.warnings)
    return _settled(record, run, run, notes)


def settle_switched(
    before: Record, moved: Record, source: Source, replayer: Replayer, clock: Callable[[], str]
) -> SettledRecord:
    """A record whose active branch was just changed; that branch may be of an older script.

    Args:
        before: The record when the branch was not yet the active one.
        moved: The record now.
        source: The script.
        replayer: Runs the script.
        clock: Returns the present time, for `created` of a branch.

    Raises:
        UsageError: Not one of its answers belongs to a question of the script as it is now.
    """
    from .drift import branch_drift

    drift = branch_drift(before, moved.branch, source, replayer)
    if drift.difference is None:
        return _settled(moved, drift.run, drift.run, drift.run.warnings)
    if not drift.agreed and drift.answers:
        raise _of_older_script(drift)
    entry = before.branches[moved.branch]
    parked = BranchEnd(entry.status, entry.score, clock(), entry.code_hash)
    return _with_old_branch(moved, drift, parked)


def _of_older_script(drift: BranchDrift) -> UsageError:
    from .drift import drift_text

    message = f"cannot switch to {drift.branch}, which is of an older script: {drift_text(drift)}"
    return UsageError(message, hint="its answers stay; undo the edit of the script to run them")


def _with_code_hashes(record: Record) -> Record:
    """The record with the hash of the recorded script in each branch."""
    branches = dict(record.branches)
    for name in {*branches} - {record.branch}:
        then = branches[name].code_hash or record.code_hash
        branches[name] = replace(branches[name], code_hash=then)
    return replace(record, branches=branches)


def _settled(
    record: Record, run: Transcript, whole: Transcript, notes: tuple[str, ...]
) -> SettledRecord:
    trail = extended_trail(record.trail, whole)
    return SettledRecord(replace(record, trail=trail, pointer=len(run.steps)), run, notes)


def _standing(record: Record, time: str) -> BranchEnd:
    """The recorded end of the active branch, as far as it is known."""
    if record.pointer != len(record.inputs):
        return BranchEnd(time=time)
    score = record.last_error.score if record.last_error else None
    return BranchEnd(record.status, 1.0 if record.status == "success" else score, time)


def _same_questions(record: Record, run: Transcript) -> bool:
    stops = (*run.steps, run.last)
    return all(
        question_of(marked) == stop.prompt
        for marked, stop in zip(record.trail, stops, strict=False)
    )


def _with_old_branch(record: Record, drift: BranchDrift, stood: BranchEnd) -> SettledRecord:
    """The record with the agreeing answers up to its pointer, and the old answers on a branch."""
    from .drift import describe_drift

    continued = replace(record, trail=record.trail.upto(drift.agreed))
    ended = stood.status in ("success", "error")
    if record.inputs and (ended or drift.agreed < drift.answers):
        continued = replanted(record, drift.agreed, stood)
    parked = next((name for name in continued.branches if name not in record.all_names), None)
    run = drift.run.upto(record.pointer)
    return _settled(continued, run, drift.run, (*describe_drift(drift, parked), *run.warnings))


def _notes(record: Record, source: Source, run: Transcript) -> Iterator[str]:
    """Warnings about differences between a record and a run of the same script."""
    if record.is_of_another_script(source.code_hash):
        yield "the script has changed since the record was written, and nothing of it can be judged"
    if len(run.steps) < record.pointer:
        used = len(run.steps)
        yield f"the script ends after {used} of the {record.pointer} answers before the pointer"
    elif record.print and record.print != run.print:
        pairs = enumerate(zip(record.print, run.print, strict=False))
        short = min(len(record.print), len(run.print))
        index = next((i for i, (then, now) in pairs if then != now), short)
        yield f"the script no longer prints what was recorded, from print[{index}] on"
    if record.trail and _end(record) != _end(run):
        yield f"the script no longer ends as recorded: {_end(record)}, now {_end(run)}"


def _end(of: Record | Transcript) -> str:
    """The outcome of a record or a run, as text for a comparison."""
    error = of.last_error
    return f"{of.status}, {error.message!r}, score {error.score:g}" if error else of.status
