"""Audit mode: a record is looked at and cannot be changed.

`Audit.check` decides what may be written. The session calls it before it writes, and the screens
call it before they write any other file or hand one to an editor. `may_read` decides which
files may be read: of screens shown in a browser, those of the served folder.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from pathlib import Path
from typing import NamedTuple

from ..errors import ReadOnlyError
from ..files.paths import typed_path

ALLOWABLE = ("notes",)
"""What a user may allow in audit mode: notes and verdicts."""


class Audit(NamedTuple):
    """Why nothing may be changed, and what is allowed nevertheless."""

    reason: str
    """Why, as `opened with --read-only`."""
    allowed: frozenset[str] = frozenset()
    """Kinds of writing that are allowed: `notes`, or `exports` to other files."""
    folder: Path | None = None
    """The folder outside which no file is read, without symbolic links; None: any is read."""

    def refuses(self, kind: str) -> bool:
        """Whether a kind of writing is refused; see `check`.

        What is no answer runs as code only for the person at this machine: `expressions`.
        """
        return self.folder is not None if kind == "expressions" else kind not in self.allowed

    def check(self, doing: str, kind: str = "") -> None:
        """Refuse to write, unless this kind of writing is allowed.

        Args:
            doing: What would be written, as `rewind to step 3`.
            kind: Its kind, as `notes`; empty for one that is never allowed.

        Raises:
            ReadOnlyError: It is locked.
        """
        if self.refuses(kind):
            raise ReadOnlyError(f"locked; this would write: {doing}", hint=self.reason)


def may_read(audit: Audit | None, path: Path) -> bool:
    """Whether a file may be read; symbolic links are followed."""
    if audit is None or audit.folder is None:
        return True
    try:
        return Path(os.path.realpath(path)).is_relative_to(audit.folder)
    except (OSError, ValueError):  # no file can have this name
        return False


def check_reading(audit: Audit | None, path: Path) -> None:
    """Refuse to read a file that may not be read, whether it exists or not.

    Raises:
        ReadOnlyError: It is outside the served folder.
    """
    if not may_read(audit, path):
        raise _not_served(str(path))


def readable_path(
    audit: Audit | None, text: str, path_of: Callable[[str], Path] = typed_path
) -> Path:
    """The path that a user typed, of a file that may be read.

    Where a folder is served, a text is a path as it stands: what `~` or a name stands for would
    tell the folders of the person who serves it.

    Args:
        audit: The audit mode in which it is read, if any.
        text: What the user typed.
        path_of: The path that a text stands for elsewhere.

    Raises:
        ReadOnlyError: It is outside the served folder, or begins with `~`.
    """
    if audit is None or audit.folder is None:
        return path_of(text)
    if text.startswith("~"):
        raise _not_served(text)
    path = Path(text)
    check_reading(audit, path)
    return path


def _not_served(where: str) -> ReadOnlyError:
    hint = "only files in the served folder are read"
    return ReadOnlyError("is not served", where=where, hint=hint)


def audit_mode(
    flag: bool, setting: bool, allow: Collection[str], folder: Path | None = None
) -> Audit | None:
    """The audit mode that a user asked for; None if the user asked for none.

    Args:
        flag: Whether `--read-only` was given.
        setting: Whether the settings say `audit = true`.
        allow: Exceptions, of `ALLOWABLE`.
        folder: The folder outside which no file is read; None: any is read.
    """
    if not (flag or setting):
        return None
    reason = "--read-only" if flag else "the settings say `audit = true`"
    return Audit(reason, frozenset(allow), folder and Path(os.path.realpath(folder)))


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
