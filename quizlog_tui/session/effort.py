"""What a run cost: how long each step took the script and its answerer, and who answered how often.

Pure; sums what a timeline and the decisions of models tell.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import isnan

from ..record.who import Attribution

UNKNOWN = "unknown"
"""Stands for a giver of whom nothing is recorded."""


@dataclass(frozen=True)
class Asked:
    """What it took to ask models one question."""

    requests: int
    """How many replies were asked for, those of a second round included."""
    seconds: float
    """How long the models took, all of them together."""


@dataclass(frozen=True)
class StepEffort:
    """What one answer took."""

    at: int
    """Index of the answer."""
    giver: str
    """Who gave it: a name, else a kind of giver, else a door; `unknown` if nothing is recorded."""
    door: str | None
    """By which way it came; None if not known."""
    time: str | None
    """When it came, ISO 8601 in UTC; None if not known."""
    waited: float | None
    """Seconds from the answer before, or the start of the record; None if not known."""
    script: float | None
    """Seconds that the script took to ask; None if not known."""
    asked: Asked | None
    """What asking models took; None if none were asked."""


@dataclass(frozen=True)
class Effort:
    """The sums over all answers of a run."""

    answers: int
    """How many there are."""
    givers: Mapping[str, int]
    """How many answers each giver gave, the busiest first."""
    waited: float | None
    """Seconds between answers, as far as known; None if nothing is known."""
    script: float
    """Seconds that the script took."""
    requests: int
    """Requests to models."""


def giver_text(given: Attribution) -> str:
    """Who gave an answer, in a word or a name."""
    return given.name or given.by or given.door or UNKNOWN


def seconds_between(before: str | None, after: str | None) -> float | None:
    """Seconds from one time to another, as records write them; None unless both are times."""
    try:
        start, end = datetime.fromisoformat(before or ""), datetime.fromisoformat(after or "")
        return max(0.0, (end - start).total_seconds())
    except (ValueError, TypeError, OverflowError):
        return None


def step_efforts(
    givers: Mapping[int, Attribution],
    script: Iterable[float],
    start: str | None,
    asked: Mapping[int, Asked],
    known: Sequence[StepEffort] = (),
) -> list[StepEffort]:
    """What each answer took.

    Args:
        givers: How the answers were given, by step, as far as that is known.
        script: Seconds that the script took to ask each question that is not `known`; NaN if not
            known.
        start: When the record was made, ISO 8601 in UTC.
        asked: What asking models took, by step.
        known: What the first answers took.
    """
    found, before = list(known), known[-1].time if known else start
    for at, seconds in enumerate(script, len(found)):
        given = givers.get(at, Attribution())
        waited = seconds_between(before, given.time)
        own = None if isnan(seconds) else seconds
        giver = giver_text(given)
        found.append(StepEffort(at, giver, given.door, given.time, waited, own, asked.get(at)))
        before = given.time
    return found


def total_effort(steps: Iterable[StepEffort]) -> Effort:
    """The sums over some answers."""
    every = list(steps)
    waits = [step.waited for step in every if step.waited is not None]
    return Effort(
        len(every),
        dict(Counter(step.giver for step in every).most_common()),
        sum(waits) if waits else None,
        sum(step.script or 0.0 for step in every),
        sum(step.asked.requests for step in every if step.asked),
    )
