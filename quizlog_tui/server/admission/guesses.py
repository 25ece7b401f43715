"""Limits how many wrong secrets an address may send; the right one is never delayed.

A secret is protected by its length; this only makes guessing slow. Other clients behind the same
address are not locked out, as only wrong secrets are refused.
"""

from __future__ import annotations

from collections import OrderedDict, deque

MOST = 20
"""Maximum number of wrong secrets from an address within `SECONDS`."""
SECONDS = 60.0
_ADDRESSES = 1000
"""Maximum number of addresses remembered, the most recent ones."""


class Guesses:
    """The times of recent wrong secrets, by address."""

    def __init__(self) -> None:
        self._times: OrderedDict[str, deque[float]] = OrderedDict()

    def wait(self, address: str, now: float) -> float:
        """Count a wrong secret; return 0, or the seconds to wait if there were too many.

        Args:
            address: The address that sent it.
            now: The time in seconds on a monotonic clock.
        """
        times = self._times.setdefault(address, deque(maxlen=MOST))
        self._times.move_to_end(address)
        if len(self._times) > _ADDRESSES:
            self._times.popitem(last=False)
        oldest = times[0] + SECONDS if len(times) == MOST else now
        if oldest > now:
            return oldest - now
        times.append(now)
        return 0.0
