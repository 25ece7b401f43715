"""What tests of the queue share: it is looked at often, so that nobody waits for the next look."""

from __future__ import annotations

import pytest

from quizlog_tui.queue import client, engine


@pytest.fixture(autouse=True)
def frequent_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "_POLL", 0.02)
    monkeypatch.setattr(engine, "_POLL", 0.02)
