"""Marks tests that need scripts to be shut in."""

from __future__ import annotations

import pytest

from quizlog_tui.replay.world import LACKS


def needs_isolation(*lacks: str) -> None:
    if missing := {"isolation", "signals", "folder"} & set(lacks):
        pytest.skip(f"this system lacks: {', '.join(LACKS[name] for name in missing)}")
