"""Changes to a branch as a whole: rename, note, delete, restore.

Pure functions from record to record. Deleting hides a branch; no answer is ever dropped.
"""

from __future__ import annotations

from dataclasses import replace

from ..errors import UsageError
from .branches import checked_name, remarks_moved
from .lineage import check_branch
from .model import Branch, Record


def renamed(record: Record, name: str, new: str) -> Record:
    """The record with a branch renamed, in its children and in feedback too.

    Raises:
        UsageError: There is no such branch, or the new name is taken or unusable.
    """
    check_branch(record, name)
    if new == name:
        return record
    checked_name(record, new)
    branches = {
        new if key == name else key: replace(branch, parent=new)
        if branch.parent == name
        else branch
        for key, branch in record.branches.items()
    }
    active = new if record.branch == name else record.branch
    extras = remarks_moved(record, name, new)
    return replace(record, branch=active, branches=branches, extras=extras)


def noted(record: Record, name: str, text: str) -> Record:
    """The record with a note on a branch; an empty text removes the note.

    Raises:
        UsageError: There is no such branch.
    """
    entry = _entry(record, name)
    note = text or None
    return record if entry.note == note else _with(record, name, replace(entry, note=note))


def deleted(record: Record, name: str, time: str) -> Record:
    """The record with a branch deleted: hidden from lists, its answers and children kept.

    Raises:
        UsageError: There is no such branch, or it is the active one.
    """
    entry = _entry(record, name)
    if name == record.branch:
        hint = "switch to another branch first"
        raise UsageError(f"{name!r} is the active branch", hint=hint)
    return record if entry.deleted else _with(record, name, replace(entry, deleted=time))


def restored(record: Record, name: str) -> Record:
    """The record with a deleted branch restored.

    Raises:
        UsageError: There is no such branch.
    """
    entry = _entry(record, name)
    return _with(record, name, replace(entry, deleted=None)) if entry.deleted else record


def _entry(record: Record, name: str) -> Branch:
    check_branch(record, name)
    return record.branches.get(name, Branch(None, 0))


def _with(record: Record, name: str, entry: Branch) -> Record:
    """The record with a branch's entry set; a new entry is the first branch's and comes first."""
    rest = dict(record.branches)
    branches = rest | {name: entry} if name in rest else {name: entry} | rest
    return replace(record, branches=branches)
