"""The timeline of a branch: its steps with questions, answers, remarks and other branches. Pure.

Used by the shell and the screens. Replays nothing, and makes a row only when it is accessed. The
efforts tell how long each step took the script and its answerer, and who answered how often.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import isnan
from typing import TypeVar, overload

from ..record import feedback
from ..record.feedback import Feedback
from ..record.lineage import partings
from ..record.model import Record, Status
from ..record.who import Attribution, giver_text
from ..replay.transcript import Step, Transcript
from .tell_tales import TellTale, tell_tales

T = TypeVar("T")


@dataclass(frozen=True)
class Try:
    """Another branch that diverges at a step."""

    branch: str
    """Its name."""
    answer: str | None
    """Its answer at this step; None if it has none."""
    status: Status | None
    """Its status at its end; None if that is not known."""
    score: float | None
    """Its score there, if it ended."""


@dataclass(frozen=True)
class TimelineRow:
    """One stop of the run: a question with its answer, or the last stop."""

    at: int
    """Index of the answer."""
    step: Step
    """The script's step to this stop."""
    used: bool
    """Whether the answer is before the pointer."""
    notes: tuple[Feedback, ...]
    """The remarks on it."""
    tries: tuple[Try, ...]
    """The branches that diverge here."""
    tales: tuple[TellTale, ...] = ()
    """What it tells that the answer ran as code; empty if it did not."""

    @property
    def code(self) -> bool:
        """Whether the answer ran as code, more than literals and arithmetic."""
        return bool(self.tales)

    @property
    def question(self) -> str | None:
        """The question, as the program showed it; None where the run ended."""
        return self.step.question

    @property
    def answer(self) -> str | None:
        """The answer; None at the last stop."""
        return self.step.input

    @property
    def seconds(self) -> float:
        """Seconds from the previous answer to this stop."""
        return self.step.seconds

    @property
    def line(self) -> int | None:
        """The script line that asks."""
        return self.step.line

    @property
    def kind(self) -> str | None:
        """Kind of answer wanted; None if nothing is asked."""
        return self.step.input_type if self.step.prompt is not None else None


class Timeline(Sequence[TimelineRow]):
    """The rows of a run; see `timeline`."""

    def __init__(
        self,
        whole: Transcript,
        pointer: int,
        notes: Mapping[int, tuple[Feedback, ...]],
        tries: Mapping[int, tuple[Try, ...]],
    ) -> None:
        self._whole = whole
        self._pointer = pointer
        self._notes = notes
        self._tries = tries
        self._tales = _grouped((tale.at, tale) for tale in tell_tales(whole))

    @property
    def marked(self) -> list[int]:
        """The marked steps in order: remarks, other branches, answers run as code, tampering."""
        marked = {*self._notes, *self._tries, *self._tales}
        if self._whole.tampered_at is not None:
            marked.add(self._whole.tampered_at)
        return sorted(at for at in marked if at < len(self))

    def __len__(self) -> int:
        return len(self._whole.steps) + 1

    @overload
    def __getitem__(self, index: int) -> TimelineRow: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[TimelineRow]: ...
    def __getitem__(self, index: int | slice) -> TimelineRow | Sequence[TimelineRow]:
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(len(self)))]
        at = range(len(self))[index]
        steps = self._whole.steps
        return TimelineRow(
            at,
            steps[at] if at < len(steps) else self._whole.last,
            at < self._pointer,
            self._notes.get(at, ()),
            self._tries.get(at, ()),
            self._tales.get(at, ()),
        )


def timeline(
    whole: Transcript, record: Record, name: str | None = None, *, tries: bool = True
) -> Timeline:
    """The timeline of a branch, with its last stop at the end.

    Its cost depends on the number of branches and remarks, not of steps.

    Args:
        whole: The run through all answers of the branch.
        record: The record.
        name: The branch; the active one if None.
        tries: Whether to find the branches that diverge.
    """
    name = record.branch if name is None else name
    ways = partings(record, name) if tries else {}
    remarks = feedback.on_branch(record, name, feedback.read(record))
    notes = _grouped((said.at, said) for said in remarks if said.at is not None)
    tried = _grouped((way.at, _try(record, other, way.answer)) for other, way in ways.items())
    pointer = record.pointer if name == record.branch else len(whole.steps)
    return Timeline(whole, pointer, notes, tried)


def _grouped(pairs: Iterable[tuple[int, T]]) -> dict[int, tuple[T, ...]]:
    found: dict[int, list[T]] = {}
    for at, item in pairs:
        found.setdefault(at, []).append(item)
    return {at: tuple(items) for at, items in found.items()}


def _try(record: Record, name: str, answer: str | None) -> Try:
    entry = record.branches.get(name)
    if name == record.branch:
        return Try(name, answer, record.status, record.score)
    return Try(name, answer, entry.status if entry else None, entry.score if entry else None)


@dataclass(frozen=True)
class StepEffort:
    """What one answer took."""

    giver: str
    """Who gave it: a name, else a kind of giver, else a door; `unknown` if nothing is recorded."""
    time: str | None
    """When it came, ISO 8601 in UTC; None if not known."""
    waited: float | None
    """Seconds from the answer before, or the start of the record; None if not known."""
    script: float | None
    """Seconds that the script took to ask; None if not known."""
    requests: int
    """Requests to models, those of a second round included."""


@dataclass(frozen=True)
class Effort:
    """The sums over all answers of a run."""

    givers: Mapping[str, int]
    """How many answers each giver gave, the busiest first."""
    waited: float | None
    """Seconds between answers, as far as known; None if nothing is known."""
    script: float
    """Seconds that the script took."""
    requests: int
    """Requests to models."""


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
    requests: Mapping[int, int],
    known: Sequence[StepEffort] = (),
) -> list[StepEffort]:
    """What each answer took.

    Args:
        givers: How the answers were given, by step, as far as that is known.
        script: Seconds that the script took to ask each question that is not `known`; NaN if not
            known.
        start: When the record was made, ISO 8601 in UTC.
        requests: How many replies models were asked for, by step.
        known: What the first answers took.
    """
    found, before = list(known), known[-1].time if known else start
    for at, seconds in enumerate(script, len(found)):
        given = givers.get(at, Attribution())
        waited = seconds_between(before, given.time)
        own = None if isnan(seconds) else seconds
        asked = requests.get(at, 0)
        found.append(StepEffort(giver_text(given), given.time, waited, own, asked))
        before = given.time
    return found


def total_effort(steps: Iterable[StepEffort]) -> Effort:
    """The sums over some answers."""
    every = list(steps)
    waits = [step.waited for step in every if step.waited is not None]
    return Effort(
        dict(Counter(step.giver for step in every).most_common()),
        sum(waits) if waits else None,
        sum(step.script or 0.0 for step in every),
        sum(step.requests for step in every),
    )
