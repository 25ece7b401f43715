"""Collects what is known about the steps of an open record: attempts, notes and decisions.

Reads the decisions file beside the record again when it changes. Uses no widgets.

A decision names the branch and the step of its question. It also belongs to branches that fork from
that branch at that step or later, since they share the question.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...errors import DecisionError
from ...files.paths import decisions_path
from ...files.regular_file import Watch
from ...record import who
from ...record.append_only_list import AppendOnlyList
from ...record.feedback import Feedback
from ...record.lineage import lineage
from ...record.model import Record
from ...record.who import giver_and_door
from ...replay.transcript import Step, Transcript
from ...session.session import Session
from ...session.timeline import (
    StepEffort,
    Timeline,
    TimelineRow,
    step_efforts,
    timeline,
)
from ...text import one_line
from ..draw.timeline import ALERT, DECISION, FORK, NOTE

if TYPE_CHECKING:
    from ...solver.decision import Decision


def _unchanged(now: object, before: object) -> bool:
    """Whether a part of a record is the same object; numbers are compared by value."""
    return now is before or (isinstance(now, int) and now == before)


def _sign(row: TimelineRow) -> str:
    if row.code or row.step.tampered:
        return ALERT
    return NOTE if row.notes else FORK


def _marks(whole: Transcript, rows: Timeline, decided: frozenset[int]) -> dict[int, str]:
    found = {at: _sign(rows[at]) for at in rows.marked}
    found |= dict.fromkeys(decided, DECISION)
    if whole.status == "error":
        found[len(whole.steps)] = "✗"
    return dict(sorted((at, sign) for at, sign in found.items() if at <= len(whole.steps)))


def _notes(rows: Timeline) -> dict[int, list[str]]:
    return {
        at: [_note_line(note) for note in rows[at].notes] for at in rows.marked if rows[at].notes
    }


def _note_line(note: Feedback) -> str:
    head = " · ".join(filter(None, (note.verdict, note.author)))
    return one_line(f"{NOTE} {': '.join(filter(None, (head, note.text)))}")


@dataclass(frozen=True)
class _EffortState:
    """What the efforts of a run follow from."""

    steps: AppendOnlyList[Step]
    record: Record
    decisions: Sequence[Decision]

    @property
    def entries(self) -> int:
        """How many entries there are of who answered."""
        return len(who.entries(self.record))

    def continues(self, before: _EffortState) -> bool:
        """Whether only answers and their givers were added."""
        return (
            self.steps.continues(before.steps)
            and _continue(self._who, before._who)
            and self.decisions is before.decisions
            and self.record.branch == before.record.branch
            and self.record.branches is before.record.branches
        )

    def equals(self, before: _EffortState) -> bool:
        """Whether nothing was added either."""
        same = self._who is before._who or self.entries == before.entries
        return self.continues(before) and len(self.steps) == len(before.steps) and same

    @property
    def _who(self) -> object:
        return self.record.extras.get(who.KEY)


def _continue(now: object, before: object) -> bool:
    if isinstance(now, AppendOnlyList) and isinstance(before, AppendOnlyList):
        return now.continues(before)
    return now is before


class KnownSteps:
    """The steps of a record; recomputed only where something has changed."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._decisions: list[Decision] = []
        self._watch = Watch(decisions_path(session.path), seen=False)
        self._state: tuple[object, ...] | None = None
        self._timeline = timeline(session.transcript, session.record)
        self._marks: dict[int, str] = {}
        self._notes: dict[int, list[str]] = {}
        self._effort_state: _EffortState | None = None
        self._efforts: list[StepEffort] = []

    def timeline(self, whole: Transcript) -> Timeline:
        """The steps of a run through all answers, each with its notes and attempts."""
        record = self._session.record
        notes = record.extras.get("feedback")
        state = (whole, record.pointer, record.branch, record.branches, notes)
        self._read_decisions()
        if self._state is None or not all(map(_unchanged, state, self._state)):
            self._state = state
            self._timeline = timeline(whole, record)
            self._marks = _marks(whole, self._timeline, self.decided)
            self._notes = _notes(self._timeline)
        return self._timeline

    @property
    def decided(self) -> frozenset[int]:
        """The steps whose answer several models decided."""
        return frozenset(decisions_by_step(self._decisions, self._session.record))

    def efforts(self, whole: Transcript) -> list[StepEffort]:
        """What each answer of a run took, and who gave it; one more answer adds only its own."""
        record = self._session.record
        state, before = _EffortState(whole.steps, record, self._decisions), self._effort_state
        if before is not None and state.equals(before):
            return self._efforts
        known, since = list[StepEffort](), 0
        if before is not None and state.continues(before):
            known, since = self._efforts, before.entries
        givers = who.on_branch(record, record.branch, since)
        if min(givers, default=len(known)) < len(known):  # told of an earlier answer
            known, givers = [], who.on_branch(record, record.branch)
        seconds = [step.seconds for step in whole.steps[len(known) :]]
        start = record.extras.get("start_time")
        start = start if isinstance(start, str) else None
        requests = _requests_by_step(self._decisions, record)
        self._efforts = step_efforts(givers, seconds, start, requests, known)
        self._effort_state = state
        return self._efforts

    def given(self, step: int) -> str:
        """Who gave the answer at a step and by which door, as far as that is known."""
        given = who.on_branch(self._session.record, self._session.record.branch).get(step)
        found = giver_and_door(given) if given else []
        found += ["decided by several models"] if step in self.decided else []
        return " · ".join(found)

    def marks(self, whole: Transcript) -> dict[int, str]:
        """The steps worth stopping at, each with its sign."""
        self.timeline(whole)
        return self._marks

    def notes(self, whole: Transcript) -> dict[int, list[str]]:
        """The notes on the steps that have some, a line each."""
        self.timeline(whole)
        return self._notes

    def _read_decisions(self) -> None:
        """Read the record's decisions if their file has changed."""
        if self._watch.touched():
            from ...solver.decision_text import read_decisions

            with suppress(DecisionError):  # told when somebody asks for them
                path = decisions_path(self._session.path)
                self._decisions = read_decisions(path).decisions
            self._state = None


def decisions_by_step(decisions: Sequence[Decision], record: Record) -> dict[int, list[int]]:
    """For each step of the active branch that has any, its decisions as indexes, oldest first."""
    reach = lineage(record, record.branch)
    found: dict[int, list[int]] = {}
    for index, decision in enumerate(decisions):
        asked = decision.question
        branch = record.branch if asked.branch is None else asked.branch
        if asked.pointer is not None and asked.pointer <= reach.get(branch, -1):
            found.setdefault(asked.pointer, []).append(index)
    return dict(sorted(found.items()))


def _requests_by_step(decisions: Sequence[Decision], record: Record) -> dict[int, int]:
    """How many replies live models were asked for at each step of the active branch."""
    found = {}
    for step, indexes in decisions_by_step(decisions, record).items():
        made = [decisions[index] for index in indexes]
        live = {reply.name for each in made for reply in each.models if reply.source == "live"}
        first = sum(reply.name in live for each in made for reply in each.models)
        again = sum(reply.name in live for each in made for reply in each.reconciliation)
        found[step] = first + again
    return found


def nearest(decisions: Sequence[Decision], record: Record, step: int) -> int:
    """The decision to show first at a step: its last, or that of the nearest step before it."""
    steps = decisions_by_step(decisions, record)
    before = [at for at in steps if at <= step] or list(steps)[:1]
    return steps[before[-1]][-1] if before else 0
