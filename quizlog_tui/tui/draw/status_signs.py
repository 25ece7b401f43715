"""Marks and words for states, so that colour is never the only sign."""

from __future__ import annotations

MARKS = {"in_progress": "●", "success": "✓", "error": "✗", None: "?"}
"""A sign for each status."""
WORDS = {"in_progress": "waiting", "success": "finished", "error": "error", None: "not replayed"}
"""The same in words."""
STYLES = {"in_progress": "", "success": "good", "error": "error", None: "dim"}
"""The style of a line that shows a status."""
_BARS = "▁▂▃▄▅▆▇█"


def score_text(score: float | None) -> str:
    """`, score 0.5`; empty without a score."""
    return "" if score is None else f", score {score:g}"


def outcome(status: str | None, score: float | None) -> str:
    """Mark, word and score of a status."""
    return f"{MARKS.get(status, '?')} {WORDS.get(status, 'unknown')}{score_text(score)}"


def bars(scores: list[float]) -> str:
    """A score series as small bars, 0 the lowest and 1 the highest."""
    return "".join(_BARS[round(score * (len(_BARS) - 1))] for score in scores)
