"""Phrases shared by HTML and Markdown: outcomes, lengths, and the heads of remarks."""

from __future__ import annotations

from datetime import UTC, datetime

from ..record.feedback import Feedback
from ..record.model import Status
from ..replay.script.needed_files import EXPORT
from ..text import plural
from .document import BranchSection

MARK = EXPORT
"""Marks a file as an export, in its first lines, so that a later export may replace it."""
_OUTCOMES = {"in_progress": "● waiting", "success": "✓ finished", "error": "✗ error"}


def outcome(status: Status | None, score: float | None) -> str:
    """An outcome as a sign, a word, and the score if there is one."""
    known = "? not run" if status is None else _OUTCOMES[status]
    return known if score is None else f"{known}, score {score:g}"


def length(branch: BranchSection) -> str:
    """The number of answers of a branch, shared ones included, in words."""
    return plural(branch.at + max(len(branch.moments) - 1, 0), "answer")


def signed(remark: Feedback) -> list[str]:
    """A remark's verdict, author, time and unknown keys, as untrusted text."""
    rest = [f"{key}={value}" for key, value in remark.extras.items()]
    time = when(remark.time) if remark.time else ""
    return [word for word in (remark.verdict, remark.author, time, *rest) if word]


def when(time: str) -> str:
    """A recorded time to be read, to the minute; what is no time stays as it is."""
    try:
        then = datetime.fromisoformat(time)
        zone = "" if then.tzinfo is None else " UTC"
        then = then.astimezone(UTC) if zone else then
    except (ValueError, OverflowError):
        return time
    return f"{then:%Y-%m-%d %H:%M}{zone}" if ":" in time else time


def place(remark: Feedback) -> list[str]:
    """The branch and step of a remark, for one that is not shown at its step."""
    step = [] if remark.at is None else [f"step {remark.at}"]
    return [*([f"branch {remark.branch}"] if remark.branch else []), *step]
