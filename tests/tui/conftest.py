"""What every test of the screens gets: a defect fails it, and toasts stay until they are seen."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from quizlog_tui.tui.app import QuizlogApp


@pytest.fixture(autouse=True)
def faults(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Exception]]:
    """The defects that an error panel was shown for; a test that wants some clears the list."""
    found: list[Exception] = []
    show = QuizlogApp._show_fault

    def note(self: QuizlogApp, error: Exception) -> None:
        found.append(error)
        show(self, error)

    monkeypatch.setattr(QuizlogApp, "_show_fault", note)
    yield found
    for error in found:
        raise error


@pytest.fixture(autouse=True)
def lasting_toasts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine may need longer to look than people need to read."""
    monkeypatch.setattr(QuizlogApp, "NOTIFICATION_TIMEOUT", 60)
