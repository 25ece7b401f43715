"""Draws a terminal frame as SVG that looks the same in every viewer.

Each character has a fixed position, and lines and blocks are shapes, so that columns are
straight in any font. The SVG loads nothing and runs nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import escape

from rich.cells import cell_len
from rich.color_triplet import ColorTriplet
from rich.style import Style
from rich.terminal_theme import DEFAULT_TERMINAL_THEME, SVG_EXPORT_THEME, TerminalTheme

from .terminal_frame import Frame, Run

CELL, LINE = 9, 18
"""Width and height of a cell."""
_PAD, _HEAD = 8, 28
_FONT = "ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,'Liberation Mono',monospace"
_STROKES = {
    "─": "M0 9H9",
    "━": "M0 9H9",
    "│": "M4.5 0V18",
    "╭": "M4.5 18V14Q4.5 9 9 9",
    "╮": "M4.5 18V14Q4.5 9 0 9",
    "╰": "M4.5 0V4Q4.5 9 9 9",
    "╯": "M4.5 0V4Q4.5 9 0 9",
    "├": "M4.5 0V18M4.5 9H9",
    "┤": "M4.5 0V18M4.5 9H0",
    "┬": "M0 9H9M4.5 9V18",
    "┴": "M0 9H9M4.5 9V0",
    "└": "M4.5 0V9H9",
    "┌": "M4.5 18V9H9",
    "┐": "M4.5 18V9H0",
    "┘": "M4.5 0V9H0",
}
"""Lines, each as a path within its cell."""
_LEVEL = re.compile("─+|━+|.", re.DOTALL)
"""Level lines, each as one, and all other characters."""
_LOWER, _LEFT = " ▁▂▃▄▅▆▇█", "█▉▊▋▌▍▎▏"
"""Blocks that fill part of a cell: from below in eighths, and from the left."""


def frame_svg(frame: Frame, title: str) -> str:
    """A picture of a frame, in a window with a title."""
    width, height = window_size(frame)
    looks = Looks(dark=frame.dark)
    body = frame_body(frame, looks)
    return window(width, height, title, looks.css(), body)


def window_size(frame: Frame) -> tuple[int, int]:
    """Width and height of the whole picture."""
    return frame.width * CELL + 2 * _PAD, frame.height * LINE + _HEAD + _PAD


def window(width: int, height: int, title: str, css: str, body: str) -> str:
    """A window around the content of a terminal."""
    dots = "".join(
        f'<circle cx="{16 + 16 * i}" cy="14" r="5" fill="{fill}"/>'
        for i, fill in enumerate(("#ff5f57", "#febc2e", "#28c840"))
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'font-family="{_FONT}" font-size="14">\n<style>text{{white-space:pre}}'
        f"path{{fill:none;stroke-width:1.4}}g rect{{shape-rendering:crispEdges}}{css}</style>\n"
        f'<rect width="{width}" height="{height}" rx="8" fill="#1b1b1f"/>{dots}'
        f'<text x="{width // 2}" y="18" fill="#b0b0b8" text-anchor="middle">{escape(title)}'
        f"</text>\n"
        f'<g transform="translate({_PAD} {_HEAD})">\n{body}</g>\n</svg>\n'
    )


class Looks:
    """Gives each text style a short class name, numbered by first use.

    Args:
        dark: Whether the terminal has a dark ground.
    """

    def __init__(self, *, dark: bool) -> None:
        self.palette = SVG_EXPORT_THEME if dark else DEFAULT_TERMINAL_THEME
        """The terminal's own colours."""
        self._names: dict[str, str] = {}

    def of(self, rules: str) -> str:
        """The class for some rules of CSS."""
        return self._names.setdefault(rules, f"s{len(self._names)}")

    def css(self) -> str:
        """The rules of all classes."""
        return "".join(f".{name}{{{rules}}}" for rules, name in self._names.items())


def frame_body(frame: Frame, looks: Looks) -> str:
    """All rows of a frame."""
    return "".join(row_svg(row, index * LINE, looks) for index, row in enumerate(frame.rows))


def row_svg(row: tuple[Run, ...], top: int, looks: Looks) -> str:
    """One row, its upper edge at `top`."""
    grounds = "".join(_grounds(row, top, looks.palette))
    return grounds + "".join(part for run in row for part in _marks(run, top, looks)) + "\n"


def _grounds(row: tuple[Run, ...], top: int, palette: TerminalTheme) -> Iterator[str]:
    """A rectangle for each stretch of one background."""
    for fill, start, end in _stretches(row, palette):
        width = (end - start) * CELL
        yield f'<rect x="{start * CELL}" y="{top}" width="{width}" height="{LINE}" fill="{fill}"/>'


def _stretches(row: Iterable[Run], palette: TerminalTheme) -> list[tuple[str, int, int]]:
    found: list[tuple[str, int, int]] = []
    for run in row:
        fill, end = _colours(run.style, palette)[1], run.column + cell_len(run.text)
        if found and found[-1][0] == fill:
            found[-1] = (fill, found[-1][1], end)
        else:
            found.append((fill, run.column, end))
    return found


def _marks(run: Run, top: int, looks: Looks) -> Iterator[str]:
    """The characters of a run: lines and blocks as shapes, others as text."""
    colour = _colours(run.style, looks.palette)[0]
    places, letters, column = [], [], run.column
    for cells in _LEVEL.findall(run.text):
        char = cells[0]
        if char in _STROKES:
            look = looks.of(f"stroke:{colour}")
            at = f"translate({column * CELL} {top})"
            path = f"M0 9H{CELL * len(cells)}" if char in "─━" else _STROKES[char]
            yield f'<path class="{look}" d="{path}" transform="{at}"/>'
        elif char in _LOWER[1:] or char in _LEFT:
            yield _block(char, column * CELL, top, colour)
        elif not char.isspace():
            places.append(str(column * CELL))
            letters.append(char)
        column += cell_len(cells)
    if letters:
        look = looks.of(_rules(run.style, colour))
        text = escape("".join(letters), quote=False)
        yield f'<text class="{look}" y="{top + 13}" x="{" ".join(places)}">{text}</text>'


def _block(char: str, left: int, top: int, colour: str) -> str:
    if char in _LOWER:
        high = LINE * _LOWER.index(char) / 8
        x, y, width, height = float(left), top + LINE - high, float(CELL), high
    else:
        x, y, width, height = left, top, CELL * (8 - _LEFT.index(char)) / 8, LINE
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" fill="{colour}"/>'


def _rules(style: Style, colour: str) -> str:
    lines = [
        name for name, on in (("underline", style.underline), ("line-through", style.strike)) if on
    ]
    return (
        f"fill:{colour}"
        + (";font-weight:bold" if style.bold else "")
        + (";font-style:italic" if style.italic else "")
        + (f";text-decoration:{' '.join(lines)}" if lines else "")
    )


def _colours(style: Style, palette: TerminalTheme) -> tuple[str, str]:
    """Foreground and background."""
    front = palette.foreground_color
    if style.color is not None:
        front = style.color.get_truecolor(palette)
    back = palette.background_color
    if style.bgcolor is not None:
        back = style.bgcolor.get_truecolor(palette, foreground=False)
    if style.reverse:
        front, back = back, front
    if style.dim:
        front = ColorTriplet(*((a + b) // 2 for a, b in zip(front, back, strict=True)))
    return front.hex, back.hex
