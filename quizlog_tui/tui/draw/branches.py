"""Branches on one line each."""

from __future__ import annotations

from ...branch_list import BranchInfo
from ...text import plural
from ..widgets.documents import Line, line
from .words import STYLES, outcome


def branch_line(branch: BranchInfo) -> Line:
    """A branch for lists: name, length, where it left, outcome."""
    left = f" from {branch.parent} at step {branch.at}" if branch.parent else ""
    return line(
        ("* " if branch.active else "  ", "answer"),
        f"{branch.name}  ",
        (f"{plural(branch.length, 'answer')}{left}  ", "dim"),
        (outcome(branch.status, branch.score), STYLES[branch.status]),
        cut=True,
    )
