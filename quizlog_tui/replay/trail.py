"""The marks that a record keeps of the stops it has seen, so that an edited script can be judged.

A mark is one line of text: twelve hexadecimal digits over all that a stop shows (printed text, the
question, or how the run ended), a space, and the question itself. A stop where the run ended has
no question and no space. Pure; what is done about a difference is decided elsewhere.
"""

from __future__ import annotations

import json

from ..digest import hex_digest
from ..series import Series
from .transcript import Step, Transcript

_DIGITS = 12
_MOST_STRINGS = 1_000
"""Printed strings of one stop beyond which nobody tries which of them are its own."""


def mark(run: Transcript, stop: int) -> str:
    """The mark of a stop of a run; the last one is the pending question, or the end."""
    if stop < len(run.steps):
        return _asked(run.steps[stop])
    if run.last.prompt is not None:
        return _asked(run.last)
    message = run.last_error.message if run.last_error else None
    return _digest(run.last.written, None, run.status, message, run.score)


def _asked(step: Step) -> str:
    return f"{_digest(step.written, step.prompt)} {step.prompt}"


def _digest(*shown: object) -> str:
    return hex_digest(json.dumps(shown).encode("ascii"))[:_DIGITS]


def question(marked: str) -> str | None:
    """The question in a mark; None if the run ended there."""
    _, space, text = marked.partition(" ")
    return text if space else None


def printed_before(marked: str, texts: Series[str], start: int) -> list[str] | None:
    """Which of a record's printed strings belong to a marked question; None if that is not clear.

    Args:
        marked: The mark.
        texts: The record's `print`.
        start: Index of the first that no earlier stop has.
    """
    prompt, own = question(marked), texts[start:]
    for count in range(min(len(own), _MOST_STRINGS) + 1):
        if marked.startswith(_digest([f"{text}\n" for text in own[:count]], prompt)):
            return list(own[:count])
    return None


def grown(trail: Series[str], run: Transcript) -> Series[str]:
    """A trail with the marks of the stops of a run that it does not reach yet."""
    return trail.then(*(mark(run, stop) for stop in range(len(trail), len(run.steps) + 1)))
