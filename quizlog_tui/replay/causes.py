"""Which single condition makes two runs part, found by changing conditions until they do.

Pure search over a question put to it; knows nothing of runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence


def culprit(conditions: Sequence[str], parts: Callable[[Sequence[str]], bool]) -> str | None:
    """The condition whose change alone makes the difference; None if no single one does.

    Halves the conditions that are changed, as long as the difference stays; in the end it must go
    when nothing is changed, or it came of itself.

    Args:
        conditions: Those that make the difference when all are changed.
        parts: Whether the difference is there with just these changed.
    """
    left = list(conditions)
    while len(left) > 1:
        half = len(left) // 2
        if parts(left[:half]):
            left = left[:half]
        elif parts(left[half:]):
            left = left[half:]
        else:
            return None
    return left[0] if left and not parts(()) else None
