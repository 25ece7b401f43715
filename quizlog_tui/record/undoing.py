"""Restores an earlier state of a record without losing later answers.

Pure functions. Answers that were only appended stay after the pointer, as after a rewind. Other
answers that the earlier state lacks become a deleted branch, which can be restored.
"""

from __future__ import annotations

from dataclasses import replace

from . import who
from .append_only_list import AppendOnlyList
from .branches import BranchEnd, free_name
from .lineage import agreements, parents_first
from .model import Branch, Record


def restored_state(record: Record, left: Record, end: BranchEnd) -> Record:
    """`record` with the answers of `left` that it lacks.

    Args:
        record: The state to restore.
        left: The present state, which is left.
        end: The state at the end of the active branch of `left`.
    """
    twins = _twins(record, left)
    lengths = {name: record.length_of(twin) for name, twin in twins.items()}
    for name in left.all_names:
        if lengths.get(name, -1) < left.length_of(name):
            record = _with_line(record, left, name, end)
    return who.restore_givers(record, left)


def _twins(record: Record, left: Record) -> dict[str, str]:
    """For branches of `left`, a branch of `record` such that one path starts with the other.

    Only branches that are cheap to match are included: an unchanged list of answers is the same
    object in both states, even if its branch was renamed.
    """
    found: dict[str, str] = {}
    mine, theirs = left.branch, record.branch
    for name, twin in ((mine, mine), (theirs, theirs), (mine, theirs)):
        both = name in left.all_names and twin in record.all_names
        if both and name not in found and record.path_of(twin).agrees(left.path_of(name)):
            found[name] = twin
    rest = {name: entry for name, entry in record.branches.items() if name != record.branch}
    places = {_place(entry, entry.parent): name for name, entry in rest.items()}
    for name in parents_first(left):
        branch = left.branches.get(name)
        if branch is None or name in found:
            continue
        if branch.parent is None or branch.parent in found:
            parent = None if branch.parent is None else found[branch.parent]
            place = _place(branch, parent)
            found |= {name: places[place]} if place in places else {}
    return found


def _place(branch: Branch, parent: str | None) -> tuple[str | None, int, int]:
    return parent, branch.at, id(branch.inputs)


def _with_line(record: Record, left: Record, name: str, end: BranchEnd) -> Record:
    """The record with the answers of a branch of `left`, on a new branch if necessary."""
    path = left.path_of(name)
    shared = agreements(record, path)
    if len(path) in shared.values():
        return record
    if name == record.branch and path.starts_with(record.inputs):
        return replace(record, inputs=path)
    taken = name in record.all_names
    parent = max(record.all_names, key=shared.__getitem__)
    at = shared[parent]
    entry = replace(
        left.branches.get(name, Branch(None, 0)),
        parent=parent,
        at=at,
        inputs=AppendOnlyList(path[at:]),
        trail=AppendOnlyList(left.trail_of(name)[at + 1 :]),
        deleted=end.time,
    )
    if name == left.branch:
        entry = replace(entry, status=end.status, score=end.score)
    branches = {**record.branches, free_name(record, name) if taken else name: entry}
    return replace(record, branches=branches)
