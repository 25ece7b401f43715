"""Writes an animation of frames as an asciicast (version 2) or as an SVG animated by CSS alone."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from .svg import LINE, Looks, row_svg, window, window_size
from .terminal_frame import Frame, Run, row_ansi

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
            f"\x1b[{number + 1};1H{row_ansi(row)}\x1b[0m"
            for number, row in enumerate(frame.rows)
            if number >= len(before) or row != before[number]
        )
        events.append([start, "o", data if before else f"\x1b[?25l\x1b[2J{data}"])
        before = frame.rows
    events.append([film.starts[-1], "o", ""])
    return "".join(f"{json.dumps(event, ensure_ascii=False)}\n" for event in events)


def moving_svg(film: Film) -> str:
    """The animation as a repeating SVG. Viewers without CSS animation show the first frame."""
    first = film.frames[0][0]
    looks, moves = Looks(dark=first.dark), _Moves(film.starts[-1])
    body = "".join(
        f"<g{moves.look(spans)}>{row_svg(row, number * LINE, looks)}</g>\n"
        for (number, row), spans in _shown_rows(film).items()
    )
    width, height = window_size(first)
    return window(width, height, film.title, looks.css() + moves.css(), body)


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
    """Generates the CSS that shows elements at their times.

    Args:
        end: When the animation repeats, in seconds.
    """

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
