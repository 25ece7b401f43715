"""Which conditions make two runs part, found by changing conditions until they do.

Pure search over a question put to it; knows nothing of runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence


def culprits(conditions: Sequence[str], parts: Callable[[Sequence[str]], bool]) -> tuple[str, ...]:
    """Conditions whose change makes the difference, none of them needlessly; mostly just one.

    Halves the conditions that are changed, as long as the difference stays, then changes back one
    after the other. In the end it must go when nothing is changed, or it came of itself.

    Args:
        conditions: Those that make the difference when all are changed.
        parts: Whether the difference is there with just these changed.

    Returns:
        The conditions; none if the difference came of itself.
    """
    left = _halved(list(conditions), parts)
    for one in left if len(left) > 1 else ():
        fewer = [other for other in left if other != one]
        if parts(fewer):
            left = fewer
    return () if parts(()) else tuple(left)


def _halved(left: list[str], parts: Callable[[Sequence[str]], bool]) -> list[str]:
    """The conditions after as many halvings as keep the difference."""
    while len(left) > 1:
        half = len(left) // 2
        kept = next((side for side in (left[:half], left[half:]) if parts(side)), None)
        if kept is None:
            return left
        left = kept
    return left
