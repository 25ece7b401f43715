"""The words that HTML and Markdown share: outcomes, where a branch leaves, who remarked."""

from __future__ import annotations

from ..record.feedback import Feedback
from ..record.model import Status
from ..text import plural
from .document import BranchSection

MARK = "<!-- quizlog export -->"
"""Stands in the first lines of every export, so that one may be written over another."""
_OUTCOMES = {"in_progress": "● waiting", "success": "✓ finished", "error": "✗ error"}


def outcome(status: Status | None, score: float | None) -> str:
    """A sign, a word, and the score where there is one."""
    known = "? not run" if status is None else _OUTCOMES[status]
    return known if score is None else f"{known}, score {score:g}"


def length(branch: BranchSection) -> str:
    """How many answers a branch has, those of its parent included."""
    return plural(branch.at + max(len(branch.moments) - 1, 0), "answer")


def signed(said: Feedback) -> list[str]:
    """Verdict, author, time and unknown keys of a remark: untrusted words."""
    rest = [f"{key}={value}" for key, value in said.extras.items()]
    return [word for word in (said.verdict, said.author, said.time, *rest) if word]


def place(said: Feedback) -> list[str]:
    """Branch and step of a remark that stands apart from them."""
    step = [] if said.at is None else [f"step {said.at}"]
    return [*([f"branch {said.branch}"] if said.branch else []), *step]
