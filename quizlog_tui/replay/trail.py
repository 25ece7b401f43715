"""The marks that a record keeps of the stops it has seen, so that an edited script can be judged.

What a mark is, `stop_fingerprint` says. What is done about a difference is decided elsewhere.
Pure.
"""

from __future__ import annotations

from ..record.append_only_list import AppendOnlyList
from .stop_fingerprint import digest_of
from .transcript import Transcript

_MOST_STRINGS = 1_000
"""Printed strings of one stop beyond which nobody tries which of them are its own."""


def stop_fingerprint(run: Transcript, stop: int) -> str:
    """The mark of a stop of a run; the last one is the pending question, or the end."""
    if stop < len(run.steps):
        return run.steps[stop].mark
    if run.last.prompt is not None:
        return run.last.mark
    message = run.last_error.message if run.last_error else None
    return digest_of(run.last.written, None, run.status, message, run.score)


def question(marked: str) -> str | None:
    """The question in a mark; None if the run ended there."""
    _, space, text = marked.partition(" ")
    return text if space else None


def printed_before(marked: str, texts: AppendOnlyList[str], start: int) -> list[str] | None:
    """Which of a record's printed strings belong to a marked question; None if that is not clear.

    Args:
        marked: The mark.
        texts: The record's `print`.
        start: Index of the first that no earlier stop has.
    """
    prompt, own = question(marked), texts[start:]
    for count in range(min(len(own), _MOST_STRINGS) + 1):
        if marked.startswith(digest_of([f"{text}\n" for text in own[:count]], prompt)):
            return list(own[:count])
    return None


def grown(trail: AppendOnlyList[str], run: Transcript) -> AppendOnlyList[str]:
    """A trail with the marks of the stops of a run that it does not reach yet."""
    return trail.then(
        *(stop_fingerprint(run, stop) for stop in range(len(trail), len(run.steps) + 1))
    )
