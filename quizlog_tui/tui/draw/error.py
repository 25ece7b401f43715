"""Draws a script's exception with its score and the source around its line."""

from __future__ import annotations

from ...replay.script.source import Source
from ...replay.transcript import Transcript
from ...terminal_text import plain, plain_lines
from ..widgets.documents import Line, line
from .status_signs import score_text

_LONG, _LINES = 100, 3
"""Maximum characters and lines of a message shown above its location; a longer one is below it."""
_MOST_EXIT_LINES = 20
"""Lines of what a script says where it leaves with an exit status."""


def error_lines(transcript: Transcript, source: Source) -> list[Line]:
    """Message, line, score, and the source around the line; nothing without an error."""
    error = transcript.last_error
    if error is None:
        return []
    kind = transcript.error_type
    name = f"{kind}: " if kind and kind != "Exception" else ""
    name, _, _ = (error.place or "").rpartition(":")
    file, at = source.at(error.place, error.line)
    place = f"{name or source.path.name}, line {at}" if at else source.path.name
    message = f"✗ {name}{plain(error.message)}"
    lines = [line((message, "error")), line((place, "dim"), score_text(error.score))]
    if len(message) > _LONG or message.count("\n") >= _LINES:
        lines.reverse()
    for number in range((at or -9) - 2, (at or -9) + 3):
        if 0 < number <= len(file.lines):
            here = number == at
            text = f"{'▶' if here else ' '} {number:4} {file.line(number)}"
            lines.append(line((text, "error" if here else "dim"), cut=True))
    if kind == "ModuleNotFoundError":
        lines.append(line((source.missing_module_hint, "warn")))
    said = plain_lines(transcript.exit_text)[-_MOST_EXIT_LINES:]
    return [*lines, *(line((text, "warn")) for text in said)]
