"""Divides the three minutes of a page. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from ...solver.solve import Shares

_THINKING = Shares(model=45.0, second=40.0)


@dataclass(frozen=True)
class Budget:
    """Seconds of one page, counted from when its URL was issued."""

    render: float = 8.0
    download: float = 15.0
    thinking: Shares = _THINKING
    """Shares of the time for an attempt; the sandbox limits the time of a model's code."""
    submissions: tuple[float, ...] = (75.0, 125.0, 160.0)
    """When the first, second and third answer should be sent at the latest; no more are sent."""
    stop: float = 172.0
    """When nothing more is sent."""
    least_gap: float = 1.2
    """Minimum seconds before an answer is sent, as one in the URL's first second may not count."""
    least_thought: float = 5.0
    """Minimum seconds for the models, as long as the page is not over."""

    def thought(self, attempt: int, age: float) -> float:
        """Seconds that models and their code may take before an attempt.

        A page whose own time for the attempt passed while it waited gets that of the next one.
        """
        left = [by - age for by in self.submissions[attempt:]]
        wished = next((one for one in left if one >= self.least_thought), self.least_thought)
        return max(0.0, min(wished, self.stop - age))

    def open(self, attempt: int, age: float) -> bool:
        """Whether another answer may be prepared."""
        if attempt >= len(self.submissions) or age >= self.stop:
            return False
        return attempt == 0 or age < self.submissions[attempt]
