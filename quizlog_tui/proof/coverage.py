"""Finds which parts of a script runs have reached, and where to try another answer. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ..replay.transcript import Step, Transcript
from .lint.findings import Ending, LintReport, ScriptQuestion


@dataclass(frozen=True)
class CoveredRun:
    """One run, and its record and branch."""

    record: str
    branch: str
    run: Transcript


@dataclass(frozen=True)
class ReachedLine:
    """A question or an ending of the script, and how often it was reached."""

    line: int
    text: str
    """The question, or the exception as the script writes it; empty if that is not known."""
    times: int
    score: float | None = None
    """The score of an ending."""


@dataclass(frozen=True)
class Suggestion:
    """A step at which another answer may lead to something new."""

    record: str
    branch: str
    step: int
    prompt: str
    line: int
    """The line that was never reached."""
    kind: str
    """`question` or `ending`."""
    text: str


@dataclass(frozen=True)
class Coverage:
    """The coverage of a script by runs."""

    runs: int
    questions: tuple[ReachedLine, ...]
    endings: tuple[ReachedLine, ...]
    scores: dict[float, int]
    """How often each possible score was reached; 1 is that of a finished run."""
    waiting: int
    """Number of runs that wait for an answer, and so have no score."""
    suggestions: tuple[Suggestion, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        scores = [{"score": score, "times": times} for score, times in sorted(self.scores.items())]
        return asdict(self) | {"scores": scores}


def coverage(report: LintReport, walks: Sequence[CoveredRun]) -> Coverage:
    """The coverage of a script by runs.

    Args:
        report: What `lint` found in the script.
        walks: Runs of it.
    """
    asked = Counter(step.line or 0 for walk in walks for step in _stops(walk.run))
    raised = Counter(line for walk in walks for line in _raised(walk.run))
    scores = Counter({ending.score: 0 for ending in report.endings} | {1.0: 0})
    scores.update(walk.run.score for walk in walks if walk.run.score is not None)
    questions = _questions(report.questions, asked, walks)
    endings = [
        ReachedLine(one.line, one.message, raised[one.line], one.score) for one in report.endings
    ]
    waiting = sum(walk.run.status == "in_progress" for walk in walks)
    ideas = tuple(_suggestions(report, asked, raised, walks))
    return Coverage(len(walks), questions, tuple(endings), dict(scores), waiting, ideas)


def _stops(run: Transcript) -> list[Step]:
    """The stops at which a run asked."""
    return [*run.steps, *([run.last] if run.last.prompt is not None else [])]


def _raised(run: Transcript) -> set[int]:
    """The script's lines in the traceback of the exception."""
    return set(run.traceback_lines) if run.status == "error" else set()


def _questions(
    known: Iterable[ScriptQuestion], asked: Counter[int], walks: Sequence[CoveredRun]
) -> tuple[ReachedLine, ...]:
    """The script's known questions, and those that were found only by running it."""
    rows = {one.line: ReachedLine(one.line, one.prompt or "", asked[one.line]) for one in known}
    for walk in walks:
        for step in _stops(walk.run):
            line = step.line or 0
            rows.setdefault(line, ReachedLine(line, step.question or "", asked[line]))
    return tuple(rows[line] for line in sorted(rows))


def _suggestions(
    report: LintReport, asked: Counter[int], raised: Counter[int], walks: Sequence[CoveredRun]
) -> Iterator[Suggestion]:
    """For each part that was never reached, the last reached question before it."""
    homes = {one.line: one.reached_from for one in report.questions}
    begun = sorted((start, line) for line, home in homes.items() if asked[line] for start in home)
    places = _places(walks)
    missing: list[ScriptQuestion | Ending] = [
        one for one in report.questions if not asked[one.line]
    ]
    missing += [one for one in report.endings if not raised[one.line]]
    for one in sorted(missing, key=lambda one: one.line):
        line = _nearest(one, begun)
        if line in places:
            walk, step = places[line]
            kind, text = (
                ("question", one.prompt)
                if isinstance(one, ScriptQuestion)
                else (
                    "ending",
                    one.message,
                )
            )
            prompt = _stops(walk.run)[step].question or ""
            yield Suggestion(walk.record, walk.branch, step, prompt, one.line, kind, text or "")


def _nearest(wanted: ScriptQuestion | Ending, begun: Sequence[tuple[int, int]]) -> int | None:
    """The line of the last question that was asked before the wanted part.

    For parts in functions, the places count from which the main program calls them.

    Args:
        wanted: What was never reached.
        begun: Such a place and the line of the question, for all questions ever asked, in order.
    """
    last = max(wanted.reached_from, default=-1)
    count = bisect_right(begun, last, key=lambda each: each[0])
    return begun[count - 1][1] if count else None


def _places(walks: Sequence[CoveredRun]) -> dict[int | None, tuple[CoveredRun, int]]:
    """For each line that asked, the first run that reached it, and the step."""
    found: dict[int | None, tuple[CoveredRun, int]] = {}
    for walk in walks:
        for index, step in enumerate(_stops(walk.run)):
            found.setdefault(step.line, (walk, index))
    return found
