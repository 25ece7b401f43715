"""Wrong secrets, counted: who sends many is told to wait. The right one is never kept waiting.

What keeps a secret from being guessed is its length; this keeps guesses from being cheap noise.
Others behind the same address are not shut out, as only wrong secrets are turned away.
"""

from __future__ import annotations

from collections import OrderedDict, deque

MOST = 20
"""Wrong secrets that an address may send within `SECONDS`."""
SECONDS = 60.0
_ADDRESSES = 1000
"""Those heard of last are remembered."""


class Guesses:
    """The wrong secrets of the last minute, by address."""

    def __init__(self) -> None:
        self._heard: OrderedDict[str, deque[float]] = OrderedDict()

    def wait(self, address: str, now: float) -> float:
        """Count a wrong secret; seconds until the next may be judged, 0 if it was not too many.

        Args:
            address: Who sent it.
            now: When, on a clock that only goes on.
        """
        times = self._heard.setdefault(address, deque(maxlen=MOST))
        self._heard.move_to_end(address)
        if len(self._heard) > _ADDRESSES:
            self._heard.popitem(last=False)
        oldest = times[0] + SECONDS if len(times) == MOST else now
        if oldest > now:
            return oldest - now
        times.append(now)
        return 0.0
