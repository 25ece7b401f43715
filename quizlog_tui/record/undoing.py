"""Going back to an earlier state of a record without losing what was answered since.

Pure. An answer that was only added stays ahead of the pointer, as after a rewind. Any other line of
answers that the earlier state does not have becomes a deleted branch, which can be restored.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import takewhile

from ..series import Series
from .branches import Parked, free_name
from .model import Branch, Record


def keeping(record: Record, left: Record, parked: Parked) -> Record:
    """`record`, with the lines of answers of `left` that it lacks.

    Args:
        record: The state to go to.
        left: The state that is left.
        parked: How the active branch of `left` stands at its end.
    """
    for name in left.all_names:
        path = left.path_of(name)
        if not _has(record, name, path):
            record = _added(record, left, name, path, parked)
    return record


def _has(record: Record, name: str, path: Series[str]) -> bool:
    """Whether a branch starts with these answers; the one of that name is the likeliest."""
    names = [name] if name in record.all_names else []
    return any(record.path_of(each).starts_with(path) for each in [*names, *record.all_names])


def _added(record: Record, left: Record, name: str, path: Series[str], parked: Parked) -> Record:
    if name == record.branch and path.starts_with(record.inputs):
        return replace(record, inputs=path)
    taken = name in record.all_names
    parent = max(record.all_names, key=lambda each: _shared(record.path_of(each), path))
    at = _shared(record.path_of(parent), path)
    known = left.branches.get(name, Branch(None, 0))
    marks = Series(left.trail_of(name)[at + 1 :])
    entry = replace(
        known, parent=parent, at=at, inputs=Series(path[at:]), trail=marks, deleted=parked.time
    )
    if name == left.branch:
        entry = replace(entry, status=parked.status, score=parked.score)
    branches = {**record.branches, free_name(record, name) if taken else name: entry}
    return replace(record, branches=branches)


def _shared(one: Series[str], other: Series[str]) -> int:
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
