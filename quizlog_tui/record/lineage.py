"""Which branch an answer belongs to, and where branches part.

Pure. A branch shares its first answers with its parent, that one with its own, and so on.
"""

from __future__ import annotations

from ..errors import UsageError
from .model import Record


def check_branch(record: Record, name: str) -> None:
    """Raise a `UsageError` unless the record has a branch `name`, deleted or not."""
    if name != record.branch and name not in record.branches:
        hint = f"there are: {', '.join(record.names)}"
        raise UsageError(f"there is no branch {name!r}", hint=hint)


def lineage(record: Record, name: str) -> dict[str, int]:
    """A branch and its ancestors, nearest first: how many steps of each are also its own.

    Of the branch itself all are, the stop after its last answer included.
    """
    found: dict[str, int] = {}
    reach, here = len(record.path_of(name)) + 1, name
    while True:
        found[here] = reach
        entry = record.branches.get(here)
        if entry is None or entry.parent is None:
            return found
        reach, here = min(reach, entry.at), entry.parent


def owner(record: Record, name: str, at: int) -> str:
    """The branch whose own answer stands at index `at` of branch `name`."""
    return [each for each, reach in lineage(record, name).items() if at < reach][-1]


def partings(record: Record, name: str) -> dict[str, int]:
    """For every other branch that is not deleted, at which step it goes another way."""
    found = lineage(record, name)
    for other in record.all_names:
        chain = []
        here = other
        while here not in found:
            chain.append(here)
            here = record.branches[here].parent or name
        for each in reversed(chain):
            found[each] = min(found[here], record.branches[each].at)
            here = each
    return {each: found[each] for each in record.names if each != name}


def answer_at(record: Record, name: str, at: int) -> str | None:
    """The answer a branch has at a step; None if it ends before."""
    here = name
    while here != record.branch:
        branch = record.branches[here]
        if at >= branch.at or branch.parent is None:
            own = at - branch.at
            return branch.inputs[own] if own < len(branch.inputs) else None
        here = branch.parent
    return record.inputs[at] if at < len(record.inputs) else None
