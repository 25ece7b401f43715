"""Compares two runs: a branch of a record each, run under its script, aligned and told in words.

`diverge` finds the first difference; here all steps are aligned, also after a question that only
one of the runs asks, and the words of a step. In the text of a comparison, differing words have
the signs `[-old-]` and `{+new+}`, never colour alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import accumulate, groupby
from pathlib import Path
from typing import Any, Literal

from ..files.paths import record_path
from ..record.lineage import no_branch
from ..record.model import Record
from ..record.store import RecordFile
from ..record.who import Attribution, known_giver, on_branch
from ..replay.replayer import Replayer
from ..replay.script.granted import granted_script_of
from ..replay.script.source import Source
from ..replay.transcript import Step, StopPart, Transcript, stop_parts
from ..replay.uncached_runs import run_parallel
from ..terminal_text import plain
from ..text import one_line, plural
from .diverge import Difference, first_difference
from .drift import NOUNS, BranchDrift, branch_drift, branch_drifts, difference_text

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

    @property
    def answers_differ(self) -> bool:
        """Whether both have an answer, but not the same one."""
        answers = [step and step.input for step in (self.a, self.b)]
        return None not in answers and answers[0] != answers[1]


_Pair = tuple[int | None, int | None]
_Range = tuple[int, int, int, int]
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
    part: _Range, a: Sequence[Step], b: Sequence[Step], key: Callable[[Step], Hashable]
) -> Iterator[_Pair | _Range]:
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


def _refined(part: _Pair | _Range, a: Sequence[Step], b: Sequence[Step]) -> Iterator[_Pair]:
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


def _row(pair: _Pair, a: Sequence[Step], b: Sequence[Step], *, ends_alike: bool) -> AlignedRow:
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


def changes(a: Sequence[str], b: Sequence[str]) -> Iterator[_Range]:
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


Givers = Mapping[int, Attribution]
"""How the answers of a run were given, by step, as far as known."""


@dataclass(frozen=True)
class Side:
    """A branch of a record, as named by the user."""

    path: Path
    record: Record
    source: Source
    branch: str
    whole: bool
    """Whether all its answers count, not only those before the pointer."""

    @property
    def name(self) -> str:
        """Its name, such as `record.yaml@branch`."""
        return f"{self.path}@{self.branch}"

    @property
    def givers(self) -> Givers:
        """How its answers were given."""
        return on_branch(self.record, self.branch)


@dataclass(frozen=True)
class RunComparison:
    """Two runs and their first difference."""

    a: Transcript
    b: Transcript
    difference: Difference | None
    """The first difference in what they show; None if they show the same."""
    answer: int | None
    """Index of the first differing answer; None if the common ones are equal."""

    @property
    def equal(self) -> bool:
        """Whether they show the same and have the same answers."""
        return self.difference is None and self.answer is None

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON. If only answers differ, `what` is `answer`."""
        found = self.difference
        data: dict[str, Any] = {"equal": self.equal, "step": None, "what": None}
        if found is not None:
            data |= {"step": found.step, "what": found.what, "a": found.a, "b": found.b}
        elif self.answer is not None:
            a, b = self.a.steps[self.answer].input, self.b.steps[self.answer].input
            data |= {"step": self.answer, "what": "answer", "a": a, "b": b}
        rows = [{"kind": r.kind, "a": r.index_a, "b": r.index_b} for r in align(self.a, self.b)]
        return {"a": None, "b": None} | data | {"answer": self.answer, "steps": rows}


def side_of(name: str, other: Side | None = None) -> Side:
    """The side for a name: `RECORD`, `RECORD@BRANCH`, or `@BRANCH` of the other side's record.

    Without a branch, the active branch up to the pointer; with one, that branch to its end.

    Raises:
        RecordError: The record cannot be read.
        ScriptError: Its script cannot be read.
        UsageError: It has no such branch.
    """
    path, at, branch = (name, "", "") if Path(name).exists() else name.rpartition("@")
    if not at:
        path, branch = name, ""
    if not path and other is not None:
        return with_branch(other, branch)
    return side_at(record_path(path), branch if at else None)


def side_at(file: Path, branch: str | None) -> Side:
    """The side of a record's file: a branch to its end, or the active one up to the pointer.

    Raises:
        RecordError: The record cannot be read.
        ScriptError: Its script cannot be read.
        UsageError: It has no such branch.
    """
    record = RecordFile(file).read()
    source = granted_script_of(file, record)
    side = Side(file, record, source, record.branch, whole=False)
    return side if branch is None else with_branch(side, branch)


def with_branch(side: Side, branch: str) -> Side:
    """Another branch of the same record, to its end.

    Raises:
        UsageError: There is no such branch.
    """
    if branch not in side.record.names:
        raise no_branch(side.record, branch, str(side.path))
    return replace(side, branch=branch, whole=True)


def run_of(side: Side, replayer: Replayer) -> tuple[Transcript, Difference | None]:
    """The run of a side as far as its answers fit their questions, and the difference there."""
    return _run(side, branch_drift(side.record, side.branch, side.source, replayer))


def runs_of(
    sides: Sequence[Side], replayer: Replayer
) -> list[tuple[Transcript, Difference | None]]:
    """The results of `run_of` for sides: one walk for each record, records in parallel."""

    def drifts(record: Record) -> list[BranchDrift]:
        own = [side for side in sides if side.record is record]
        names = list(dict.fromkeys(side.branch for side in own))
        return branch_drifts(record, names, own[0].source, replayer)

    records = list({id(side.record): side.record for side in sides}.values())
    parallel = run_parallel(drifts, records, len(records), replayer.cancel)
    found = {
        (id(record), drift.branch): drift
        for record, own in zip(records, parallel, strict=True)
        for drift in own
    }
    return [_run(side, found[id(side.record), side.branch]) for side in sides]


def _run(side: Side, drift: BranchDrift) -> tuple[Transcript, Difference | None]:
    run = drift.run if side.whole else drift.run.upto(side.record.pointer)
    return run, drift.difference


def compare(
    a: Transcript, b: Transcript, *, ended: tuple[Difference | None, ...] = ()
) -> RunComparison:
    """The first differences between two runs, in what they show and in their answers.

    Args:
        a: One run.
        b: The other run.
        ended: The differences at which they ended early, see `run_of`: a branch that its script no
            longer accepts is not equal to one with the same beginning.
    """
    pairs = enumerate(zip(a.steps, b.steps, strict=False))
    answer = next((i for i, (one, other) in pairs if one.input != other.input), None)
    found = (first_difference(a, b), *ended)
    return RunComparison(a, b, next((one for one in found if one is not None), None), answer)


_TOLD: tuple[StopPart, ...] = ("output", "question", "answer")
"""The parts of a stop that are compared line by line."""
_AROUND = 1
"""Equal steps shown before and after those that differ."""


def headline(found: Difference | None) -> str:
    """The first difference, in one line."""
    if found is None:
        return "both show the same"
    return f"first difference: {NOUNS[found.what]} at step {found.step}"


def standing(run: Transcript) -> str:
    """Number of answers and outcome of a run."""
    score = "" if run.score is None else f", score {run.score:g}"
    return f"{plural(len(run.steps), 'answer')}, {run.status}{score}"


def early_end(name: str, run: Transcript, ended: Difference) -> str:
    """That a run was compared only up to where it ended early, in words."""
    return f"{name}: compared up to step {len(run.steps)} only: {difference_text(ended)}"


def difference_lines(
    found: RunComparison, name_a: str, name_b: str, givers: Sequence[Givers] = ({}, {})
) -> Iterator[str]:
    """How two runs ended, where they part, and their steps if they do.

    Args:
        found: The two runs.
        name_a: The name of the first.
        name_b: The name of the second.
        givers: How the answers of each were given.
    """
    for letter, name, run in (("A", name_a, found.a), ("B", name_b, found.b)):
        yield f"{letter}  {one_line(name)}: {standing(run)}"
    yield headline(found.difference)
    if found.answer is not None:
        yield f"first different answer: at step {found.answer}"
    yield from () if found.equal else comparison(found.a, found.b, givers)


def comparison(a: Transcript, b: Transcript, givers: Sequence[Givers]) -> Iterator[str]:
    """The aligned steps of two runs; long equal stretches take one line."""
    rows = align(a, b)
    differing = [i for i, row in enumerate(rows) if row.kind != "same"]
    near = {i + n for i in differing for n in range(-_AROUND, _AROUND + 1)}
    for shown, group in groupby(enumerate(rows), key=lambda item: item[0] in near):
        part = [row for _, row in group]
        if shown:
            for row in part:
                yield from _told(row, a, b)
                yield from _answered_by(row, givers)
        else:
            steps = plural(len(part), "step")
            yield f"  {steps} alike, {_step(part[0])} to {_step(part[-1])}"


def _step(row: AlignedRow) -> str:
    if row.index_a == row.index_b or row.index_b is None:
        return f"{row.index_a}"
    return f"{row.index_b}" if row.index_a is None else f"{row.index_a}/{row.index_b}"


def _told(row: AlignedRow, a: Transcript, b: Transcript) -> Iterator[str]:
    signs = {"same": "=", "changed": "~", "only-a": "-", "only-b": "+"}
    yield f"{signs[row.kind]} step {_step(row)}"
    one, other = _text(row.a, a, plain), _text(row.b, b, plain)
    if row.kind == "changed" and one == other:  # but for what a terminal does not show
        one, other = _text(row.a, a, str), _text(row.b, b, str)
    yield from _lines(one, other)


def _answered_by(row: AlignedRow, givers: Sequence[Givers]) -> Iterator[str]:
    """Who gave the answers of a row, where they differ and as far as somebody is known."""
    if row.answers_differ:
        both = zip("AB", givers, (row.index_a, row.index_b), strict=True)
        names = ((letter, known_giver(known.get(at or 0))) for letter, known, at in both)
        told = ", ".join(f"{name} ({letter})" for letter, name in names if name)
        yield from [f"    answered by {told}"] if told else []


def _text(step: Step | None, run: Transcript, drawn: Callable[[str], str]) -> list[str]:
    """The lines of a step: printed text, the question with its answer, or the end."""
    if step is None:
        return []
    parts = stop_parts(step, run, drawn)
    text = "".join(parts[kind] for kind in _TOLD)
    if step.prompt is not None:
        return text.split("\n")
    lines = text.removesuffix("\n").split("\n") if text else []
    return [*lines, f"({parts['end']})"]


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
