"""Draws how a run stands: marks and words for states, and its error.

The marks are there so that colour is never the only sign.
"""

from __future__ import annotations

from ...replay.script.source import Source
from ...replay.transcript import Transcript
from ...terminal_text import plain_lines
from ..widgets.documents import Line, line

MARKS = {"in_progress": "●", "success": "✓", "error": "✗", None: "?"}
"""A sign for each status."""
WORDS = {"in_progress": "waiting", "success": "finished", "error": "error", None: "not replayed"}
"""The same in words."""
STYLES = {"in_progress": "", "success": "good", "error": "error", None: "dim"}
"""The style of a line that shows a status."""
_BARS = "▁▂▃▄▅▆▇█"
_LONG, _LINES = 100, 3
"""Maximum characters and lines of a message shown above its location; a longer one is below it."""
_MOST_EXIT_LINES = 20
"""Lines of what a script says where it leaves with an exit status."""


def score_text(score: float | None) -> str:
    """`, score 0.5`; empty without a score."""
    return "" if score is None else f", score {score:g}"


def outcome(status: str | None, score: float | None) -> str:
    """Mark, word and score of a status."""
    return f"{MARKS.get(status, '?')} {WORDS.get(status, 'unknown')}{score_text(score)}"


def state_text(status: str | None, score: float | None) -> str:
    """The same, short enough for a column."""
    points = "" if score is None else f" {round(score, 3):g}"
    return f"{MARKS.get(status, '?')} {WORDS.get(status, 'unknown')}{points}"


def bars(scores: list[float]) -> str:
    """A score series as small bars, 0 the lowest and 1 the highest."""
    return "".join(_BARS[round(score * (len(_BARS) - 1))] for score in scores)


def error_lines(transcript: Transcript, source: Source) -> list[Line]:
    """Message, line, score, and the source around the line; nothing without an error."""
    error = transcript.last_error
    if error is None:
        return []
    name, _, _ = (error.place or "").rpartition(":")
    file, at = source.at(error.place, error.line)
    place = f"{name or source.path.name}, line {at}" if at else source.path.name
    message = f"✗ {transcript.error_text()}"
    lines = [line((message, "error")), line((place, "dim"), score_text(error.score))]
    if len(message) > _LONG or message.count("\n") >= _LINES:
        lines.reverse()
    for number in range((at or -9) - 2, (at or -9) + 3):
        if 0 < number <= len(file.lines):
            here = number == at
            text = f"{'▶' if here else ' '} {number:4} {file.line(number)}"
            lines.append(line((text, "error" if here else "dim"), cut=True))
    if transcript.error_type == "ModuleNotFoundError":
        lines.append(line((source.missing_module_hint, "warn")))
    said = plain_lines(transcript.exit_text)[-_MOST_EXIT_LINES:]
    return [*lines, *(line((text, "warn")) for text in said)]
