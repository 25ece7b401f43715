"""Amend: change one answer and keep the rest. Bisect: find the answer that spoils the outcome.

Both are built on replays alone; the replayer makes them fast.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..replay.transcript import Step, Transcript

Replay = Callable[[Sequence[str]], Transcript]
"""Replays answers with one script and seed."""
Extend = Callable[[Transcript, str], Transcript | None]
"""Extends a transcript by one answer if that is fast; else returns None."""


def amend(
    replay: Replay, extend: Extend, steps: Sequence[Step], at: int, answer: str
) -> Transcript:
    """Change answer `at`, and keep later answers while their questions stay the same.

    Stops at the first differing question, or at the end of the run.

    Args:
        replay: Replays the script.
        extend: Extends a transcript of the script.
        steps: The recorded steps.
        at: Index of the answer to change.
        answer: The new answer.
    """
    inputs = [step.input or "" for step in steps[:at]] + [answer]
    transcript = replay(inputs)
    for step in steps[at + 1 :]:
        if transcript.status != "in_progress" or transcript.next_prompt != step.question:
            break
        inputs.append(step.input or "")
        transcript = extend(transcript, inputs[-1]) or replay(inputs)
    return transcript


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


def bisect(
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
