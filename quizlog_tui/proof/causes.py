"""Finds the conditions that make two runs differ, by changing conditions. Pure.

Knows nothing of runs: the caller answers whether a set of conditions makes a difference.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..replay.world import OPEN_CONDITIONS


def find_culprits(
    conditions: Sequence[str], parts: Callable[[Sequence[str]], bool]
) -> tuple[str, ...]:
    """A minimal set of conditions whose change makes the difference; mostly a single one.

    Halves the changed conditions as long as the difference remains, then drops one after the other.
    Finally the difference must come again with these, and vanish if nothing is changed; otherwise
    it is chance, and no condition causes it.

    Args:
        conditions: Conditions that make the difference when all are changed.
        parts: Whether the difference occurs with exactly these conditions changed.

    Returns:
        The conditions; empty if the difference comes and goes by chance.
    """
    left = _halved(list(conditions), parts)
    for one in left if len(left) > 1 else ():
        fewer = [other for other in left if other != one]
        if parts(fewer):
            left = fewer
    return tuple(left) if parts(left) and not parts(()) else ()


def ends_search(culprits: Sequence[str]) -> bool:
    """Whether a verdict need not search on: it is chance, or what differs between machines."""
    return not culprits or any(name in OPEN_CONDITIONS for name in culprits)


def _halved(left: list[str], parts: Callable[[Sequence[str]], bool]) -> list[str]:
    """The conditions after as many halvings as keep the difference."""
    while len(left) > 1:
        half = len(left) // 2
        remaining = next((side for side in (left[:half], left[half:]) if parts(side)), None)
        if remaining is None:
            return left
        left = remaining
    return left
