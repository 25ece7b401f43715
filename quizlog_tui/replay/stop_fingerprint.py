"""The mark of a stop: by which it is known again without keeping what it showed.

A mark is one line of text: twelve hexadecimal digits over all that a stop shows (printed text, the
question, or how the run ended), a space, and the question itself. A stop where the run ended has
no question and no space.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from ..files.digest import hex_digest

_DIGITS = 12
_quoted = json.encoder.encode_basestring_ascii


def digest_of(*shown: object) -> str:
    """The digits over what a stop shows."""
    return _digits(json.dumps(shown))


def mark_of(written: Sequence[str], prompt: str) -> str:
    """The mark of a stop that asks.

    Args:
        written: What was printed before the question.
        prompt: The question.
    """
    text = f"[[{', '.join(map(_quoted, written))}], {_quoted(prompt)}]"  # sooner than by `json`
    return f"{_digits(text)} {prompt}"


def _digits(text: str) -> str:
    return hex_digest(text.encode("ascii"))[:_DIGITS]
