"""The text of a stop as a comparison shows it, with the words that differ marked.

Differing words stand between « and », underlined, so that no colour is needed to see them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest

from ...replay.align import Row, Span, words
from ...replay.transcript import Step, Transcript
from ...text import plural
from ..widgets.documents import Line, line
from .words import STYLES, outcome

_ALIKE = 8
"""Lines of output shown where both runs wrote the same: a comparison is for what differs."""


def stop_text(step: Step, run: Transcript) -> str:
    """All that is shown of a stop."""
    return "".join(text for text, _ in pieces(step, run))


def pieces(step: Step, run: Transcript) -> list[tuple[str, str]]:
    """The same in pieces with their styles: what was printed, question, answer, end."""
    return [("".join(step.written), ""), _asked(step), _answered(step), *_end(step, run)]


def shortened(step: Step) -> Step:
    """A stop that both runs have alike, without the middle of a long output."""
    text = "".join(step.written)
    count = text.count("\n")
    if count <= _ALIKE:
        return step
    first = "\n".join(text.split("\n", _ALIKE)[:_ALIKE])
    return replace(step, written=(f"{first}\n… {plural(count - _ALIKE, 'more line')}, alike\n",))


def _asked(step: Step) -> tuple[str, str]:
    return step.prompt or "", "prompt"


def _answered(step: Step) -> tuple[str, str]:
    """The answer; a sign where one is waited for."""
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


def sides(row: Row, a: Transcript, b: Transcript) -> tuple[Line, Line]:
    """Both texts of a row that differs, the differing words marked where both have one."""
    if row.a is None or row.b is None:
        one = line(*pieces(row.a, a)) if row.a else Line(())
        other = line(*pieces(row.b, b)) if row.b else Line(())
        return one, other
    left: list[tuple[str, str]] = []
    right: list[tuple[str, str]] = []
    alike = row.a.written == row.b.written
    stops = [shortened(step) if alike else step for step in (row.a, row.b)]
    both = zip_longest(pieces(stops[0], a), pieces(stops[1], b), fillvalue=("", ""))
    for one_piece, other_piece in both:
        spans_a, spans_b = _differing(one_piece, other_piece)
        left += _spanned(one_piece, spans_a, "removed")
        right += _spanned(other_piece, spans_b, "added")
    return line(*left), line(*right)


def _differing(one: tuple[str, str], other: tuple[str, str]) -> tuple[list[Span], list[Span]]:
    """The words to mark; none where one side has nothing or they are of two kinds."""
    (text_a, style_a), (text_b, style_b) = one, other
    return words(text_a, text_b) if text_a and text_b and style_a == style_b else ([], [])


def _spanned(
    piece: tuple[str, str], spans: Sequence[Span], style: str
) -> Iterator[tuple[str, str]]:
    """A piece with some words marked, on each of their lines."""
    text, own = piece
    at = 0
    for start, end in spans:
        yield text[at:start], own
        lines = text[start:end].split("\n")
        for number, part in enumerate(lines):
            if number:
                yield "\n", own
            if part or (not lines[number - 1] and number == len(lines) - 1):
                yield from (("«", own), (part or "⏎", style), ("»", own))
        at = end
    yield text[at:], own
