"""Going back to an earlier state of a record without losing what was answered since.

Pure. An answer that was only added stays ahead of the pointer, as after a rewind. Any other line of
answers that the earlier state does not have becomes a deleted branch, which can be restored.
"""

from __future__ import annotations

from dataclasses import replace

from .append_only_list import AppendOnlyList
from .branches import BranchEnd, free_name
from .lineage import agreements, parents_first
from .model import Branch, Record


def keeping(record: Record, left: Record, parked: BranchEnd) -> Record:
    """`record`, with the lines of answers of `left` that it lacks.

    Args:
        record: The state to go to.
        left: The state that is left.
        parked: How the active branch of `left` stands at its end.
    """
    twins = _twins(record, left)
    lengths = {name: record.length_of(twin) for name, twin in twins.items()}
    for name in left.all_names:
        if lengths.get(name, -1) < left.length_of(name):
            record = _with_line(record, left, name, parked)
    return record


def _twins(record: Record, left: Record) -> dict[str, str]:
    """For branches of `left`, one of `record` with the same answers as far as the shorter goes.

    Only where that is plain to see, without comparing all answers of all branches: what did not
    change is the very same object in both, whatever its name is now.
    """
    found: dict[str, str] = {}
    one, other = left.branch, record.branch
    for name, twin in ((one, one), (other, other), (one, other)):
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


def _with_line(record: Record, left: Record, name: str, parked: BranchEnd) -> Record:
    """The record with the answers of a branch of `left`, on a branch of their own if it must be."""
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
        deleted=parked.time,
    )
    if name == left.branch:
        entry = replace(entry, status=parked.status, score=parked.score)
    branches = {**record.branches, free_name(record, name) if taken else name: entry}
    return replace(record, branches=branches)
