"""Describes drift in the words of all front ends."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ...text import one_line
from ..diverge import Difference
from .report import BranchDrift


def describe_drift(drift: BranchDrift, parked: str | None) -> Iterator[str]:
    """Describe a drift: how many answers agree, the difference, the branch of the old answers."""
    if drift.difference is None:
        return
    yield f"the script no longer shows what was recorded: {drift_text(drift)}"
    if parked is not None:
        yield f"the answers as they were stay on the branch {parked}"


def drift_text(drift: BranchDrift) -> str:
    """Describe how many answers of a branch agree, and the difference after them."""
    agreed = _agreement(drift.agreed, drift.answers)
    if drift.difference is None:
        return agreed
    return f"{agreed}{', then' if drift.agreed else ':'} {difference_text(drift.difference)}"


def _agreement(agreed: int, answers: int) -> str:
    if answers == 0:
        return "no answers"
    if answers == 1:
        return "its answer agrees" if agreed else "its answer does not agree"
    if agreed == answers:
        return f"all of {answers} answers agree"
    return f"{agreed or 'none'} of {answers} answers {'agree' if agreed > 1 else 'agrees'}"


def difference_text(found: Difference) -> str:
    """Describe a difference: the step, and what was and is shown there."""
    then, now = _shown(found.a, "nothing that was kept"), _shown(found.b, "nothing")
    return f"{NOUNS[found.what]} at step {found.step} was {then}, is {now}"


def describe_files(files: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Describe the script's other files that are not as recorded; see `DriftReport.files`."""
    return (f"{name}: {_FILE_CHANGES[change]}" for name, change in files)


_FILE_CHANGES = {
    "edited": "changed since the record was written",
    "new": "was not there, or not named, when the record was written",
    "missing": "is no longer there, or no longer named",
}
"""Descriptions of what happened to a file of the script."""
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
