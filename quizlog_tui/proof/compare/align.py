"""Aligns two runs: which steps correspond, and which words differ. Pure.

`diverge` finds the first difference; this module aligns all steps, also after a question that only
one of the runs asks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import accumulate
from typing import Literal

from ...replay.transcript import Step, Transcript

Kind = Literal["same", "changed", "only-a", "only-b"]

_WORD = re.compile(r"\w+|\s+|[^\w\s]")
_MOST_WORDS = 2_000
"""Maximum number of words that are compared; a longer stretch counts as one, to save time."""


@dataclass(frozen=True)
class AlignedRow:
    """One line of a comparison."""

    kind: Kind
    """Whether both show the same and have the same answer, or only one of them has a step."""
    a: Step | None
    """The first run's step; None if only the other has one."""
    b: Step | None
    """The second run's step."""
    index_a: int | None
    """Index of `a` among the stops of its run; the last stop (the pending question, or the end)
    counts as one."""
    index_b: int | None
    """The same of `b`."""


Pair = tuple[int | None, int | None]
Range = tuple[int, int, int, int]
"""A stretch of both runs: from and to in the first, from and to in the second."""


def align(a: Transcript, b: Transcript) -> list[AlignedRow]:
    """All stops of two runs in order; corresponding ones are in one row.

    Stops that show the same correspond; between those, stops that ask the same; between those,
    stops at the same position.
    """
    stops_a, stops_b = (*a.steps, a.last), (*b.steps, b.last)
    whole = (0, len(stops_a), 0, len(stops_b))
    shown = _matched(whole, stops_a, stops_b, _shown)
    asked = (pair for part in shown for pair in _refined(part, stops_a, stops_b))
    ends_alike = (a.status, a.last_error, a.error_type) == (b.status, b.last_error, b.error_type)
    return [_row(pair, stops_a, stops_b, ends_alike=ends_alike) for pair in asked]


def _shown(stop: Step) -> Hashable:
    return stop.written, stop.prompt


def _asked(stop: Step) -> Hashable:
    return stop.prompt


def _matched(
    part: Range, a: Sequence[Step], b: Sequence[Step], key: Callable[[Step], Hashable]
) -> Iterator[Pair | Range]:
    """A stretch as pairs with equal keys, and the smaller stretches between them."""
    start_a, end_a, start_b, end_b = part
    keys_a, keys_b = [key(s) for s in a[start_a:end_a]], [key(s) for s in b[start_b:end_b]]
    head = _common(keys_a, keys_b)
    tail = _common(keys_a[head:][::-1], keys_b[head:][::-1])
    middle_a, middle_b = keys_a[head : len(keys_a) - tail], keys_b[head : len(keys_b) - tail]
    yield from ((start_a + i, start_b + i) for i in range(head))
    for tag, i, j, k, m in SequenceMatcher(None, middle_a, middle_b).get_opcodes():
        at_a, at_b = start_a + head, start_b + head
        if tag == "equal":
            yield from ((at_a + i + n, at_b + k + n) for n in range(j - i))
        else:
            yield at_a + i, at_a + j, at_b + k, at_b + m
    yield from ((end_a - n, end_b - n) for n in range(tail, 0, -1))


def _common(a: Sequence[Hashable], b: Sequence[Hashable]) -> int:
    """Number of equal items at the beginning."""
    for at, (one, other) in enumerate(zip(a, b, strict=False)):
        if one != other:
            return at
    return min(len(a), len(b))


def _refined(part: Pair | Range, a: Sequence[Step], b: Sequence[Step]) -> Iterator[Pair]:
    """The pairs of a stretch in which nothing shows the same."""
    if len(part) == 2:
        yield part
        return
    for smaller in _matched(part, a, b, _asked):
        if len(smaller) == 2:
            yield smaller
            continue
        start_a, end_a, start_b, end_b = smaller
        for n in range(max(end_a - start_a, end_b - start_b)):
            at_a, at_b = start_a + n, start_b + n
            yield at_a if at_a < end_a else None, at_b if at_b < end_b else None


def _row(pair: Pair, a: Sequence[Step], b: Sequence[Step], *, ends_alike: bool) -> AlignedRow:
    at_a, at_b = pair
    one = a[at_a] if at_a is not None else None
    other = b[at_b] if at_b is not None else None
    if one is None or other is None:
        return AlignedRow("only-b" if one is None else "only-a", one, other, at_a, at_b)
    same = (_shown(one), one.input) == (_shown(other), other.input)
    ended = one.prompt is None and not ends_alike
    return AlignedRow("same" if same and not ended else "changed", one, other, at_a, at_b)


Span = tuple[int, int]
"""Start and end of a piece of text, in characters."""


def words(a: str, b: str) -> tuple[list[Span], list[Span]]:
    """The differing words of two lines, as spans of each, in order.

    Without these spans, the lines are equal.
    """
    pieces_a, pieces_b = _WORD.findall(a), _WORD.findall(b)
    starts_a, starts_b = _starts(pieces_a), _starts(pieces_b)
    spans_a: list[Span] = []
    spans_b: list[Span] = []
    for i, j, k, m in changes(pieces_a, pieces_b):
        spans_a += [(starts_a[i], starts_a[j])] if i < j else []
        spans_b += [(starts_b[k], starts_b[m])] if k < m else []
    return spans_a, spans_b


def _starts(pieces: Sequence[str]) -> list[int]:
    """The start of each piece, and the end of the last one."""
    return [0, *accumulate(map(len, pieces))]


def changes(a: Sequence[str], b: Sequence[str]) -> Iterator[Range]:
    """The stretches in which two lists of words or lines differ; what is between them is equal."""
    head = _common(a, b)
    tail = _common(a[head:][::-1], b[head:][::-1])
    end_a, end_b = len(a) - tail, len(b) - tail
    own_a, own_b = a[head:end_a], b[head:end_b]
    if max(len(own_a), len(own_b)) > _MOST_WORDS or set(own_a).isdisjoint(own_b):
        yield from [(head, end_a, head, end_b)] if own_a or own_b else []
        return
    matcher = SequenceMatcher(None, own_a, own_b, autojunk=False)
    for tag, i, j, k, m in matcher.get_opcodes():
        if tag != "equal":
            yield head + i, head + j, head + k, head + m
