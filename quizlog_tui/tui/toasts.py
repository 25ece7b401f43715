"""Which passing notes are out of date once another one comes."""

from __future__ import annotations

from collections.abc import Iterable

from textual.notifications import Notification


def outdated(shown: Iterable[Notification], new: Notification) -> list[Notification]:
    """The notes that a new one takes the place of.

    Information tells of the last action, so that whatever comes next replaces it. Warnings and
    errors stay for their time; the same words again are shown once.
    """
    return [old for old in shown if old.severity == "information" or old.message == new.message]
