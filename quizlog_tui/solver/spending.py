"""How the seconds for one question are divided between its two rounds. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass

SECOND_SHARE = 1 / 3
"""The share of a budget that is kept for a second round, while one may be needed."""


@dataclass(frozen=True)
class Shares:
    """The most that parts of a budget may take, in seconds."""

    model: float = math.inf
    """One model's reply, repair included."""
    second: float = math.inf
    """The second round."""

    def first(self, budget: float) -> float:
        """How long the first round may take where models differ: the second must have its time."""
        if budget == math.inf:
            return budget
        return budget - min(self.second, budget * SECOND_SHARE)


UNSHARED = Shares()
"""No part has a bound of its own."""
