"""Which branch an answer belongs to, and where branches diverge.

Pure functions. A branch shares its first answers with its parent, which shares its own first
answers with its parent, and so on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ..errors import UsageError, did_you_mean
from .model import Record

_MOST_NAMES = 12
"""Up to this many branches, an error lists all names."""


def check_branch(record: Record, name: str) -> None:
    """Raise a `UsageError` unless the record has a branch `name`, deleted or not."""
    if name != record.branch and name not in record.branches:
        raise no_branch(record, name)


def no_branch(record: Record, name: str, where: str | None = None) -> UsageError:
    """The error for an unknown branch; it names the most similar one."""
    known = f"there are: {', '.join(record.names)}"
    if len(record.names) > _MOST_NAMES:
        known = f"`quizlog branches` lists all {len(record.names)}"
    hint = f"{did_you_mean(name, record.names)} {known}".lstrip()
    return UsageError(f"there is no branch {name!r}", where=where, hint=hint)


def lineage(record: Record, name: str) -> dict[str, int]:
    """A branch and its ancestors, nearest first: how many steps of each the branch shares.

    For the branch itself these are all steps, the stop after its last answer included.
    """
    return dict(upwards(record, name))


def upwards(record: Record, name: str) -> Iterator[tuple[str, int]]:
    """The items of `lineage` one by one, for callers that need only the nearest."""
    reach, here = record.length_of(name) + 1, name
    while True:
        yield here, reach
        entry = record.branches.get(here)
        if entry is None or entry.parent is None:
            return
        reach, here = min(reach, entry.at), entry.parent


def owner(record: Record, name: str, at: int) -> str:
    """The branch that the answer at index `at` of branch `name` belongs to."""
    return [other for other, reach in lineage(record, name).items() if at < reach][-1]


def parents_first(record: Record) -> Iterator[str]:
    """All branches, deleted ones included, each after its parent."""
    seen: set[str] = set()
    for name in record.all_names:
        line: list[str] = []
        here: str | None = name
        while here is not None and here not in seen:
            seen.add(here)
            line.append(here)
            entry = record.branches.get(here)
            here = entry.parent if entry else None
        yield from reversed(line)


def agreements(record: Record, path: Sequence[str]) -> dict[str, int]:
    """For every branch, deleted ones included, how many answers it shares with the start of `path`.

    Each answer is compared once, however many branches share it.
    """
    found = {record.branch: _agreeing(record.inputs, path, 0)}
    for name in parents_first(record):
        if name not in found:
            branch = record.branches[name]
            at, above = (branch.at, found[branch.parent]) if branch.parent is not None else (0, 0)
            found[name] = above if above < at else at + _agreeing(branch.inputs, path, at)
    return found


def _agreeing(own: Sequence[str], path: Sequence[str], start: int) -> int:
    """How many answers at the start of `own` equal those of `path` from `start` on."""
    most = max(0, min(len(own), len(path) - start))
    return next((index for index in range(most) if own[index] != path[start + index]), most)


class Parting(NamedTuple):
    """Where a branch diverges from the one it is compared with."""

    at: int
    """The step."""
    answer: str | None
    """The branch's answer at that step; None if it ends there."""


def partings(record: Record, name: str) -> dict[str, Parting]:
    """For every other branch that is not deleted, where it diverges from branch `name`.

    Each branch is visited once, however many ancestors it has.
    """
    reach = lineage(record, name)
    found: dict[str, Parting] = {}
    for other in reversed(reach):
        found[other] = _parting(record, other, reach[other], found)
    for other in parents_first(record):
        if other not in found:
            branch = record.branches[other]
            at = min(found[branch.parent or name].at, branch.at)
            found[other] = _parting(record, other, at, found)
    return {other: found[other] for other in record.names if other != name}


def _parting(record: Record, name: str, at: int, found: Mapping[str, Parting]) -> Parting:
    """The parting of a branch at a step; it is the parent's if that step belongs to the parent."""
    if name == record.branch:
        return Parting(at, record.inputs[at] if at < len(record.inputs) else None)
    branch = record.branches[name]
    if branch.parent is not None and at < branch.at:
        return Parting(at, found[branch.parent].answer)
    own = at if branch.parent is None else at - branch.at
    return Parting(at, branch.inputs[own] if own < len(branch.inputs) else None)
