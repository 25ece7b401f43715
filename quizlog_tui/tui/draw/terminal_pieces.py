"""What a script wrote, in safe pieces with the names of their styles."""

from __future__ import annotations

from collections.abc import Sequence

from ...terminal_text import settle
from ..widgets.lines.documents import TAB, safe
from ..widgets.lines.row_painter import SGR

Pieces = list[tuple[str, str]]
"""Pieces of text, each with the name of its style."""


def terminal_pieces(text: str, style: str, *, raw: bool) -> Pieces:
    """A text in pieces, with a style where it has none of its own."""
    if raw:
        return [(safe(text), style)]
    return [
        (shown.replace("\t", TAB), f"{SGR}{own}" if own else style) for shown, own in settle(text)
    ]


def pieces_between(pieces: Sequence[tuple[str, str]], start: int, end: int) -> Pieces:
    """The pieces between two offsets of their text."""
    found: Pieces = []
    at = 0
    for text, style in pieces:
        part = text[max(0, start - at) : max(0, end - at)]
        at += len(text)
        if part:
            found.append((part, style))
    return found
