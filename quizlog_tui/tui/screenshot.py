"""Captures the screen as frames of styled cells, and writes them as text, SVG or an animation.

In an SVG each character has a fixed position, and lines and blocks are shapes, so that columns are
straight in any font. The SVG loads nothing and runs nothing. An animation is an asciicast (version
2) or an SVG that moves by CSS alone.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, cast

from rich.cells import cell_len
from rich.color import ColorSystem
from rich.color_triplet import ColorTriplet
from rich.style import Style
from rich.terminal_theme import DEFAULT_TERMINAL_THEME, SVG_EXPORT_THEME, TerminalTheme
from textual._compositor import LayoutUpdate
from textual.app import App

from ..files.durable import FileKind, asked_before

PICTURE = FileKind("a picture", asked_before)
"""A picture of a screen, or what else a screen shows, as text or SVG."""


@dataclass(frozen=True)
class Run:
    """Text of one style within a row."""

    column: int
    text: str
    style: Style


@dataclass(frozen=True)
class Frame:
    """The content of a terminal at one moment."""

    width: int
    height: int
    rows: tuple[tuple[Run, ...], ...]
    dark: bool = True
    """Whether the terminal's own ground is dark."""

    @property
    def text(self) -> str:
        """One line per row, without trailing spaces."""
        lines = (
            "".join(run.text for run in row).replace("\xa0", " ").rstrip() for row in self.rows
        )
        return "\n".join(lines) + "\n"


def screen_text(app: App[Any]) -> str:
    """The text of the screen, one line per row, without trailing spaces."""
    return take_frame(app).text


def screen_svg(app: App[Any]) -> str:
    """An SVG of the screen; equal cells give equal bytes."""
    return frame_svg(take_frame(app), app.title)


def take_frame(app: App[Any]) -> Frame:
    """The content of the screen with its styles."""
    found = app.screen._compositor.render_update(
        full=True, screen_stack=app._background_screens, simplify=True
    )
    rows = []
    for strips in cast(LayoutUpdate, found).strips:
        runs: list[Run] = []
        for segment in (segment for strip in strips for segment in strip if not segment.control):
            column = runs[-1].column + cell_len(runs[-1].text) if runs else 0
            runs.append(Run(column, segment.text, segment.style or Style.null()))
        rows.append(tuple(runs))
    return Frame(app.size.width, app.size.height, tuple(rows), app.current_theme.dark)


def frame_svg(frame: Frame, title: str) -> str:
    """A picture of a frame, in a window with a title."""
    width, height = _window_size(frame)
    looks = _Looks(dark=frame.dark)
    rows = enumerate(frame.rows)
    body = "".join(_row_svg(row, index * _LINE, looks) for index, row in rows)
    return _window(width, height, title, looks.css(), body)


_CELL, _LINE = 9, 18
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


def _window_size(frame: Frame) -> tuple[int, int]:
    """Width and height of the whole picture."""
    return frame.width * _CELL + 2 * _PAD, frame.height * _LINE + _HEAD + _PAD


def _window(width: int, height: int, title: str, css: str, body: str) -> str:
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


class _Looks:
    """Gives each text style a short class name, numbered by first use."""

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


def _row_svg(row: tuple[Run, ...], top: int, looks: _Looks) -> str:
    """One row, its upper edge at `top`."""
    grounds = "".join(_grounds(row, top, looks.palette))
    return grounds + "".join(part for run in row for part in _marks(run, top, looks)) + "\n"


def _grounds(row: tuple[Run, ...], top: int, palette: TerminalTheme) -> Iterator[str]:
    """A rectangle for each stretch of one background."""
    for fill, start, end in _stretches(row, palette):
        left, width = start * _CELL, (end - start) * _CELL
        yield f'<rect x="{left}" y="{top}" width="{width}" height="{_LINE}" fill="{fill}"/>'


def _stretches(row: Iterable[Run], palette: TerminalTheme) -> list[tuple[str, int, int]]:
    found: list[tuple[str, int, int]] = []
    for run in row:
        fill, end = _colours(run.style, palette)[1], run.column + cell_len(run.text)
        if found and found[-1][0] == fill:
            found[-1] = (fill, found[-1][1], end)
        else:
            found.append((fill, run.column, end))
    return found


def _marks(run: Run, top: int, looks: _Looks) -> Iterator[str]:
    """The characters of a run: lines and blocks as shapes, others as text."""
    colour = _colours(run.style, looks.palette)[0]
    places, letters, column = [], [], run.column
    for cells in _LEVEL.findall(run.text):
        char = cells[0]
        if char in _STROKES:
            look = looks.of(f"stroke:{colour}")
            at = f"translate({column * _CELL} {top})"
            path = f"M0 9H{_CELL * len(cells)}" if char in "─━" else _STROKES[char]
            yield f'<path class="{look}" d="{path}" transform="{at}"/>'
        elif char in _LOWER[1:] or char in _LEFT:
            yield _block(char, column * _CELL, top, colour)
        elif not char.isspace():
            places.append(str(column * _CELL))
            letters.append(char)
        column += cell_len(cells)
    if letters:
        look = looks.of(_rules(run.style, colour))
        text = escape("".join(letters), quote=False)
        yield f'<text class="{look}" y="{top + 13}" x="{" ".join(places)}">{text}</text>'


def _block(char: str, left: int, top: int, colour: str) -> str:
    if char in _LOWER:
        high = _LINE * _LOWER.index(char) / 8
        x, y, width, height = float(left), top + _LINE - high, float(_CELL), high
    else:
        x, y, width, height = left, top, _CELL * (8 - _LEFT.index(char)) / 8, _LINE
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


_Spans = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Film:
    """An animation of a terminal."""

    title: str
    frames: Sequence[tuple[Frame, float]]
    """Each frame with the seconds for which it is shown."""

    @property
    def starts(self) -> list[float]:
        """The start of each frame, and the end of the last one, in seconds."""
        found = [0.0]
        for _, seconds in self.frames:
            found.append(round(found[-1] + seconds, 3))
        return found


def asciicast(film: Film) -> str:
    """The animation as asciicast: a JSON line for the terminal, then one for each frame."""
    first = film.frames[0][0]
    lines = [{"version": 2, "width": first.width, "height": first.height, "title": film.title}]
    events: list[object] = list(lines)
    before: tuple[tuple[Run, ...], ...] = ()
    for (frame, _), start in zip(film.frames, film.starts, strict=False):
        data = "".join(
            f"\x1b[{number + 1};1H{_row_ansi(row)}\x1b[0m"
            for number, row in enumerate(frame.rows)
            if number >= len(before) or row != before[number]
        )
        events.append([start, "o", data if before else f"\x1b[?25l\x1b[2J{data}"])
        before = frame.rows
    events.append([film.starts[-1], "o", ""])
    return "".join(f"{json.dumps(event, ensure_ascii=False)}\n" for event in events)


def _row_ansi(row: tuple[Run, ...]) -> str:
    return "".join(run.style.render(run.text, color_system=ColorSystem.TRUECOLOR) for run in row)


def moving_svg(film: Film) -> str:
    """The animation as a repeating SVG. Viewers without CSS animation show the first frame."""
    first = film.frames[0][0]
    looks, moves = _Looks(dark=first.dark), _Moves(film.starts[-1])
    body = "".join(
        f"<g{moves.look(spans)}>{_row_svg(row, number * _LINE, looks)}</g>\n"
        for (number, row), spans in _shown_rows(film).items()
    )
    width, height = _window_size(first)
    return _window(width, height, film.title, looks.css() + moves.css(), body)


def _shown_rows(film: Film) -> dict[tuple[int, tuple[Run, ...]], _Spans]:
    """Every distinct row by its number, with the times at which it is visible."""
    found: dict[tuple[int, tuple[Run, ...]], list[tuple[float, float]]] = defaultdict(list)
    starts = film.starts
    for index, (frame, _) in enumerate(film.frames):
        for number, row in enumerate(frame.rows):
            spans = found[number, row]
            if spans and spans[-1][1] == starts[index]:
                spans[-1] = (spans[-1][0], starts[index + 1])
            else:
                spans.append((starts[index], starts[index + 1]))
    return {key: tuple(spans) for key, spans in found.items()}


class _Moves:
    """Generates the CSS that shows elements at their times; it repeats after `end` seconds."""

    def __init__(self, end: float) -> None:
        self._end = end
        self._names: dict[_Spans, str] = {}

    def look(self, spans: _Spans) -> str:
        """The class attribute of an element shown at these times; empty if it is always visible."""
        if spans == ((0.0, self._end),):
            return ""
        name = self._names.setdefault(spans, f"m{len(self._names)}")
        return f' class="m {name}"'

    def css(self) -> str:
        """The CSS rules of all animated elements."""
        return f".m{{animation:{self._end:g}s step-end infinite}}" + "".join(
            f".{name}{{visibility:{_seen(spans[0][0] == 0)};animation-name:{name}}}"
            f"@keyframes {name}{{{self._steps(spans)}}}"
            for spans, name in self._names.items()
        )

    def _steps(self, spans: _Spans) -> str:
        steps = {0.0: spans[0][0] == 0}
        for start, end in spans:
            steps |= {start: True, end: False}
        return "".join(
            f"{100 * time / self._end:.4g}%{{visibility:{_seen(on)}}}"
            for time, on in steps.items()
            if time < self._end
        )


def _seen(on: bool) -> str:
    return "visible" if on else "hidden"
