"""Shows notifications, and finds those that a new one makes obsolete."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from textual.app import App
from textual.notifications import Notification
from textual.widget import Widget

from ..errors import QuizlogError
from ..text import clipped, visible

_LONGEST = 200
"""Maximum characters of a message, so that its hint fits on a screen of 20 rows."""


_Notifier = App[Any] | Widget


def tell(where: _Notifier, text: str) -> None:
    """Show a notification."""
    where.notify(visible(text), markup=False)


def warn(where: _Notifier, text: str) -> None:
    """Show a warning."""
    where.notify(visible(text), severity="warning", markup=False)


def complain(where: _Notifier, error: QuizlogError) -> None:
    """Show an error with its place and hint."""
    short = QuizlogError(clipped(error.message, _LONGEST), where=error.where, hint=error.hint)
    where.notify(visible(str(short)), severity="error", markup=False)


def outdated(shown: Iterable[Notification], new: Notification) -> list[Notification]:
    """The notifications that a new one replaces.

    Information is about the last action, so that the next notification replaces it. Warnings and
    errors stay until a key is pressed; equal messages are shown once.
    """
    return [old for old in shown if old.severity == "information" or old.message == new.message]
