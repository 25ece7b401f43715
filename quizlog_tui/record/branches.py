"""Changes to a record's branches: answer, rewind, fork, switch, rename, delete, undo.

Pure functions from record to record. No answer is ever dropped: answers that are replaced become
a branch, deleting hides a branch, and answers that an earlier state lacks become a deleted branch
when that state is restored. The caller replays the script; nothing here knows what it does with the
answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any, NamedTuple

from ..errors import UsageError
from ..text import plural
from . import who
from .append_only_list import AppendOnlyList
from .lineage import agreements, check_branch, parents_first
from .model import Branch, Record, Status


class BranchEnd(NamedTuple):
    """The state at the end of the active branch, which is about to be left."""

    status: Status | None = None
    score: float | None = None
    time: str | None = None
    code_hash: str | None = None
    """Hash of the script it was replayed with, if that differs from the record's."""


def rewound(record: Record, pointer: int) -> Record:
    """The same answers with the pointer moved.

    Raises:
        UsageError: `pointer` is not between 0 and the number of answers.
    """
    check_pointer(record, pointer)
    return replace(record, pointer=pointer)


def check_pointer(record: Record, pointer: int) -> None:
    """Raise a `UsageError` unless the record has a stop at `pointer`."""
    if not 0 <= pointer <= len(record.inputs):
        have = plural(len(record.inputs), "answer")
        hint = f"choose a step from 0 to {len(record.inputs)}"
        raise UsageError(f"there is no step {pointer}: the record has {have}", hint=hint)


def leaves_tail(record: Record, at: int, answer: str) -> bool:
    """Whether giving `answer` at step `at` replaces recorded answers."""
    return at < len(record.inputs) and record.inputs[at] != answer


def answered(record: Record, at: int, answer: str, end: BranchEnd) -> Record:
    """The record with `answer` given at step `at` of the active branch.

    If that answer is already recorded there, the pointer steps forward. Otherwise the recorded
    answers from there on become a branch, and the active branch continues with the new answer.
    """
    if leaves_tail(record, at, answer):
        return parted(record, at, answer, end)
    return stepped(record, at, answer)


def stepped(record: Record, at: int, answer: str) -> Record:
    """The record one step after `at`, where `answer` is recorded already or is the next one."""
    inputs = record.inputs if at < len(record.inputs) else record.inputs.then(answer)
    return record.but(inputs=inputs, pointer=at + 1)


def parted(record: Record, at: int, answer: str, end: BranchEnd) -> Record:
    """The record with another answer at step `at`, the recorded ones from there on a branch."""
    left = cut(record, at, end)
    return replace(left, inputs=left.inputs.then(answer), pointer=at + 1)


def cut(record: Record, at: int, end: BranchEnd) -> Record:
    """The record with the active branch cut at step `at`; its later answers become a branch."""
    name = free_name(record, record.branch)
    entry = _active_entry(record)
    start = entry.at if at < entry.at else at
    tail = Branch(
        entry.parent if at < entry.at else record.branch,
        start,
        AppendOnlyList(record.inputs[start:]),
        AppendOnlyList(record.trail[start + 1 :]),
        end.status,
        end.score,
        end.time,
        code_hash=end.code_hash,
    )
    branches = _moved_children(record, record.branch, name, at) | {name: tail}
    if record.branch in branches:
        branches[record.branch] = replace(entry, at=min(entry.at, at))
    inputs, trail = record.inputs.upto(at), record.trail.upto(at + 1)
    pointer = min(record.pointer, at)
    extras = remarks_moved(record, record.branch, name, at)
    moved = replace(record, inputs=inputs, trail=trail, pointer=pointer)
    return replace(moved, branches=branches, extras=extras)


def replanted(record: Record, agreed: int, end: BranchEnd) -> Record:
    """The record after a replay whose stop after `agreed` answers differs from the recorded one.

    Those answers stay. The old answers become a branch with the fingerprints of their stops; it
    forks before the stop that has changed, so that no branch has both versions of it.
    """
    if agreed > 0:
        left = cut(record, agreed - 1, end)
        inputs = left.inputs.then(record.inputs[agreed - 1])
        trail = left.trail.upto(agreed)
        return replace(left, inputs=inputs, trail=trail, pointer=min(record.pointer, agreed))
    name = free_name(record, record.branch)
    entry = _active_entry(record)
    old = replace(
        entry,
        inputs=AppendOnlyList(record.inputs[entry.at :]),
        trail=AppendOnlyList(record.trail[entry.fingerprints_from :]),
        status=end.status,
        score=end.score,
        created=entry.created or end.time,
        code_hash=end.code_hash,
    )
    branches = _moved_children(record, record.branch, name, -1)
    branches |= {name: old, record.branch: Branch(None, 0)}
    extras = remarks_moved(record, record.branch, name, 0)
    moved = replace(record, inputs=AppendOnlyList(), trail=AppendOnlyList(), pointer=0)
    return replace(moved, branches=branches, extras=extras)


def _active_entry(record: Record) -> Branch:
    """The active branch's entry, with its fork point corrected if another tool cut `inputs`."""
    entry = record.branches.get(record.branch, Branch(None, 0))
    if entry.parent is None:
        return replace(entry, at=0)
    path = record.path_of(entry.parent).upto(entry.at)
    pairs = zip(path, record.inputs, strict=False)
    shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    return replace(entry, at=shared)


def _moved_children(record: Record, parent: str, name: str, at: int) -> dict[str, Branch]:
    """The branches, where those that forked from `parent` after `at` now fork from `name`."""
    return {
        child: replace(branch, parent=name)
        if branch.parent == parent and branch.at > at
        else branch
        for child, branch in record.branches.items()
    }


def remarks_moved(record: Record, branch: str, to: str, since: int = 0) -> Mapping[str, Any]:
    """The extensions, with what is about `branch` from step `since` on moved to branch `to`.

    These are the remarks, and who gave the answers. If `since` is 0, remarks on the branch as a
    whole are moved too.
    """
    extras = dict(record.extras)
    for key, whole in (("feedback", not since), ("who", False)):
        items = extras.get(key)
        if isinstance(items, (list, AppendOnlyList)):
            extras[key] = type(items)(
                {**item, "branch": to} if _is_about(item, branch, since, whole=whole) else item
                for item in items
            )
    return extras


def _is_about(item: Any, branch: str, since: int, *, whole: bool) -> bool:
    """Whether an entry of any tool is about a branch, from a step on or as a `whole`."""
    if not isinstance(item, Mapping) or item.get("branch") != branch:
        return False
    at: Any = item.get("at")
    is_step = isinstance(at, int) and not isinstance(at, bool) and at >= 0
    return at >= since if is_step else whole


def forked(record: Record, at: int, answer: str, name: str | None, end: BranchEnd) -> Record:
    """The record with a new active branch, forked at step `at` with `answer`.

    Raises:
        UsageError: There is no such step, or the name is taken or unusable.
    """
    check_pointer(record, at)
    new = free_name(record, "fork") if name is None else _checked_name(record, name)
    entry = Branch(record.branch, at, created=end.time)
    branches = dict(_with_active_stored(record, end)) | {new: entry}
    inputs, trail = record.inputs.upto(at).then(answer), record.trail.upto(at + 1)
    moved = replace(record, inputs=inputs, trail=trail, pointer=at + 1)
    return replace(moved, branch=new, branches=branches)


def added_branch(
    record: Record,
    at: int,
    answer: str,
    name: str | None,
    end: BranchEnd,
    fingerprints: Sequence[str] = (),
    later: Sequence[str] = (),
) -> Record:
    """The record with a new branch, forked from the active one at step `at` with `answer`.

    Args:
        record: The record; its active branch and pointer do not change.
        at: The step to fork at.
        answer: The answer at that step.
        name: The branch's name; `fork-1`, `fork-2`, ... if None.
        end: The state of the run after the last answer.
        fingerprints: The fingerprint of the stop after each answer; empty if they are not known.
        later: The answers that follow on the branch.

    Raises:
        UsageError: There is no such step, or the name is taken or unusable.
    """
    check_pointer(record, at)
    new = free_name(record, "fork") if name is None else _checked_name(record, name)
    entry = Branch(
        record.branch,
        at,
        AppendOnlyList([answer, *later]),
        AppendOnlyList(fingerprints),
        status=end.status,
        score=end.score,
        created=end.time,
    )
    return replace(record, branches=dict(record.branches) | {new: entry})


def switched(record: Record, name: str, end: BranchEnd) -> Record:
    """The record with another branch made active, and the pointer at its end.

    Raises:
        UsageError: There is no such branch.
    """
    if name == record.branch:
        return record
    check_branch(record, name)
    if record.hides(name):
        raise UsageError(f"the branch {name!r} is deleted", hint="restore it first")
    inputs, trail = record.path_of(name), record.trail_of(name)
    branches = dict(_with_active_stored(record, end))
    branches[name] = replace(
        branches[name],
        inputs=AppendOnlyList(),
        trail=AppendOnlyList(),
        status=None,
        score=None,
        code_hash=None,
    )
    moved = replace(record, inputs=inputs, trail=trail, pointer=len(inputs))
    return replace(moved, branch=name, branches=branches)


def _with_active_stored(record: Record, end: BranchEnd) -> Mapping[str, Branch]:
    """The branches, with the answers of the active one stored among them."""
    entry = _active_entry(record)
    tail, trail = (
        AppendOnlyList(record.inputs[entry.at :]),
        AppendOnlyList(record.trail[entry.fingerprints_from :]),
    )
    left = replace(entry, inputs=tail, trail=trail, status=end.status, score=end.score)
    rest = dict(record.branches)
    return rest | {record.branch: left} if record.branch in rest else {record.branch: left} | rest


def free_name(record: Record, stem: str) -> str:
    """The first of `stem-1`, `stem-2`, ... that names no branch."""
    number = 1
    while f"{stem}-{number}" in record.branches or f"{stem}-{number}" == record.branch:
        number += 1
    return f"{stem}-{number}"


def _checked_name(record: Record, name: str) -> str:
    """`name`, if a new branch can have it.

    Raises:
        UsageError: It is unusable, or a branch has it already, be it a deleted one.
    """
    if name in record.branches or name == record.branch:
        state = ", deleted" if record.hides(name) else ""
        message = f"there is a branch {name!r} already{state}"
        raise UsageError(message, hint="choose another name")
    if not name or len(name) > 100 or any(ord(c) < 33 or c in "@\x7f" for c in name):
        hint = "1 to 100 characters, no spaces, no @"
        raise UsageError(f"{name!r} cannot name a branch", hint=hint)
    return name


def renamed(record: Record, name: str, new: str) -> Record:
    """The record with a branch renamed, in its children and in feedback too.

    Raises:
        UsageError: There is no such branch, or the new name is taken or unusable.
    """
    check_branch(record, name)
    if new == name:
        return record
    _checked_name(record, new)
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
