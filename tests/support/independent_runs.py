"""Answers of independent runs."""

from __future__ import annotations

from typing import Any

from quizlog_tui.episodes.format.hashing import value_hash
from quizlog_tui.episodes.format.triangulate import Answer


def answer(value: Any) -> Answer:
    return (None, None) if value is None else (value_hash(value), value)
