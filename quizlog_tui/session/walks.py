"""Walks over answers: change one and keep the rest, find the one that spoiled the outcome.

Built on replays alone; what makes it quick is the replayer's business.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..replay.transcript import Step, Transcript

Replay = Callable[[Sequence[str]], Transcript]
"""Answers to transcript, for one script and seed."""
Extend = Callable[[Transcript, str], Transcript | None]
"""A transcript with one more answer, where that is quick; else None."""


def amend(
    replay: Replay, extend: Extend, steps: Sequence[Step], at: int, answer: str
) -> Transcript:
    """Answer `at` changed, later answers kept while their questions stay the same.

    Stops at the first question that differs from the one recorded there, or where the run ends.

    Args:
        replay: The script and seed.
        extend: The same, from a transcript on.
        steps: The recorded steps.
        at: Index of the answer to change.
        answer: The new one.
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
    """The first answer that spoils the outcome."""

    step: int
    """Index of the answer."""
    replays: int
    """How many replays it took to find it."""
    outcome: Transcript
    """What the run comes to with that answer, and good ones after it."""


def bisect(replay: Replay, bad: Sequence[str], good: Sequence[str]) -> Culprit | None:
    """The first answer of `bad` that spoils the outcome which `good` has.

    Tries `bad` up to some answer and `good` from there on; by halving, so that a hundred answers
    take eight replays. Without answers in `good` beyond the common ones, an outcome is spoiled
    when the run has raised. None if the answers of `bad` spoil nothing.
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
    return Culprit(spoiled - 1, len(seen), mixed(spoiled))


def _worth(transcript: Transcript) -> float:
    """Outcomes in order: raised by its score, still asking, finished."""
    return {"error": transcript.score or 0.0, "in_progress": 1.5, "success": 2.0}[transcript.status]
