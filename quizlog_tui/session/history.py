"""What was changed in a session, newest last, so that it can be taken back and done again.

Records are values that share what they have in common; keeping some is cheap. Nothing here reads,
writes or replays.
"""

from __future__ import annotations

from dataclasses import dataclass
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


@dataclass(frozen=True)
class History:
    """The changes that can be taken back, and those that can be done again."""

    done: tuple[Change, ...] = ()
    undone: tuple[Change, ...] = ()

    @property
    def last(self) -> Change | None:
        """What would be taken back."""
        return self.done[-1] if self.done else None

    @property
    def next(self) -> Change | None:
        """What would be done again."""
        return self.undone[-1] if self.undone else None

    def added(self, label: str, before: Record) -> History:
        """After a new change; what had been taken back cannot be done again."""
        return History((*self.done, Change(label, before))[-LIMIT:])

    def taken_back(self, after: Record) -> History:
        """After the last change was taken back; `after` is what it had led to."""
        *done, last = self.done
        return History(tuple(done), (*self.undone, Change(last.label, after)))

    def done_again(self, before: Record) -> History:
        """After the next change was done again; `before` is what it led away from."""
        *undone, following = self.undone
        return History((*self.done, Change(following.label, before))[-LIMIT:], tuple(undone))
