"""Passing notes: how they are shown, and which are out of date once another one comes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

from textual.notifications import Notification

from ..errors import QuizlogError
from ..text import clipped, visible

_LONGEST = 200
"""Characters of a message that leave room for its hint also on a screen of 20 rows."""


class Notifier(Protocol):
    """What shows passing notes: a screen, a widget, the program."""

    def notify(self, message: str, *, severity: Any = ..., markup: bool = ...) -> None:
        """Show a note."""


def tell(where: Notifier, text: str) -> None:
    """Show a passing note."""
    where.notify(visible(text), markup=False)


def warn(where: Notifier, text: str) -> None:
    """Show a passing warning."""
    where.notify(visible(text), severity="warning", markup=False)


def complain(where: Notifier, error: QuizlogError) -> None:
    """Show an error: where, what, and the mend."""
    short = QuizlogError(clipped(error.message, _LONGEST), where=error.where, hint=error.hint)
    where.notify(visible(str(short)), severity="error", markup=False)


def outdated(shown: Iterable[Notification], new: Notification) -> list[Notification]:
    """The notes that a new one takes the place of.

    Information tells of the last action, so that whatever comes next replaces it. Warnings and
    errors stay for their time; the same words again are shown once.
    """
    return [old for old in shown if old.severity == "information" or old.message == new.message]
