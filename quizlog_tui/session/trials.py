"""Tries other answers and other branches of an open record, which is not changed.

Lists of answers to try, what each leads to, and the answer that makes the outcome fail.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ..errors import CancelledError, QuizlogError, UsageError
from ..files.paths import typed_path
from ..record import branches as rules
from ..record.lineage import partings
from ..record.model import Record
from ..replay.transcript import Step, Transcript
from ..replay.world import world_of
from .live_record import LiveRecord
from .moves import SessionState, amended_run
from .reply import branch_list

_ABREAST = 16
"""Number of answers in one portion; after each portion the work can be stopped."""
MAX_BYTES = 64 * 1024 * 1024
"""Maximum size of a file of answers; larger files are refused unread."""
_MOST_OTHERS = 16
"""Maximum number of other recorded answers that `bisect` tries at the step it found."""
Replay = Callable[[Sequence[str]], Transcript]
"""Replays answers with one script and seed."""


def lines_of(text: str) -> list[str]:
    """The answers in a text: each line is one, an empty line is the empty answer.

    A newline at the end of the text starts no further answer; an empty text has no answers.
    """
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")] if text else []


def read_answers(path: Path) -> list[str]:
    """The answers in a file, or from stdin if the path is `-`.

    Raises:
        UsageError: The file cannot be read, is not UTF-8 text, or holds no answer.
    """
    try:
        answers = lines_of(_bytes(path).decode("utf-8-sig"))
    except OSError as error:
        raise UsageError(f"cannot read: {error.strerror}", where=str(path)) from None
    except UnicodeDecodeError as error:
        hint = "write one answer per line, in UTF-8"
        message = f"is not text: byte {error.start}"
        raise UsageError(message, where=str(path), hint=hint) from None
    if not answers:
        raise UsageError("holds no answers", where=str(path), hint="write one per line")
    return answers


def _bytes(path: Path) -> bytes:
    if str(path) == "-":
        return sys.stdin.buffer.read()
    if path.is_file() and path.stat().st_size > MAX_BYTES:
        hint = f"at most {MAX_BYTES // 2**20} MB are read"
        raise UsageError("is too big", where=str(path), hint=hint)
    return path.read_bytes()


def typed_answers(text: str, path_of: Callable[[str], Path] = typed_path) -> list[str]:
    """The answers in a typed text: `@FILE` means those in a file, `@@x` means the answer `@x`.

    Args:
        text: The text.
        path_of: The path of a typed file; raises an error if it may not be read.

    Raises:
        UsageError: A file cannot be read.
    """
    answers: list[str] = []
    for line in lines_of(text):
        if line.startswith("@@") or not line.startswith("@"):
            answers.append(line.removeprefix("@") if line.startswith("@@") else line)
        else:
            answers += read_answers(path_of(line[1:].strip()))
    return answers


def portions(answers: Sequence[str]) -> Iterator[Sequence[str]]:
    """The answers in portions, so that progress can be shown and the work stopped in between."""
    for start in range(0, len(answers), _ABREAST):
        yield answers[start : start + _ABREAST]


def fan_out(
    live: LiveRecord, state: SessionState, at: int, answers: Sequence[str], *, deep: bool = False
) -> list[Transcript | QuizlogError]:
    """The outcomes of several answers at step `at`.

    Args:
        live: The record and where it runs.
        state: The state of the session.
        at: The step.
        answers: The answers to try there.
        deep: Whether each run continues with the recorded later answers, as `amend` does.

    Raises:
        UsageError: There is no such step.
        CancelledError: The replayer was cancelled meanwhile.
    """
    record = state.record
    rules.check_pointer(record, at)
    steps = live.replay(record, record.inputs).steps if deep else ()
    if at < len(steps):
        return [_amended(live, record, steps, at, answer) for answer in answers]
    path = record.inputs.upto(at)
    return live.replayer.fan_out(live.source, world_of(record), path, answers)


def _amended(
    live: LiveRecord, record: Record, steps: Sequence[Step], at: int, answer: str
) -> Transcript | QuizlogError:
    """What another answer at a step leads to, or what stopped that."""
    try:
        return amended_run(live, record, steps, at, answer)
    except CancelledError:
        raise
    except QuizlogError as error:
        return error


def attempt_row(
    answer: str, result: Transcript | QuizlogError, recorded: Transcript | None = None
) -> dict[str, Any]:
    """An answer that was tried, and what it led to, as plain data.

    Args:
        answer: The answer.
        result: The run, or what stopped it.
        recorded: The recorded run, where the first step that differs from it is wanted.
    """
    row: dict[str, Any] = {"answer": answer, "status": None, "score": None, "steps": None}
    if isinstance(result, QuizlogError):
        row["error"] = str(result)
    else:
        error = result.last_error.message if result.last_error else None
        row |= {"status": result.status, "score": result.score, "steps": len(result.steps)}
        row |= {"next_prompt": result.next_prompt, "error": error}
    if recorded is not None:
        row["differs"] = differs_at(result, recorded)
    return row


def differs_at(result: Transcript | QuizlogError, recorded: Transcript) -> int | None:
    """The first step at which a run shows something else than the recorded one.

    None if there is none: also where the run only goes on behind the last recorded answer.
    """
    from ..proof.diverge import first_difference

    if isinstance(result, QuizlogError) or len(result.steps) > len(recorded.steps):
        return None
    found = first_difference(recorded, result)
    return found.step if found else None


@dataclass(frozen=True)
class Culprit:
    """The first answer that makes the outcome worse."""

    step: int
    """Index of the answer."""
    replays: int
    """Number of replays that were needed to find it."""
    outcome: Transcript
    """The run with that answer and good ones after it."""
    failing_too: tuple[str, ...] = ()
    """Other recorded answers at that step with which the outcome fails as well. If there are any,
    the failure does not depend on the answer alone."""


def find_culprit(
    replay: Replay,
    bad: Sequence[str],
    good: Sequence[str],
    others: Callable[[int], Sequence[str]] = lambda step: (),
) -> Culprit | None:
    """Find the first answer of `bad` that makes the outcome worse than that of `good`.

    Replays the beginning of `bad` followed by the rest of `good`, by binary search: a hundred
    answers take eight replays. If `good` has no further answers, an outcome counts as worse if the
    run raised. None if there is no such answer.

    Args:
        replay: Replays the script.
        bad: The answers to search.
        good: Answers with a better outcome, if there are any.
        others: Other answers to try at the step found, in place of that one.
    """
    seen: dict[int, Transcript] = {}

    def mixed(count: int) -> Transcript:
        if count not in seen:
            seen[count] = replay([*bad[:count], *good[count:]])
        return seen[count]

    target = _worth(mixed(0))
    if _worth(mixed(len(bad))) >= target:
        return None
    sound, spoiled = 0, len(bad)
    while spoiled - sound > 1:
        middle = (sound + spoiled) // 2
        if _worth(mixed(middle)) < target:
            spoiled = middle
        else:
            sound = middle
    step = spoiled - 1
    tried = {answer: replay([*bad[:step], answer, *good[spoiled:]]) for answer in others(step)}
    failing = tuple(answer for answer, outcome in tried.items() if _worth(outcome) < target)
    return Culprit(step, len(seen) + len(tried), mixed(spoiled), failing)


def _worth(transcript: Transcript) -> float:
    """The rank of an outcome: an error by its score, then asking, then finished."""
    return {"error": transcript.score or 0.0, "in_progress": 1.5, "success": 2.0}[transcript.status]


def bisect(live: LiveRecord, state: SessionState) -> Culprit | None:
    """Find the first answer of the active branch that makes the outcome worse than the best other.

    Without a better branch, the answer at which the script raised. None if there is none. The
    answers of other branches at that step are tried too.
    """
    record = state.record
    every = branch_list(record, state.transcript)
    others = [branch for branch in every if not branch.active and not branch.deleted]
    best = max(others, key=lambda branch: branch.score or 0.0, default=None)
    good = list(record.path_of(best.name)) if best and best.score else []
    end = live.replay(record, record.inputs)
    if best is None or (best.score or 0.0) <= (end.score or 0.0) or end.status == "success":
        good = []

    def given_elsewhere(step: int) -> Sequence[str]:
        parted = partings(record, record.branch).values()
        found = {branch.answer: None for branch in parted if branch.at == step}
        return [answer for answer in found if answer is not None][:_MOST_OTHERS]

    return find_culprit(partial(live.replay, record), list(record.inputs), good, given_elsewhere)
