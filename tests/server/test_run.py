"""The server from its start to its end."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

import pytest

from quizlog_tui.server.admission.shield import AccessRules
from quizlog_tui.server.app import ServerSettings
from quizlog_tui.server.lookup import served
from quizlog_tui.server.run import listening, serve
from quizlog_tui.solver.models.choice import Choice


def test_the_loop_runs_from_the_first_task_on(tmp_path: Path) -> None:
    """A task found while it stands still would be worked where nothing it needs answers."""
    loops = []

    def started() -> None:
        loops.append(asyncio.get_running_loop())
        raise SystemExit(3)

    before = signal.getsignal(signal.SIGTERM)
    try:
        with listening("127.0.0.1", 0) as sock, pytest.raises(SystemExit, match="3"):
            serve(ServerSettings(served([tmp_path]), AccessRules(), Choice()), sock, started)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert len(loops) == 1
