"""The option `--allow`, and what the user must see before it holds for a record from elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from ...errors import UsageError
from ...record.given_here import given_lines, is_shown, note_shown
from ...replay.script.granted import place_of
from ...session.session import Session, allow, not_given_here
from ...text import one_line

_MOST_LINES = 50


def allow_from_now_on(session: Session, names: Iterable[str]) -> None:
    """Grant the script of a record something from now on.

    Raises:
        UsageError: The record's arguments and answers are from elsewhere, and are shown only now.
        ConfigError: The grant cannot be stored.
    """
    seen = not_given_here(session)
    if seen is not None and show_unknown(session):
        message = "its arguments and answers are not from here; they are shown above"
        hint = "to run the script with them all the same, give the same command again"
        raise UsageError(message, where=one_line(str(session.path)), hint=hint)
    allow(session, names, seen)


def show_unknown(session: Session) -> bool:
    """Show arguments and answers of a record from elsewhere on stderr, once; whether it did."""
    unknown, place = not_given_here(session), place_of(session.source.path)
    if unknown is None or is_shown(session.path, unknown, place):
        return False
    name = one_line(session.path.name)
    print(f"quizlog: note: {name} has arguments or answers from elsewhere:", file=sys.stderr)
    for line in given_lines(unknown, _MOST_LINES):
        print(f"quizlog:   {line}", file=sys.stderr)
    note_shown(session.path, unknown, place)
    return True
