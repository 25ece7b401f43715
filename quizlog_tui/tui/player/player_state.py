"""The state of the player: the run, the position in it, and what the next answer does.

Plain data; each move returns the next state. Uses no widgets.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ...record.model import Record
from ...replay.transcript import Transcript
from ...session.session import Session
from ...session.trials import Culprit
from ...text import clipped, one_line, plural


@dataclass(frozen=True)
class Playhead:
    """A place in a run of `length` answers."""

    step: int
    """Number of answers shown as given."""
    length: int
    """Number of all answers."""
    hidden: int = 0
    """Events of the last step that are not shown yet, its question among them."""

    def to(self, step: int) -> Playhead:
        """Show a step completely; out-of-range steps are clamped."""
        return Playhead(max(0, min(step, self.length)), self.length)

    def event(self, by: int, events: Callable[[int], int]) -> Playhead:
        """Move one printed text or question forward (1) or back (-1).

        Args:
            by: 1 or -1.
            events: How many events the step that follows so many answers has.
        """
        hidden = self.hidden - by
        if 0 <= hidden < events(self.step):
            return Playhead(self.step, self.length, hidden)
        if by > 0:
            if self.step == self.length:
                return self
            return Playhead(self.step + 1, self.length, events(self.step + 1) - 1)
        return self.to(self.step - 1) if self.step else self

    def mark(self, by: int, marks: Sequence[int]) -> Playhead:
        """Move to the next (1) or previous (-1) of these steps; stay if there is none."""
        ahead = [at for at in marks if (at > self.step if by > 0 else at < self.step)]
        return self.to((min if by > 0 else max)(ahead)) if ahead else self


Mode = Literal["answer", "fork", "amend"]
"""What the next answer does: answer, fork, or replace the recorded one."""
_MOST_SHOWN = 20
"""Characters of an answer in a finding."""


@dataclass(frozen=True)
class BisectFinding:
    """What bisect found on a branch."""

    branch: str
    answers: tuple[str, ...]
    """Its answers as far as the finding is about them."""
    text: str

    @classmethod
    def of(cls, session: Session, culprit: Culprit | None) -> BisectFinding:
        """What bisect found on the active branch, in words that name the branch and the answer."""
        branch, answers = session.record.branch, tuple(session.record.inputs)
        if culprit is None:
            return cls(branch, answers, f"{branch}: no answer makes the outcome fail")
        answer = clipped(one_line(answers[culprit.step]), _MOST_SHOWN) or "(empty)"
        said = f"{branch}: {answer} at step {culprit.step} makes the outcome fail"
        if culprit.failing_too:
            others = plural(len(culprit.failing_too), "other answer")
            said = f"{branch}: it fails at step {culprit.step} with {answer}, and with {others} too"
        return cls(branch, answers[: culprit.step + 1], said)

    def holds(self, record: Record) -> bool:
        """Whether the branch still has these answers."""
        if self.branch not in record.names:
            return False
        return tuple(record.path_of(self.branch).upto(len(self.answers))) == self.answers


@dataclass(frozen=True)
class PlayerState:
    """The state of the player; each method returns the next state."""

    whole: Transcript
    """The run through all recorded answers."""
    head: Playhead
    """The place shown of it."""
    mode: Mode = "answer"
    finding: BisectFinding | None = None
    """What bisect found; shown as long as it holds, until the user takes it away."""

    @property
    def step(self) -> int:
        """The step shown."""
        return self.head.step

    @property
    def shown(self) -> Transcript:
        """The run up to the step shown."""
        return self.whole.upto(self.step)

    @property
    def recorded(self) -> str | None:
        """The answer recorded at the step shown, if there is one."""
        steps = self.whole.steps
        return steps[self.step].input if self.step < len(steps) else None

    def to(self, step: int) -> PlayerState:
        """The state at a step, clamped; the mode stays."""
        return replace(self, head=self.head.to(step))

    def look(self, head: Playhead) -> PlayerState:
        """The state at a position; a started fork or amendment is cancelled."""
        return replace(self, head=head, mode="answer")

    def begin(self, mode: Mode) -> PlayerState | None:
        """The state in which the next answer is a fork or amendment; None if nothing was asked.

        Without a pending question, or a recorded answer to amend, it applies to the previous step.
        """
        asked = self.shown.status == "in_progress"
        here = asked and (mode == "fork" or self.step < self.head.length)
        if not here and not self.step:
            return None
        return replace(self.to(self.step if here else self.step - 1), mode=mode)

    def give_up(self) -> PlayerState:
        """The state with a started fork or amendment cancelled."""
        return replace(self, mode="answer")

    def found(self, finding: BisectFinding | None) -> PlayerState:
        """With what bisect found; None takes it away."""
        return replace(self, finding=finding)


def state_of(whole: Transcript, pointer: int, step: int | None = None) -> PlayerState:
    """The state after a new run, at a step or else at the pointer; no mode begun, nothing found."""
    head = Playhead(pointer, len(whole.steps))
    return PlayerState(whole, head if step is None else head.to(step))
