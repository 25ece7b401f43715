"""A script that evaluates its answers: one hides what its observer tells, the next acts."""

from __future__ import annotations

from pathlib import Path

from quizlog_tui.replay.transcript import Transcript
from quizlog_tui.session.session import Session
from tests.support.isolation import needs_isolation


def act_hidden(path: Path, hiding: str, acting: str) -> Transcript:
    """Give a record both answers; the run they lead to, which goes on."""
    with Session(path) as session:
        session.answer(hiding)
        assert session.answer(acting).status == "in_progress"
        needs_isolation(*session.transcript.unavailable)
        return session.transcript
