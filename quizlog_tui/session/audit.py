"""Audit mode: a record is looked at and cannot be changed.

`Audit.check` is the one rule. The session calls it before it writes, and the screens call it before
they write any other file or hand one to an editor.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from ..errors import ReadOnlyError

ALLOWABLE = ("notes",)
"""What a user may allow in audit mode: notes and verdicts."""


@dataclass(frozen=True)
class Audit:
    """Why nothing may be changed, and what is allowed nevertheless."""

    reason: str
    """Why, as `opened with --read-only`."""
    allowed: frozenset[str] = frozenset()
    """Kinds of writing that are allowed: `notes`, or `exports` to other files."""

    def check(self, doing: str, kind: str = "") -> None:
        """Refuse to write, unless this kind of writing is allowed.

        Args:
            doing: What would be written, as `rewind to step 3`.
            kind: Its kind, as `notes`; empty for one that is never allowed.

        Raises:
            ReadOnlyError: It is locked.
        """
        if kind not in self.allowed:
            raise ReadOnlyError(f"locked; this would write: {doing}", hint=self.reason)


def audit_mode(flag: bool, setting: bool, allow: Collection[str]) -> Audit | None:
    """The audit mode that a user asked for; None if the user asked for none.

    Args:
        flag: Whether `--read-only` was given.
        setting: Whether the settings say `audit = true`.
        allow: Exceptions, of `ALLOWABLE`.
    """
    if not (flag or setting):
        return None
    return Audit("--read-only" if flag else "the settings say `audit = true`", frozenset(allow))


def audit_of(path: Path, asked: Audit | None) -> Audit | None:
    """The audit mode of a record: the one asked for, or one for a file that may not be written.

    Args:
        path: The record.
        asked: The mode that the user asked for, if any.
    """
    if asked is not None or not path.exists():
        return asked
    if os.access(path, os.W_OK) and os.access(path.parent, os.W_OK):
        return None
    return Audit("you may not write this record", frozenset({"exports"}))
