"""Allows the script of an open record what it asks for: only ever called for a user who said so."""

from __future__ import annotations

from collections.abc import Iterable

from ..record.given_here import is_given_here, note_given
from ..record.model import Record
from ..record.store import RecordFile
from ..replay.script.granted import grant, place_of
from .reply import Reply
from .session import Session


def not_given_here(session: Session) -> Record | None:
    """The record, if the user must see its arguments and answers before something is allowed.

    None if they were given or allowed on this machine, or if it has none.

    Raises:
        RecordError: The record cannot be read.
        ScriptError: The script cannot be read.
    """
    record = RecordFile(session.path).read()
    known = is_given_here(session.path, record, place_of(session.source.path))
    return None if known else record


def allow(session: Session, names: Iterable[str], seen: Record | None) -> Reply:
    """Grant the script something from now on, and run the record with it.

    Args:
        session: The open record.
        names: Some of `source.NAMES`.
        seen: The record whose arguments and answers the user saw; None if that was not needed.

    Raises:
        ConfigError: The grant cannot be stored.
        UsageError: The script's folder is too big to be looked at.
        ScriptError: The script cannot be read.
    """
    grant(session.source, names)
    if seen is not None:
        note_given(session.path, seen, place_of(session.source.path))
    return session.reload()
