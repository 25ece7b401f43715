"""The text of a comparison of two runs: the words of each stop, also for the screen, and the lines.

Differing words have the signs `[-old-]` and `{+new+}`, never colour alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from ...replay.transcript import Step, Transcript
from ...terminal_text import plain
from ...text import one_line, plural
from ..diverge import Difference
from ..drift import NOUNS
from .align import AlignedRow, Span, align, changes, words

_AROUND = 1
"""Equal steps shown before and after those that differ."""


class StopTexts(NamedTuple):
    """What a stop shows, in order; what it does not have is empty."""

    output: str
    question: str
    answer: str
    end: str
    """How the run ended there, such as `error, score 0.5: message`."""


def stop_texts(step: Step, run: Transcript, draw: Callable[[str], str] = str) -> StopTexts:
    """The texts of a stop of a run.

    Args:
        step: The stop.
        run: The run it is a stop of.
        draw: What is made of the script's own texts.
    """
    output, question = draw("".join(step.written)), draw(step.prompt or "")
    end = "" if step.prompt is not None else _end_text(run, draw)
    return StopTexts(output, question, step.input or "", end)


def _end_text(run: Transcript, draw: Callable[[str], str]) -> str:
    score = "" if run.score is None else f", score {run.score:g}"
    if run.last_error is None:
        return f"finished{score}"
    return f"error{score}: {run.error_text(draw)}"


def headline(found: Difference | None) -> str:
    """The first difference, in one line."""
    if found is None:
        return "both show the same"
    return f"first difference: {NOUNS[found.what]} at step {found.step}"


def standing(run: Transcript) -> str:
    """Number of answers and outcome of a run."""
    score = "" if run.score is None else f", score {run.score:g}"
    return f"{plural(len(run.steps), 'answer')}, {run.status}{score}"


def comparison(a: Transcript, b: Transcript) -> Iterator[str]:
    """The aligned steps of two runs; long equal stretches take one line."""
    rows = align(a, b)
    differing = [i for i, row in enumerate(rows) if row.kind != "same"]
    near = {i + n for i in differing for n in range(-_AROUND, _AROUND + 1)}
    for shown, group in groupby(enumerate(rows), key=lambda item: item[0] in near):
        part = [row for _, row in group]
        if shown:
            for row in part:
                yield from _row(row, a, b)
        else:
            steps = plural(len(part), "step")
            yield f"  {steps} alike, {_step(part[0])} to {_step(part[-1])}"


def _step(row: AlignedRow) -> str:
    if row.index_a == row.index_b or row.index_b is None:
        return f"{row.index_a}"
    return f"{row.index_b}" if row.index_a is None else f"{row.index_a}/{row.index_b}"


def _row(row: AlignedRow, a: Transcript, b: Transcript) -> Iterator[str]:
    signs = {"same": "=", "changed": "~", "only-a": "-", "only-b": "+"}
    yield f"{signs[row.kind]} step {_step(row)}"
    one, other = _text(row.a, a, plain), _text(row.b, b, plain)
    if row.kind == "changed" and one == other:  # but for what a terminal does not show
        one, other = _text(row.a, a, str), _text(row.b, b, str)
    yield from _lines(one, other)


def _text(step: Step | None, run: Transcript, drawn: Callable[[str], str]) -> list[str]:
    """The lines of a step: printed text, the question with its answer, or the end."""
    if step is None:
        return []
    output, question, answer, end = stop_texts(step, run, drawn)
    if step.prompt is not None:
        return f"{output}{question}{answer}".split("\n")
    lines = output.removesuffix("\n").split("\n") if output else []
    return [*lines, f"({end})"]


def _lines(a: Sequence[str], b: Sequence[str]) -> Iterator[str]:
    """The lines of both; differing lines one below the other, with their words marked."""
    at = 0
    for i, j, k, m in changes(a, b):
        yield from (f"      {one_line(line)}" for line in a[at:i])
        for n in range(max(j - i, m - k)):
            one = a[i + n] if i + n < j else None
            other = b[k + n] if k + n < m else None
            yield from _pair(one, other)
        at = j
    yield from (f"      {one_line(line)}" for line in a[at:])


def _pair(one: str | None, other: str | None) -> Iterator[str]:
    spans: tuple[list[Span], list[Span]] = ([], [])
    if one is not None and other is not None:
        spans = words(one, other)
    if one is not None:
        yield f"    - {_marked(one, spans[0], '[-', '-]')}"
    if other is not None:
        yield f"    + {_marked(other, spans[1], '{+', '+}')}"


def _marked(line: str, spans: Sequence[Span], start: str, end: str) -> str:
    text, at = "", 0
    for first, last in spans:
        text += f"{one_line(line[at:first])}{start}{one_line(line[first:last])}{end}"
        at = last
    return (text + one_line(line[at:])).rstrip()
