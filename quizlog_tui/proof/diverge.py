"""Finds the first step at which two runs differ. Pure.

Compares content: printed text, then the question, then the outcome. Answers, lines, times and
source texts are ignored, so that an invisible edit makes no difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ..record.model import LastError
from ..replay.transcript import Step, Transcript

What = Literal["print", "prompt", "error", "outcome"]

NOTHING = "nothing"
"""What a run shows that shows nothing, in words."""


@dataclass(frozen=True)
class Difference:
    """The first difference between two runs."""

    step: int
    """Index of the stop, from 0; the end of the run counts as a stop."""
    what: What
    """Printed text, question, exception or outcome."""
    a: Any
    """What the first run shows there; None if it shows nothing."""
    b: Any
    """What the second run shows there; None if it shows nothing."""
    no_text: str = NOTHING
    """What it means if `a` is None, in words."""


def first_difference(a: Transcript, b: Transcript) -> Difference | None:
    """The first difference between two runs; None if they show the same.

    A longer run differs at the stop where the other one ends or waits.
    """
    stops_a, stops_b = (*a.steps, a.last), (*b.steps, b.last)
    for step, (one, other) in enumerate(zip(stops_a, stops_b, strict=False)):
        found = _at(step, one, other)
        if found is not None:
            return _with_outcome(found, a, b)
    step = min(len(stops_a), len(stops_b)) - 1
    if len(stops_a) != len(stops_b):
        return Difference(step, "outcome", _outcome_at(a, step), _outcome_at(b, step))
    return _ends(step, a, b)


def _at(step: int, a: Step, b: Step) -> Difference | None:
    """The difference at one stop; "outcome" if one run asks and the other has ended."""
    if a.written != b.written:
        one, other = first_unequal(a.print, b.print)
        return Difference(step, "print", one, other)
    if a.prompt != b.prompt:
        kind: What = "outcome" if a.prompt is None or b.prompt is None else "prompt"
        return Difference(step, kind, a.prompt, b.prompt)
    return None


def first_unequal(a: Sequence[str], b: Sequence[str]) -> tuple[str | None, str | None]:
    """The first unequal strings of two lists; None past the end of a list."""
    longest = max(len(a), len(b))
    pairs = ((_item(a, i), _item(b, i)) for i in range(longest))
    return next((pair for pair in pairs if pair[0] != pair[1]), ("\n".join(a), "\n".join(b)))


def _item(texts: Sequence[str], index: int) -> str | None:
    return texts[index] if index < len(texts) else None


def _with_outcome(found: Difference, a: Transcript, b: Transcript) -> Difference:
    if found.what != "outcome":
        return found
    return Difference(found.step, "outcome", _outcome_at(a, found.step), _outcome_at(b, found.step))


def _outcome_at(run: Transcript, step: int) -> str:
    """The status of a run at a stop."""
    if step < len(run.steps) or run.status == "in_progress":
        return "in_progress"
    return run.status


def _ends(step: int, a: Transcript, b: Transcript) -> Difference | None:
    """The difference between the outcomes of two runs of the same length."""
    if a.status != b.status:
        return Difference(step, "outcome", a.status, b.status)
    if a.error_type != b.error_type:
        return Difference(step, "error", _describe_end(a), _describe_end(b))
    return _errors(step, a.last_error, b.last_error)


def _describe_end(run: Transcript) -> str | None:
    error = run.last_error
    return f"{run.error_type}: {error.message}" if error else None


def _errors(step: int, a: LastError | None, b: LastError | None) -> Difference | None:
    if a is None or b is None:
        return None if a is b else Difference(step, "error", a and a.message, b and b.message)
    if a.message != b.message:
        return Difference(step, "error", a.message, b.message)
    if a.score != b.score:
        return Difference(step, "outcome", a.score, b.score)
    return None
