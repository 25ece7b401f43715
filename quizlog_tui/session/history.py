"""The history of a session, for undo and redo. Pure.

Records are values that share common parts, so that keeping many is cheap.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from ..record.model import Record

LIMIT = 200
"""Maximum number of changes that can be undone."""


class Change(NamedTuple):
    """A change, and the record that undoing or redoing it leads to."""

    label: str
    """The change in words, such as `answer at step 3`."""
    record: Record
    """The record that undoing or redoing it leads to."""


@dataclass(frozen=True)
class History:
    """The changes that can be undone, and those that can be redone."""

    done: tuple[Change, ...] = ()
    undone: tuple[Change, ...] = ()

    @property
    def last(self) -> Change | None:
        """The change that would be undone."""
        return self.done[-1] if self.done else None

    @property
    def next(self) -> Change | None:
        """The change that would be redone."""
        return self.undone[-1] if self.undone else None

    def after_change(self, label: str, before: Record) -> History:
        """The history after a new change; undone changes can no longer be redone."""
        return History((*self.done, Change(label, before))[-LIMIT:])

    def after_undo(self, after: Record) -> History:
        """The history after an undo; `after` is the record before the undo."""
        *done, last = self.done
        return History(tuple(done), (*self.undone, Change(last.label, after)))

    def after_redo(self, before: Record) -> History:
        """The history after a redo; `before` is the record before the redo."""
        *undone, following = self.undone
        return History((*self.done, Change(following.label, before))[-LIMIT:], tuple(undone))
