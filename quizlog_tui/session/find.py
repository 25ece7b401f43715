"""Finds words in everything a record holds: output, questions, answers, errors, notes, branches.

Pure, but for the limit on the time of a match. The runs that are searched are the caller's:
replayed ones, or what a record tells of them.
"""

from __future__ import annotations

import re
import signal
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Literal, NoReturn

from ..errors import LimitError, UsageError
from ..record import feedback
from ..record.lineage import lineage, parents_first, partings
from ..record.model import Record
from ..replay.transcript import Step, Transcript
from ..terminal_text import plain
from .recorded_run import recorded_run

_MARGIN = re.compile(r"^ *\| ")
"""What stands before the lines of exceptions in a group."""
_PLACE = re.compile(r" \([^()]*, line \d+\)$")
"""The place at the end of a syntax error's message, which a traceback tells elsewhere."""

UNRECORDED = "output and errors of other branches"
"""What the file of a record does not hold, so that nothing is found in it unless it is run."""
Part = Literal["output", "stderr", "question", "answer", "error", "note"]
"""The part of a step in which something is found."""


@dataclass(frozen=True)
class Passage:
    """One text of a record."""

    branch: str
    """The branch whose run it belongs to."""
    at: int
    """The step."""
    part: Part
    """The part of the step."""
    text: str
    """The text itself; what the script wrote is as a terminal would show it."""


@dataclass(frozen=True)
class Hit:
    """A line of a passage in which something is found."""

    passage: Passage
    """Where it is found."""
    start: int
    """Index in the passage's text of the first character of the line."""
    end: int
    """Index after the last character of the line, without its newline."""
    spans: tuple[tuple[int, int], ...]
    """Where the matches begin and end in the line."""

    @property
    def line(self) -> str:
        """The line, or the lines if a match goes over several."""
        return self.passage.text[self.start : self.end]

    @property
    def matched(self) -> str:
        """The text of the first match."""
        start, end = self.spans[0]
        return self.line[start:end]


def search_pattern(words: str, *, regex: bool = False) -> re.Pattern[str]:
    """The pattern for words, or for a regular expression; upper and lower case are the same.

    Raises:
        UsageError: It is not a regular expression.
    """
    try:
        return re.compile(words if regex else re.escape(words), re.IGNORECASE | re.MULTILINE)
    except (re.error, OverflowError, RecursionError) as error:
        message = f"not a regular expression: {error}"
        raise UsageError(message, hint="correct it, or search for plain words") from None


def passages(record: Record, runs: Mapping[str, Transcript]) -> list[Passage]:
    """All texts of a record, ordered by step; the active branch comes first at each step.

    What branches share is listed once, for the active branch if it has it too.

    Args:
        record: The record.
        runs: The runs through all answers of its branches, by name; others are left out.
    """
    found: list[Passage] = []
    for name, start in _own_starts(record, runs).items():
        found += _passages_of_run(name, runs[name], start)
    found += _notes(record, runs)
    return sorted(found, key=lambda passage: passage.at)


def recorded_passages(record: Record) -> list[Passage]:
    """All texts of a record as its file tells them; nothing is run."""
    return passages(record, {name: recorded_run(record, name) for name in record.names})


def _own_starts(record: Record, runs: Mapping[str, Transcript]) -> dict[str, int]:
    """For each branch the first step that no branch before it has; the active one is first."""
    starts = {record.branch: 0} if record.branch in runs else {}
    parted = partings(record, record.branch) if starts else {}
    for name in parents_first(record):
        if name in runs and name not in starts:
            reach = lineage(record, name)
            shared = [reach[other] for other in starts if other in reach]
            starts[name] = max([parted[name].at if name in parted else 0, *shared])
    return starts


def _passages_of_run(name: str, run: Transcript, start: int) -> Iterator[Passage]:
    """The texts of a run from a step on, of which others have all but the answer."""
    for at in range(start, len(run.steps) + 1):
        stop = run.steps[at] if at < len(run.steps) else _without_error(run)
        if at > start or not start:
            yield from _passages_before_answer(name, at, stop)
        if stop.input:
            yield Passage(name, at, "answer", stop.input)
    if run.last_error is not None:
        yield Passage(name, len(run.steps), "error", run.error_text())


def _passages_before_answer(name: str, at: int, stop: Step) -> Iterator[Passage]:
    """What the script showed before an answer, as a terminal would show it."""
    if stop.written:
        yield Passage(name, at, "output", plain("".join(stop.written)))
    if stop.stderr:
        yield Passage(name, at, "stderr", plain(stop.stderr))
    if stop.question:
        yield Passage(name, at, "question", plain(stop.question))


def _without_error(run: Transcript) -> Step:
    """The last stop, without what stderr says again of the error that ended the run."""
    if run.last_error is None:
        return run.last
    told = run.last.stderr.removeprefix(run.own_stderr)
    lines = (_MARGIN.sub("", line) for line in told.split("\n"))
    own = run.last_error.message.split("\n")
    own += [_PLACE.sub("", line) for line in own[:1]]
    others = (line for line in lines if not line.startswith(" ") and not _repeats(line, own))
    return replace(run.last, stderr=run.own_stderr + "\n".join(others))


def _repeats(line: str, own: Sequence[str]) -> bool:
    """Whether a line of a traceback is one of the error's message, behind its class or alone."""
    return line in own or line.partition(": ")[2] in own


def _notes(record: Record, runs: Mapping[str, Transcript]) -> Iterator[Passage]:
    """The remarks on steps, and the notes on branches at the step where each begins."""
    for said in feedback.read(record):
        name = record.branch if said.branch is None else said.branch
        if said.text and name in runs:
            yield Passage(name, said.at or 0, "note", said.text)
    for name, branch in record.branches.items():
        if branch.note and name in runs:
            yield Passage(name, branch.left_at, "note", branch.note)


def find(pattern: re.Pattern[str], texts: Iterable[Passage]) -> Iterator[Hit]:
    """The lines in which a pattern is found, in the order of the passages."""
    for passage in texts:
        yield from hits_in(pattern, passage)


def hits_in(pattern: re.Pattern[str], passage: Passage) -> Iterator[Hit]:
    """The lines of one passage in which a pattern is found; empty matches do not count."""
    text, start, end = passage.text, 0, -1
    spans: list[tuple[int, int]] = []
    for first, last in (match.span() for match in pattern.finditer(text) if match[0]):
        if first >= end:
            if spans:
                yield Hit(passage, start, end, tuple(spans))
            (start, end), spans = _lines_around(text, first, last), []
        spans.append((first - start, min(last, end) - start))
    if spans:
        yield Hit(passage, start, end, tuple(spans))


def _lines_around(text: str, first: int, last: int) -> tuple[int, int]:
    """Where the lines of a match begin and end."""
    newline = text.find("\n", last - 1)
    return text.rfind("\n", 0, first) + 1, len(text) if newline < 0 else max(newline, last)


def excerpt(hit: Hit, most: int) -> list[tuple[str, bool]]:
    """The line of a hit in pieces, each with whether it matches; of a long line the part around.

    Args:
        hit: What is found.
        most: Maximum number of characters of the line.
    """
    line, first = hit.line, hit.spans[0][0]
    begin = max(0, min(first - most // 3, len(line) - most))
    end = min(len(line), begin + most)
    pieces, at = [("…", False)] if begin else [], begin
    for start, stop in hit.spans:
        if start < end:
            pieces += [(line[at:start], False), (line[start : min(stop, end)], True)]
            at = min(stop, end)
    pieces += [(line[at:end], False), ("…" if end < len(line) else "", False)]
    return [(text, matches) for text, matches in pieces if text]


_SECONDS = 1.0


@contextmanager
def match_limit(*, on: bool, seconds: float = _SECONDS) -> Iterator[None]:
    """Raise a `LimitError` in what takes longer; where there is no such timer, nothing is done.

    Some expressions take longer than anybody lives. Python's matcher cannot be stopped from another
    thread and lets none run meanwhile, but it hears a timer's signal in the main one.

    Args:
        on: Whether there is a limit at all.
        seconds: The limit.
    """
    main = threading.current_thread() is threading.main_thread()
    if not (on and main and hasattr(signal, "setitimer")):
        yield
        return
    before = signal.signal(signal.SIGALRM, _stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _stop(*_: object) -> NoReturn:
    raise LimitError("this expression takes too long", hint="make it simpler")
