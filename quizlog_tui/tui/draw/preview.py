"""Draws the preview of a record, beside the list of records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...record.feedback import Feedback
from ...record.summary import Preview, Summary
from ...terminal_text import plain, with_newlines
from ..widgets.lines.documents import Line, line
from .status_signs import STYLES, bars, outcome
from .terminal_pieces import pieces_between, terminal_pieces

_LINES = 30
"""Printed lines that are shown, the last ones."""
_NOTES = 5
"""Notes that are shown, the last ones."""


def preview_lines(one: Summary, found: Preview) -> list[Line]:
    """How a record stands, what it asks or why it failed, its notes, and what it printed last."""
    if one.problem:
        return [line((f"! {one.problem}", "error"))]
    return list(_lines(one, found))


def _lines(one: Summary, found: Preview) -> Iterator[Line]:
    yield line((outcome(one.status, one.score), STYLES[one.status]))
    if found.error is not None:
        place = "" if found.line is None else f"line {found.line}: "
        yield line((f"{place}{plain(found.error)}", "error"))
    if found.question is not None:
        yield line((plain(found.question), "prompt"))
    if len(found.scores) > 1:
        yield line(("scores ", "dim"), bars(list(found.scores)))
    yield line((f"seed {one.seed} · {one.script}", "dim"))
    for note in found.notes[-_NOTES:]:
        yield line(("note ", "head"), _note(note))
    if found.printed:
        yield line("")
        yield _printed(found.printed)


def _printed(texts: Sequence[str]) -> Line:
    """What was printed last, drawn as in the player."""
    pieces = terminal_pieces("".join(with_newlines(texts)), "", raw=False)
    text = "".join(part for part, _ in pieces).removesuffix("\n")
    left_out = "\n".join(text.split("\n")[:-_LINES])
    start = len(left_out) + bool(left_out)
    return Line(tuple(pieces_between(pieces, start, len(text))), unwrapped="tables")


def _note(note: Feedback) -> str:
    step = "" if note.at is None else f"step {note.at}"
    return " · ".join(filter(None, (step, note.verdict, note.author, note.text)))
