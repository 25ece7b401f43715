"""Folds long output: its first and last lines, and between them how many lines are left out.

Pure. Of a text that is too long to settle, only the lines that are shown are settled.
"""

from __future__ import annotations

from ...terminal_text import MOST
from ...text import plural
from ..widgets.documents import Pieces, pieces_between, terminal_pieces

_LONG = 100
"""Lines of an output that are not folded."""
_FIRST, _LAST = 20, 40
"""Lines shown of a folded output."""


def folded_pieces(text: str, opens: str, *, raw: bool) -> Pieces:
    """An output in styled pieces, folded if it is long.

    Args:
        text: What was written.
        opens: The key that opens it; empty if it is not to be folded.
        raw: Whether escape sequences are shown as text.
    """
    if opens and len(text) > MOST and (cut := _cut(text)):
        first, last = (
            terminal_pieces(part, "", raw=raw) for part in (text[: cut[0]], text[cut[1] :])
        )
        return [*first, _note(text, cut, opens), *last]
    pieces = terminal_pieces(text, "", raw=raw)
    shown = "".join(part for part, _ in pieces) if opens else ""
    cut = _cut(shown)
    if cut is None:
        return pieces
    first, last = pieces_between(pieces, 0, cut[0]), pieces_between(pieces, cut[1], len(shown))
    return [*first, _note(shown, cut, opens), *last]


def _cut(text: str) -> tuple[int, int] | None:
    """The offsets between which lines are left out; None if the text is short."""
    if text.count("\n") <= _LONG:
        return None
    start, end = 0, len(text)
    for _ in range(_FIRST):
        start = text.index("\n", start) + 1
    for _ in range(_LAST + 1):
        end = text.rindex("\n", 0, end)
    return start, end + 1


def _note(text: str, cut: tuple[int, int], opens: str) -> tuple[str, str]:
    left_out = plural(text.count("\n", *cut), "more line")
    return f"… {left_out}; {opens} shows all\n", "dim"
