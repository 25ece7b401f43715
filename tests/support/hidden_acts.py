"""A script that evaluates its answers: one hides what its observer tells, the next acts."""

from __future__ import annotations

from collections.abc import Collection
from itertools import cycle, product
from pathlib import Path

import pytest

from quizlog_tui.replay.transcript import Transcript
from quizlog_tui.session.session import Session
from tests.support.isolation import needs_isolation


def every_pair(hiding: Collection[str], acting: Collection[str]) -> pytest.MarkDecorator:
    """Each way to hide with each act; in a plain run each act once, in turn with the ways to hide."""
    turns = set(zip(cycle(hiding), acting, strict=False))
    pairs = [
        pytest.param(*pair, marks=() if pair in turns else pytest.mark.long)
        for pair in product(hiding, acting)
    ]
    return pytest.mark.parametrize(("hiding", "acting"), pairs)


def act_hidden(path: Path, hiding: str, acting: str) -> Transcript:
    """Give a record both answers; the run they lead to, which goes on."""
    with Session(path) as session:
        session.answer(hiding)
        assert session.answer(acting).status == "in_progress"
        needs_isolation(*session.transcript.unavailable)
        return session.transcript
