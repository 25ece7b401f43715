"""Where somebody looks in a run: a step, and how much of it. Pure moves; knows no widgets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Playhead:
    """A place in a run of `length` answers."""

    step: int
    """How many answers are shown as given."""
    length: int
    """How many there are."""
    hidden: int = 0
    """Events of the last step that are not shown yet, its question among them."""

    def to(self, step: int) -> Playhead:
        """The whole of a step, the nearest there is."""
        return Playhead(max(0, min(step, self.length)), self.length)

    def event(self, by: int, events: Callable[[int], int]) -> Playhead:
        """One printed text or question on (1) or back (-1).

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
        """The next (1) or previous (-1) of some steps; here if there is none."""
        ahead = [at for at in marks if (at > self.step if by > 0 else at < self.step)]
        return self.to((min if by > 0 else max)(ahead)) if ahead else self
