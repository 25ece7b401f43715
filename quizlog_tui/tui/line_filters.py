"""Changes drawn lines so that they can be read: colours with too little contrast, and signs.

Themes choose colours, and Textual blends them, also with those that a script chose: no theme can
foresee all pairs. What is no text, such as borders, bars and blocks, keeps its colour. For a
terminal that shows only ASCII, signs become ASCII of the same width.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TextIO

from rich.cells import cell_len
from rich.color import Color as RichColor
from rich.color import ColorType
from rich.segment import Segment
from rich.style import Style
from textual.color import BLACK, WHITE, Color
from textual.filter import LineFilter

_TEXT = re.compile("[^\\s\u2500-\u259f]")
"""Any character but spaces, lines and blocks."""
_STEPS = 20
"""Colours tried between that of a text and black or white."""
_KNOWN = {ColorType.TRUECOLOR, ColorType.EIGHT_BIT}
"""Colours that look alike in every terminal."""
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


def _luminance(color: Color) -> float:
    """How light a colour is, from 0 to 1, as WCAG defines it."""

    def linear(part: float) -> float:
        return part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4

    r, g, b = map(linear, color.normalized)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(one: Color, other: Color) -> float:
    """The contrast of two colours, from 1 to 21, as WCAG defines it."""
    dark, light = sorted((_luminance(one), _luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def readable(ink: Color, ground: Color, least: float) -> Color:
    """The colour nearest to that of a text that has enough contrast, or the best there is."""
    pole = max(WHITE, BLACK, key=lambda each: contrast(each, ground))
    tried = (ink.blend(pole, step / _STEPS) for step in range(_STEPS))
    return next((each for each in tried if contrast(each, ground) >= least), pole)


@lru_cache(4096)
def _readable_style(style: Style, ground: Color, least: float) -> Style:
    ink, own_ground = style.color, style.bgcolor
    if own_ground is not None and not own_ground.is_default:
        if own_ground.type not in _KNOWN:
            return style
        ground = _color(own_ground)
    if ink is None or ink.type not in _KNOWN or ground.ansi is not None:
        return style
    shown = _color(ink)
    if style.dim:  # terminals dim as they like
        shown, style = ground.blend(shown, 0.66), style + Style(dim=False)
    return style + Style(color=readable(shown, ground, least).rich_color)


def _color(color: RichColor) -> Color:
    return Color(*color.get_truecolor())


class ReadableText(LineFilter):
    """Gives text that has too little contrast another colour.

    Args:
        least: The least contrast.
    """

    def __init__(self, least: float) -> None:
        super().__init__()
        self._least = least

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The segments, with text that can be read."""
        return [
            Segment(text, _readable_style(style, background, self._least), control)
            if style is not None and _TEXT.search(text)
            else segment
            for segment in segments
            for text, style, control in (segment,)
        ]


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
