"""Collects what is known about the steps of an open record: attempts, notes and decisions.

Reads the decisions file beside the record again when it changes. Uses no widgets.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from ..errors import DecisionError
from ..files.paths import decisions_path
from ..record import who
from ..replay.transcript import Transcript
from ..session.effort import StepEffort, giver_text, step_efforts
from ..session.session import Session
from ..session.timeline import Moment, Timeline, timeline
from .decided import asked, decided
from .draw.timeline import ALERT, DECISION, FORK, NOTE
from .watch import Watch

if TYPE_CHECKING:
    from ..solver.decisions.decision import Decision


def _unchanged(now: object, before: object) -> bool:
    """Whether a part of a record is the same object; numbers are compared by value."""
    return now is before or (isinstance(now, int) and now == before)


def _sign(moment: Moment) -> str:
    """The one-cell sign of a step."""
    if moment.code or moment.step.tampered:
        return ALERT
    return NOTE if moment.notes else FORK


class KnownSteps:
    """The steps of a record; recomputed only where something has changed.

    Args:
        session: The open record.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._decisions: list[Decision] = []
        self._watch = Watch(decisions_path(session.path), seen=False)
        self._state: tuple[object, ...] | None = None
        self._moments = timeline(session.transcript, session.record)
        self._effort_state: tuple[object, ...] | None = None
        self._efforts: list[StepEffort] = []

    def moments(self, whole: Transcript) -> Timeline:
        """The steps of a run through all answers, each with its notes and attempts."""
        record = self._session.record
        state = (whole, record.pointer, record.branches, record.extras.get("feedback"))
        self._read_decisions()
        if self._state is None or not all(map(_unchanged, state, self._state)):
            self._state = state
            self._moments = timeline(whole, record)
        return self._moments

    @property
    def decided(self) -> frozenset[int]:
        """The steps whose answer several models decided."""
        return frozenset(decided(self._decisions, self._session.record))

    def efforts(self, whole: Transcript) -> list[StepEffort]:
        """What each answer of a run took, and who gave it."""
        record = self._session.record
        state = (whole, record.extras.get(who.KEY), self._decisions)
        if self._effort_state is None or not all(map(_unchanged, state, self._effort_state)):
            start = record.extras.get("start_time")
            self._effort_state = state
            self._efforts = step_efforts(
                who.on_branch(record, record.branch),
                [step.seconds for step in whole.steps],
                start if isinstance(start, str) else None,
                asked(self._decisions, record),
            )
        return self._efforts

    def given(self, step: int) -> str:
        """Who gave the answer at a step and by which door, as far as that is known."""
        given = who.on_branch(self._session.record, self._session.record.branch).get(step)
        found = [giver_text(given)] if given else []
        found += [f"by {given.door}"] if given and given.door not in (None, *found) else []
        found += ["decided by several models"] if step in self.decided else []
        return " · ".join(found)

    def marks(self, whole: Transcript) -> dict[int, str]:
        """The steps worth stopping at, each with its sign."""
        moments = self.moments(whole)
        found = {at: _sign(moments[at]) for at in moments.marked}
        found |= dict.fromkeys(self.decided, DECISION)
        if whole.status == "error":
            found[len(whole.steps)] = "✗"
        return dict(sorted((at, sign) for at, sign in found.items() if at <= len(whole.steps)))

    def _read_decisions(self) -> None:
        """Read the record's decisions if their file has changed."""
        if self._watch.touched():
            from ..solver.decisions.decision_file import read_decisions

            with suppress(DecisionError):  # told when somebody asks for them
                path = decisions_path(self._session.path)
                self._decisions = read_decisions(path).decisions
            self._state = None
