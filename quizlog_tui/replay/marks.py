"""The mark of a stop: by which it is known again without keeping what it showed.

A mark is one line of text: twelve hexadecimal digits over all that a stop shows (printed text, the
question, or how the run ended), a space, and the question itself. A stop where the run ended has
no question and no space.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from ..digest import hex_digest

_DIGITS = 12


def digest_of(*shown: object) -> str:
    """The digits over what a stop shows."""
    return hex_digest(json.dumps(shown).encode("ascii"))[:_DIGITS]


def mark_of(written: Sequence[str], prompt: str | None) -> str:
    """The mark of a stop that asks.

    Args:
        written: What was printed before the question.
        prompt: The question.
    """
    return f"{digest_of(written, prompt)} {prompt}"
