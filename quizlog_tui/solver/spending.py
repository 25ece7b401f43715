"""Divides the seconds for one question between its two rounds. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass

SECOND_SHARE = 1 / 3
"""Share of a budget that is reserved for a second round while one may be needed."""


@dataclass(frozen=True)
class Shares:
    """Limits in seconds for parts of a budget."""

    model: float = math.inf
    """One model's reply, repair included."""
    second: float = math.inf
    """The second round."""

    def first(self, budget: float) -> float:
        """Seconds for the first round if models differ, so that time is left for the second."""
        if budget == math.inf:
            return budget
        return budget - min(self.second, budget * SECOND_SHARE)


UNSHARED = Shares()
"""No part has its own limit."""
