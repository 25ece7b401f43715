"""What every test of the screens gets: a defect fails it, and toasts stay until they are seen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from textual._context import active_app
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.screen import Screen

from quizlog_tui.tui.app import QuizlogApp
from quizlog_tui.tui.picture import until_idle
from quizlog_tui.tui.screens.base import QuizlogScreen


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
def sheets_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each app parses the same style sheets: those of a theme are parsed once for all tests."""
    monkeypatch.setattr(Stylesheet, "_parse_rules", _parse_rules)


_parse = Stylesheet._parse_rules
_parsed: dict[object, list[RuleSet]] = {}


def _parse_rules(self: Stylesheet, css: str, **how: Any) -> list[RuleSet]:
    key = (css, *how.values(), frozenset(self._variables.items()))
    if key not in _parsed:
        _parsed[key] = _parse(self, css, **how)
    return _parsed[key]


@pytest.fixture(autouse=True)
def lasting_toasts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine may need longer to look than people need to read."""
    monkeypatch.setattr(QuizlogApp, "NOTIFICATION_TIMEOUT", 60)


@pytest.fixture(autouse=True)
def seen_idleness(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pilots wait until nothing is left to do, not until 20 ms passed without work."""
    for module in ("app", "pilot"):
        monkeypatch.setattr(f"textual.{module}.wait_for_idle", _wait_for_idle)


async def _wait_for_idle(min_sleep: float = 0, max_sleep: float = 1) -> None:
    app = active_app.get()
    await until_idle(app)
    while _has_quick_work(app.screen):
        await until_idle(app)


def _has_quick_work(screen: Screen[Any]) -> bool:
    """Whether a screen runs what may be over in a moment: it has not said yet that it is slow."""
    work = screen.slow_work if isinstance(screen, QuizlogScreen) else None
    return work is not None and work.running and not work.slow
