"""The fingerprint of a stop, which identifies it without storing what it showed.

A fingerprint is one line of text: twelve hexadecimal digits over all that a stop shows (printed
text, the question, or how the run ended), a space, and the question itself. At the end of a run
there is neither question nor space.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from ..files.regular_file import hex_digest

_DIGITS = 12
_quoted = json.encoder.encode_basestring_ascii


def digest_of(*shown: object) -> str:
    """The digits for what a stop shows."""
    return _digits(json.dumps(shown))


def fingerprint_of(written: Sequence[str], prompt: str) -> str:
    """The fingerprint of a stop that asks.

    Args:
        written: What was printed before the question.
        prompt: The question.
    """
    text = f"[[{', '.join(map(_quoted, written))}], {_quoted(prompt)}]"  # faster than `json.dumps`
    return f"{_digits(text)} {prompt}"


def _digits(text: str) -> str:
    return hex_digest(text.encode("ascii"))[:_DIGITS]
