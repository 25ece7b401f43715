"""The styles that a script chose for its text, as they can be read in a pane of any theme."""

from __future__ import annotations

from rich.color import Color as RichColor
from rich.style import Style
from rich.terminal_theme import TerminalTheme
from textual.color import Color

from ...terminal_text import rich_style

_READABLE = 0.15
"""The least difference in brightness, from 0 to 1, between a text and its ground."""


def readable_style(name: str, pane: Style, theme: TerminalTheme) -> Style:
    """A style over that of a pane; a text that could not be read gets another colour.

    Args:
        name: Parameters of SGR.
        pane: The style of the pane.
        theme: What the numbered colours look like.
    """
    own = rich_style(name)
    found = pane + own
    if own.reverse or found.color is None or found.bgcolor is None:
        return found
    ink, ground = (_color(each, theme) for each in (found.color, found.bgcolor))
    if abs(ink.brightness - ground.brightness) >= _READABLE:
        return found
    return found + Style(color=ground.get_contrast_text(1).rich_color)


def _color(color: RichColor, theme: TerminalTheme) -> Color:
    return Color(*color.get_truecolor(theme))
