"""Reads JSON that a script's process sent, without taking much more memory than its text.

An empty list takes two characters as text and over sixty bytes as an object.
"""

from __future__ import annotations

import json
import re
from typing import Any

MOST_PARTS = 1 << 22
"""Maximum number of values in a text whose script has written nothing."""
_STRING = re.compile('"[^"]*"?')


def read_json(text: str, more_parts: int = 0) -> Any:
    """The value of a JSON text.

    Args:
        text: The text, with nothing before or after the value.
        more_parts: Number of values that it may have beyond `MOST_PARTS`.

    Raises:
        ValueError: It is not JSON, nested too deeply, or has too many values.
    """
    if _has_more_parts(text, MOST_PARTS + more_parts):
        raise ValueError("it has too many values")
    try:
        value, end = _DECODER.raw_decode(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    if end != len(text):
        raise ValueError("it has more than one value")
    return value


def _refuse_constant(text: str) -> float:
    raise ValueError(text)


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)
"""Shared, as `json.loads` would make one for each text."""


def _has_more_parts(text: str, most: int) -> bool:
    """Whether a text has more values than that; what stands in its strings does not count."""
    if len(text) <= most or _count_marks(text) <= most:
        return False
    # not one expression that knows escapes: it would take more memory than the values
    plain = _STRING.sub("", text.replace("\\\\", "").replace('\\"', ""))
    return _count_marks(plain) > most


def _count_marks(text: str) -> int:
    return sum(map(text.count, "[{,"))
