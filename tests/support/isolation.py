"""Marks tests that need scripts to be shut in."""

from __future__ import annotations

import pytest

from quizlog_tui.replay.world import UNAVAILABLE


def needs_isolation(*unavailable: str) -> None:
    if missing := {"isolation", "signals", "folder"} & set(unavailable):
        pytest.skip(f"this system lacks: {', '.join(UNAVAILABLE[name] for name in missing)}")
