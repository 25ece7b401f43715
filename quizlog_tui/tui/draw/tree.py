"""Draws the branches of a record as a tree, and the details of one branch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ...session.reply import BranchInfo
from ...text import one_line, plural, told_apart
from ..clock import Clock
from ..widgets.columns import Cell, Grid, Layout, cells_line, layout, widest
from ..widgets.documents import Line, Paragraphs, StackedDocuments, Table, line
from .library import state_text
from .status import STYLES, outcome

_LEVELS = 12
"""Maximum levels drawn; deeper branches have a mark."""


@dataclass(frozen=True)
class TreeRow:
    """A branch in the tree."""

    branch: BranchInfo
    under: str | None
    """The branch above it in the tree; None at the root."""
    at: int
    """Number of answers it shares with that branch."""
    lead: str
    """The lines that connect it to the tree."""
    name: str
    """The branch's name as it is shown: no other in the tree looks the same."""

    @property
    def label(self) -> str:
        """Lines and name, the active branch with a star."""
        star = "* " if self.branch.active else ""
        return f"{self.lead}{star}{self.name}"


def tree_rows(branches: Sequence[BranchInfo], *, deleted: bool = False) -> list[TreeRow]:
    """The rows of the tree: parents before children, earlier forks first.

    A branch is drawn under the branch with which it shares its last common answer. That is not its
    parent if the parent is hidden or has no own answer before the fork.

    Args:
        branches: All branches, oldest first.
        deleted: Show deleted ones too.
    """
    shown = {each.name: each for each in branches if deleted or each.active or not each.deleted}
    places = _places(branches, shown)
    children: dict[str | None, list[BranchInfo]] = {}
    for branch in shown.values():
        children.setdefault(places[branch.name][0], []).append(branch)
    for family in children.values():
        family.sort(key=lambda each: places[each.name][1])
    rows, names = [], told_apart(shown)
    todo = [(root, "", "") for root in reversed(children.get(None, []))]
    while todo:
        branch, lead, below = todo.pop()
        rows.append(TreeRow(branch, *places[branch.name], _cut(lead), names[branch.name]))
        family = children.get(branch.name, [])
        for place, child in reversed([*enumerate(family, 1)]):
            ends = place == len(family)
            deeper = below + ("  " if ends else "│ ")
            todo.append((child, below + ("└─" if ends else "├─"), deeper[-2 * _LEVELS - 2 :]))
    return rows


def _cut(lead: str) -> str:
    """The connecting lines of a branch without those of distant levels."""
    return lead if len(lead) <= 2 * _LEVELS else f"⋯ {lead[2 - 2 * _LEVELS :]}"


def _places(
    branches: Sequence[BranchInfo], shown: dict[str, BranchInfo]
) -> dict[str, tuple[str | None, int]]:
    """For each branch, the branch above it and the number of shared answers."""
    known = {each.name: each for each in branches}
    found: dict[str, tuple[str | None, int]] = {}
    for branch in branches:
        chain = []
        here: BranchInfo | None = branch
        while here is not None and here.name not in found:
            chain.append(here)
            here = known.get(here.parent) if here.parent is not None else None
        for each in reversed(chain):
            found[each.name] = _place(each, found, shown)
    return found


def _place(
    branch: BranchInfo, found: dict[str, tuple[str | None, int]], shown: dict[str, BranchInfo]
) -> tuple[str | None, int]:
    """The same for one branch whose parent has been placed."""
    if branch.parent is None or branch.parent not in found:
        return None, 0
    above, at = found[branch.parent]
    if branch.parent in shown and (above is None or branch.at > at):
        return branch.parent, branch.at
    return above, min(branch.at, at)


def tree_grid(rows: Sequence[TreeRow], clock: Clock) -> Grid:
    """A row for each branch, the columns as the width allows."""

    def make(index: int, columns: Layout) -> Line:
        return _row(rows[index], columns, clock)

    def text(index: int) -> str:
        branch = rows[index].branch
        state = state_text(branch.status, branch.score)
        return f"{rows[index].label} {state} {branch.note or ''}"

    return Grid(len(rows), tree_layout(rows), make, text)


def tree_layout(rows: Sequence[TreeRow]) -> Callable[[int], Layout]:
    """The columns for a width."""
    longest = widest(row.label for row in rows)
    note = widest(row.branch.note for row in rows)
    columns = {
        "branch": max(longest, 12),
        "left at": 7,
        "answers": 7,
        "state": 13,
        "created": 10,
        "note": max(note, 8),
    }
    least = {"branch": min(18, columns["branch"]), "created": 10, "note": 8}
    return lambda width: layout(width, columns, least)


def _row(row: TreeRow, columns: Layout, clock: Clock) -> Line:
    branch = row.branch
    state = (state_text(branch.status, branch.score), STYLES[branch.status])
    cells: dict[str, Cell] = {
        "branch": (row.label, "answer" if branch.active else "dim" if branch.deleted else ""),
        "left at": "" if row.under is None else f"step {row.at}",
        "answers": f"{branch.length:>7}",
        "state": ("␡ deleted", "dim") if branch.deleted else state,
        "created": (clock.describe(branch.created), "dim"),
        "note": branch.note or "",
    }
    return cells_line(columns, cells)


def branch_detail(row: TreeRow, path: Sequence[str], clock: Clock) -> StackedDocuments:
    """The details of a branch, then all its answers, with the fork marked.

    Args:
        row: The branch.
        path: Its answers.
        clock: Formats times.
    """
    return StackedDocuments(Paragraphs([*_facts(row, clock), line("")]), _answers(row, path))


def _facts(row: TreeRow, clock: Clock) -> Iterator[Line]:
    branch = row.branch
    active = " · the active branch" if branch.active else ""
    state = (outcome(branch.status, branch.score), STYLES[branch.status])
    yield line((row.name, "head"), " · ", state, (active, "dim"))
    left = f", leaves {row.under} at step {row.at}" if row.under is not None else ""
    made = f", made {clock.describe(branch.created)}" if branch.created else ""
    yield line((f"{plural(branch.length, 'answer')}{left}{made}", "dim"))
    if branch.deleted:
        yield line((f"deleted {clock.describe(branch.deleted)}; U restores it", "warn"))
    if branch.note:
        yield line(("✎ ", "dim"), branch.note)


def _answers(row: TreeRow, path: Sequence[str]) -> Table:
    fork = row.at if row.under is not None else -1

    def make(index: int) -> Line:
        if index == fork:
            return line((f"  ┬ leaves {row.under}", "warn"), cut=True)
        at = index - 1 if 0 <= fork < index else index
        own = at >= fork
        answer = one_line(path[at]) or "(empty)"
        return line((f"{at:4} ", "dim"), (answer, "answer" if own else "dim"), cut=True)

    return Table(len(path) + (fork >= 0), make)
