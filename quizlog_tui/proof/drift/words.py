"""Describes drift in the words of all front ends."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...text import one_line, plural
from ..diverge import Difference
from .report import BranchDrift


def describe_drift(drift: BranchDrift, parked: str | None) -> Iterator[str]:
    """Describe a drift: how many answers agree, the difference, the branch of the old answers."""
    if drift.difference is None:
        return
    said = difference_text(drift.difference)
    agreed = f"{drift.agreed} of {plural(drift.answers, 'answer')}"
    yield f"the script no longer shows what was recorded: {agreed} agree, then {said}"
    if parked is not None:
        yield f"the answers as they were stay on the branch {parked}"


def difference_text(found: Difference) -> str:
    """Describe a difference: the step, and what was and is shown there."""
    then, now = _shown(found.a, "nothing that was kept"), _shown(found.b, "nothing")
    return f"{NOUNS[found.what]} at step {found.step} was {then}, is {now}"


NOUNS = {
    "print": "the printed text",
    "prompt": "the question",
    "error": "the error",
    "outcome": "the outcome",
}
"""Names of what differs, for sentences."""


def _shown(value: Any, nothing: str) -> str:
    if value is None:
        return nothing
    return one_line(repr(value) if isinstance(value, str) else f"{value:g}")
