"""Which branch an answer belongs to, and where branches part.

Pure. A branch shares its first answers with its parent, that one with its own, and so on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ..errors import UsageError
from .model import Record

_MOST_NAMES = 12
"""More names than these are not listed in an error."""


def check_branch(record: Record, name: str) -> None:
    """Raise a `UsageError` unless the record has a branch `name`, deleted or not."""
    if name != record.branch and name not in record.branches:
        raise no_branch(record, name)


def no_branch(record: Record, name: str, where: str | None = None) -> UsageError:
    """The error for a name that no branch has; it names those there are, or the most similar."""
    hint = f"there are: {', '.join(record.names)}"
    if len(record.names) > _MOST_NAMES:
        from difflib import get_close_matches

        near = get_close_matches(name, record.names, n=3, cutoff=0)
        hint = f"like it: {', '.join(near)}; `quizlog branches` lists all {len(record.names)}"
    return UsageError(f"there is no branch {name!r}", where=where, hint=hint)


def lineage(record: Record, name: str) -> dict[str, int]:
    """A branch and its ancestors, nearest first: how many steps of each are also its own.

    Of the branch itself all are, the stop after its last answer included.
    """
    return dict(upwards(record, name))


def upwards(record: Record, name: str) -> Iterator[tuple[str, int]]:
    """As `lineage`, one after the other, for whom the nearest will do."""
    reach, here = record.length_of(name) + 1, name
    while True:
        yield here, reach
        entry = record.branches.get(here)
        if entry is None or entry.parent is None:
            return
        reach, here = min(reach, entry.at), entry.parent


def owner(record: Record, name: str, at: int) -> str:
    """The branch whose own answer stands at index `at` of branch `name`."""
    return [each for each, reach in lineage(record, name).items() if at < reach][-1]


def parents_first(record: Record) -> Iterator[str]:
    """All branches, also the deleted ones, each after the one it left."""
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
    """For every branch, also the deleted ones, how many of its first answers are those of `path`.

    Each answer is looked at once, however many branches share it.
    """
    found = {record.branch: _agreeing(record.inputs, path, 0)}
    for name in parents_first(record):
        if name not in found:
            branch = record.branches[name]
            at, above = (branch.at, found[branch.parent]) if branch.parent is not None else (0, 0)
            found[name] = above if above < at else at + _agreeing(branch.inputs, path, at)
    return found


def _agreeing(own: Sequence[str], path: Sequence[str], start: int) -> int:
    """How many answers are those of a path from `start` on."""
    most = max(0, min(len(own), len(path) - start))
    return next((index for index in range(most) if own[index] != path[start + index]), most)


class Parting(NamedTuple):
    """Where a branch goes another way than the one it is compared with."""

    at: int
    """The step."""
    answer: str | None
    """Its answer there; None if it ends before."""


def partings(record: Record, name: str) -> dict[str, Parting]:
    """For every other branch that is not deleted, where it goes another way.

    Each branch is looked at once, however long the lines of their ancestors are.
    """
    reach = lineage(record, name)
    found: dict[str, Parting] = {}
    for each in reversed(reach):
        found[each] = _parting(record, each, reach[each], found)
    for each in parents_first(record):
        if each not in found:
            branch = record.branches[each]
            at = min(found[branch.parent or name].at, branch.at)
            found[each] = _parting(record, each, at, found)
    return {each: found[each] for each in record.names if each != name}


def _parting(record: Record, name: str, at: int, found: Mapping[str, Parting]) -> Parting:
    """A branch's parting at a step; where its answer there is its parent's, they part alike."""
    if name == record.branch:
        return Parting(at, record.inputs[at] if at < len(record.inputs) else None)
    branch = record.branches[name]
    if branch.parent is not None and at < branch.at:
        return Parting(at, found[branch.parent].answer)
    own = at if branch.parent is None else at - branch.at
    return Parting(at, branch.inputs[own] if own < len(branch.inputs) else None)
