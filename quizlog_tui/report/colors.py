"""The styles that a script chose for its text, as CSS to be read on a light and a dark page."""

from __future__ import annotations

from functools import lru_cache

from rich.color import Color
from rich.terminal_theme import DEFAULT_TERMINAL_THEME

from ..terminal_text import rich_style

_INK_SHARE = 35
"""Percent of the page's own ink in every colour, so that no text can hide on the page."""
_READABLE = 60
"""The least difference in brightness, from 0 to 255, between a text and its own ground."""


@lru_cache(maxsize=1024)
def css(style: str) -> str:
    """The declarations for a style.

    Args:
        style: Parameters of SGR, as `Piece.style` has them.
    """
    found = rich_style(style)
    ink, ground = found.color, found.bgcolor
    if found.reverse:
        ink, ground = ground, ink
    told = [*_colors(ink, ground)] if ink or ground else []
    if found.reverse and not told:
        told = ["color:var(--paper)", "background:var(--ink)"]
    told += ["font-weight:700"] if found.bold else []
    told += ["opacity:.75"] if found.dim else []
    told += ["font-style:italic"] if found.italic else []
    lines = [("underline", found.underline), ("line-through", found.strike)]
    drawn = " ".join(name for name, shown in lines if shown)
    return ";".join([*told, *([f"text-decoration:{drawn}"] if drawn else [])])


def _colors(ink: Color | None, ground: Color | None) -> list[str]:
    if ground is None:
        share = 100 - _INK_SHARE
        return [f"color:color-mix(in srgb,{_hex(ink)} {share}%,var(--ink))"] if ink else []
    light = _brightness(ground)
    if ink is None or abs(_brightness(ink) - light) < _READABLE:
        shown = "#000" if light > 127 else "#fff"
    else:
        shown = _hex(ink)
    return [f"color:{shown}", f"background:{_hex(ground)}"]


def _hex(color: Color) -> str:
    return color.get_truecolor(DEFAULT_TERMINAL_THEME).hex


def _brightness(color: Color) -> float:
    red, green, blue = color.get_truecolor(DEFAULT_TERMINAL_THEME)
    return (299 * red + 587 * green + 114 * blue) / 1000
