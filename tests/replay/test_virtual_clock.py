"""The fixed clock where an event loop waits: it goes on only where nothing can happen meanwhile."""

from __future__ import annotations

import pytest

from quizlog_tui.replay.worker.fixed import event_loops
from quizlog_tui.replay.worker.fixed.clock import VirtualClock

pytestmark = pytest.mark.core

LOOP = "def wait(select, seconds): return select(None, seconds)"


class Events:
    """A selector that has what a thread wrote into it, once."""

    def __init__(self) -> None:
        self.written: list[str] = []

    def select(self, _: object, timeout: float | None) -> list[str]:
        found, self.written = self.written, []
        return found


def waited(events: Events, virtual: VirtualClock) -> list[str]:
    """What a select in a module of asyncio finds."""
    names: dict[str, object] = {"__name__": "asyncio.base_events"}
    exec(LOOP, names)
    found: list[str] = names["wait"](event_loops._patient(events.select, virtual), 300.0)  # type: ignore[operator]
    return found


def test_what_a_thread_wrote_before_it_ended_is_no_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may write and end between any two looks."""
    events, virtual = Events(), VirtualClock(0, 1)

    def last_thread_ends() -> bool:
        events.written.append("done")
        return False

    monkeypatch.setattr(event_loops, "worth_waiting", last_thread_ends)
    assert waited(events, virtual) == ["done"]
    assert virtual.now == 0


def test_where_nothing_can_happen_the_clock_goes_on_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    virtual = VirtualClock(0, 1)
    monkeypatch.setattr(event_loops, "worth_waiting", lambda: False)
    assert waited(Events(), virtual) == []
    assert virtual.now == 300 * 10**9
