"""Draws a stop for a comparison, with the differing words marked.

Differing words are underlined and enclosed in « », so that they can be seen without colour.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import NamedTuple

from ...proof.compare.align import AlignedRow, Span, changes, words
from ...replay.transcript import Step, Transcript
from ...text import plural
from ..widgets.documents import Line, line, pieces_between, terminal_pieces
from .status_signs import STYLES, outcome

_ALIKE = 8
"""Maximum lines of output shown where both runs wrote the same."""
MARKED = ("removed", "added")
"""The styles of differing words, on the left and on the right."""
_CONTEXT = 3
"""Equal lines shown before and after lines that differ."""


class StopPart(NamedTuple):
    """A part of a stop: what was written, the question, the answer, or the end."""

    pieces: Sequence[tuple[str, str]]
    """Its text as a terminal would show it, in its own colours."""
    style: str
    """The style of what has no colour of its own."""

    @property
    def text(self) -> str:
        """The characters."""
        return "".join(text for text, _ in self.pieces)


def stop_text(step: Step, run: Transcript) -> str:
    """The whole text of a stop."""
    return "".join(part.text for part in _parts(step, run))


def pieces(step: Step, run: Transcript) -> list[tuple[str, str]]:
    """The text in styled pieces: output, question, answer, end."""
    return [piece for part in _parts(step, run) for piece in part.pieces]


def text_item(pieces: Sequence[tuple[str, str]]) -> Line:
    """An item of at least one row."""
    return line(*(pieces or [("", "")]))


def written_pieces(step: Step) -> Sequence[tuple[str, str]]:
    """What a stop wrote, in styled pieces."""
    return _part("".join(step.written), "").pieces


def without_last_newline(pieces: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """The same text without the newline at its end."""
    *others, (text, style) = pieces
    return (*others, (text.removesuffix("\n"), style))


def _part(text: str, style: str, *, raw: bool = False) -> StopPart:
    return StopPart(terminal_pieces(text, style, raw=raw), style)


def _parts(step: Step, run: Transcript) -> list[StopPart]:
    return [_part(text, style) for text, style in _texts(step, run)]


def _texts(step: Step, run: Transcript) -> list[tuple[str, str]]:
    """The parts of a stop as they were written, each with its style."""
    return [("".join(step.written), ""), _asked(step), _answered(step), *_end(step, run)]


def shortened(step: Step) -> Step:
    """A stop that is equal in both runs, with long output shortened."""
    text = "".join(step.written)
    count = text.count("\n")
    if count <= _ALIKE:
        return step
    first = "\n".join(text.split("\n", _ALIKE)[:_ALIKE])
    return replace(step, written=(f"{first}\n… {plural(count - _ALIKE, 'more line')}, alike\n",))


def without_equal_lines(a: Step, b: Step) -> tuple[Step, Step]:
    """Two stops with different output, reduced to the differing lines and some context."""
    lines_a, lines_b = ("".join(step.written).split("\n") for step in (a, b))
    left: list[str] = []
    right: list[str] = []
    at = 0
    for start_a, end_a, start_b, end_b in changes(lines_a, lines_b):
        equal = _folded(lines_a[at:start_a], _CONTEXT if left or right else 0, _CONTEXT)
        left += [*equal, *lines_a[start_a:end_a]]
        right += [*equal, *lines_b[start_b:end_b]]
        at = end_a
    rest = _folded(lines_a[at:], _CONTEXT, 1)  # the question stands on the last line
    texts = ["\n".join([*lines, *rest]) for lines in (left, right)]
    written = [(text,) if text else () for text in texts]
    return replace(a, written=written[0]), replace(b, written=written[1])


def _folded(lines: Sequence[str], before: int, after: int) -> Sequence[str]:
    """Replace the middle of equal lines by their count."""
    count = len(lines) - before - after
    if count < 2:
        return lines
    return [*lines[:before], f"… {count} lines alike", *lines[len(lines) - after :]]


def _asked(step: Step) -> tuple[str, str]:
    return step.prompt or "", "prompt"


def _answered(step: Step) -> tuple[str, str]:
    """The answer, or a cursor sign if it is pending."""
    if step.input is None:
        return ("▏" if step.prompt is not None else ""), "dim"
    return step.input, "answer"


def _end(step: Step, run: Transcript) -> list[tuple[str, str]]:
    """How the run ended, after its last stop."""
    if step.prompt is not None:
        return []
    error = f": {run.last_error.message}" if run.last_error else ""
    before = "" if not step.written or step.written[-1].endswith("\n") else "\n"
    return [(before, ""), (outcome(run.status, run.score) + error, STYLES[run.status])]


def sides(row: AlignedRow, a: Transcript, b: Transcript) -> tuple[Line, Line]:
    """Both texts of a differing row, with differing words marked if both sides have one."""
    if row.a is None or row.b is None:
        return _alone(row.a, a), _alone(row.b, b)
    left: list[tuple[str, str]] = []
    right: list[tuple[str, str]] = []
    alike = row.a.written == row.b.written
    one, other = row.a, row.b
    one, other = (shortened(one), shortened(other)) if alike else without_equal_lines(one, other)
    both = zip_longest(_texts(one, a), _texts(other, b), fillvalue=("", ""))
    for texts in both:
        part_a, part_b = _drawn_alike(*texts)
        spans_a, spans_b = _differing(part_a, part_b)
        left += _spanned(part_a, spans_a, MARKED[0])
        right += _spanned(part_b, spans_b, MARKED[1])
    return text_item(left), text_item(right)


def _drawn_alike(one: tuple[str, str], other: tuple[str, str]) -> tuple[StopPart, StopPart]:
    """Both parts as a terminal would show them, but raw where only escape sequences differ."""
    drawn = _part(*one), _part(*other)
    if one == other or drawn[0].text != drawn[1].text:
        return drawn
    return _part(*one, raw=True), _part(*other, raw=True)


def _alone(step: Step | None, run: Transcript) -> Line:
    """A stop that only one run has, or the empty place in the other."""
    return text_item(pieces(step, run)) if step else Line(())


def _differing(one: StopPart, other: StopPart) -> tuple[list[Span], list[Span]]:
    """The words to mark; none if a side is empty or the styles differ."""
    if one.style != other.style or not one.text or not other.text:
        return [], []
    return words(one.text, other.text)


def _spanned(whole: StopPart, spans: Sequence[Span], style: str) -> Iterator[tuple[str, str]]:
    """A part of a stop with some words marked, on each of their lines."""
    at = 0
    for start, end in spans:
        yield from pieces_between(whole.pieces, at, start)
        lines = whole.text[start:end].split("\n")
        for number, part in enumerate(lines):
            if number:
                yield "\n", whole.style
            if part or (not lines[number - 1] and number == len(lines) - 1):
                yield from (("«", whole.style), (part or "⏎", style), ("»", whole.style))
        at = end
    yield from pieces_between(whole.pieces, at, len(whole.text))
