"""What was changed in a session, newest last, so that it can be taken back and done again.

Records are values that share what they have in common; keeping some is cheap. Nothing here reads,
writes or replays.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from ..record.model import Record

LIMIT = 200
"""Changes that are remembered; older ones are forgotten."""


class Change(NamedTuple):
    """A change, and the record on the other side of it."""

    label: str
    """What was done, as `answer at step 3`."""
    record: Record
    """What taking it back, or doing it again, leads to."""


class History:
    """The changes that can be taken back, and those that can be done again."""

    def __init__(self) -> None:
        self._done: deque[Change] = deque(maxlen=LIMIT)
        self._undone: list[Change] = []

    @property
    def last(self) -> Change | None:
        """What would be taken back."""
        return self._done[-1] if self._done else None

    @property
    def next(self) -> Change | None:
        """What would be done again."""
        return self._undone[-1] if self._undone else None

    def add(self, label: str, before: Record) -> None:
        """A new change was made; what had been taken back cannot be done again."""
        self._done.append(Change(label, before))
        self._undone.clear()

    def taken_back(self, after: Record) -> None:
        """The last change was taken back; `after` is what it had led to."""
        self._undone.append(Change(self._done.pop().label, after))

    def done_again(self, before: Record) -> None:
        """The next change was done again; `before` is what it led away from."""
        self._done.append(Change(self._undone.pop().label, before))

    def clear(self) -> None:
        """Forget everything: the record is no longer the one these changes were made to."""
        self._done.clear()
        self._undone.clear()
