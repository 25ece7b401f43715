"""The fingerprints that a record keeps of its stops, by which an edited script is judged. Pure.

`stop_fingerprint` describes their form. What follows from a difference is decided elsewhere.
"""

from __future__ import annotations

from ..record.append_only_list import AppendOnlyList
from .stop_fingerprint import digest_of
from .transcript import Transcript

_MOST_STRINGS = 1_000
"""Maximum number of printed strings that are tried as those of one stop."""


def stop_fingerprint(run: Transcript, stop: int) -> str:
    """The fingerprint of a stop of a run; the last one is the pending question, or the end."""
    if stop < len(run.steps):
        return run.steps[stop].fingerprint
    if run.last.prompt is not None:
        return run.last.fingerprint
    message = run.last_error.message if run.last_error else None
    return digest_of(run.last.written, None, run.status, message, run.score)


def question_of(fingerprint: str) -> str | None:
    """The question in a fingerprint; None if the run ended there."""
    _, space, text = fingerprint.partition(" ")
    return text if space else None


def printed_before(fingerprint: str, texts: AppendOnlyList[str], start: int) -> list[str] | None:
    """The printed strings of a record that belong to a question; None if that is unclear.

    Args:
        fingerprint: The fingerprint of the question.
        texts: The record's `print`.
        start: Index of the first string that belongs to no earlier stop.
    """
    prompt, own = question_of(fingerprint), texts[start:]
    for count in range(min(len(own), _MOST_STRINGS) + 1):
        lines = [f"{text}\n" for text in own[:count]]
        if fingerprint.startswith(digest_of(lines, prompt)):
            return list(own[:count])
        if lines and fingerprint.startswith(digest_of([*lines[:-1], own[count - 1]], prompt)):
            return list(own[:count])  # the last one ended without a newline
    return None


def extended_trail(trail: AppendOnlyList[str], run: Transcript) -> AppendOnlyList[str]:
    """A trail, extended by the fingerprints of the further stops of a run."""
    return trail.then(
        *(stop_fingerprint(run, stop) for stop in range(len(trail), len(run.steps) + 1))
    )
