"""Replaces drawn characters by ASCII of the same width, for terminals that show only ASCII."""

from __future__ import annotations

from typing import TextIO

from rich.cells import cell_len
from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

_PAIRS = (
    ("─━╌╴╶╸╺⎯‐–—−", "-"),
    ("│┃▌▐▍▎▏▊▋▉", "|"),
    ("▁", "_"),
    ("▂▃·⋅", "."),
    ("▄▅", "="),
    ("▆▇█▔▀░▒▓", "#"),
    ("“”", '"'),
    ("‘’", "'"),
    ("»›→▸▶☞⁹", ">"),
    ("«‹←◂◀", "<"),
    ("↑▲", "^"),
    ("↓▼✓", "v"),
    ("●◆★✎", "*"),
    ("○", "o"),
    ("✗×", "x"),
    ("÷", "/"),
    ("≠", "!"),
    ("…⋯", "~"),
    ("⏎", "\\"),
    ("␡", "D"),
)


class _Table(dict[int, str]):
    """Computes the replacement of each character on first use."""

    def __missing__(self, code: int) -> str:
        sign = chr(code)
        found = sign if code < 0x80 else "+" if 0x2500 <= code < 0x2580 else "?" * cell_len(sign)
        self[code] = found
        return found


_STAND_INS = _Table({ord(sign): plain for signs, plain in _PAIRS for sign in signs})


def to_ascii(text: str) -> str:
    """Replace each non-ASCII character of a text, keeping its width."""
    return text if text.isascii() else text.translate(_STAND_INS)


def shows_signs(stream: TextIO | None) -> bool:
    """Whether a stream can encode the signs that the screens use."""
    try:
        "─│╭●✓▏".encode(getattr(stream, "encoding", None) or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


class AsciiFilter(LineFilter):
    """Draws every line in ASCII only."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The segments with replaced characters."""
        return [Segment(to_ascii(text), style, control) for text, style, control in segments]
