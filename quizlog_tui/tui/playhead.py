"""The position shown in a run: a step, and how much of it. Pure moves; uses no widgets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass


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
