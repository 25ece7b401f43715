"""Checks answers: JSON values of limited depth and size, with finite numbers. Pure."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from ...text import is_whole

MAX_DEPTH = 64
"""Maximum depth of nesting."""
MAX_BITS = 13_000
"""Maximum number of bits in a whole number (about 3,900 digits)."""


def answer_fault(value: Any) -> str | None:
    """Why a value cannot be given as an answer; None if it can.

    It must be a JSON value whose texts can be encoded as UTF-8, to be sent and printed.
    """
    fault = json_fault(value)
    if fault is None and not is_whole(json.dumps(value, ensure_ascii=False)):
        return "holds half a character: a surrogate without its other half"
    return fault


def json_fault(value: Any, depth: int = MAX_DEPTH) -> str | None:
    """Why a value cannot be part of an answer; None if it can."""
    if depth == 0:
        return f"is nested deeper than {MAX_DEPTH} levels"
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):
            return "has a key that is not a text"
        return _first_fault(value.values(), depth)
    if isinstance(value, (list, tuple)):
        return _first_fault(value, depth)
    if isinstance(value, float) and not math.isfinite(value):
        return "must be a finite number"
    if isinstance(value, int) and value.bit_length() > MAX_BITS:
        return "is a number of too many digits"
    if value is None or isinstance(value, (str, int, float)):
        return None
    return f"must be a JSON value, not {type(value).__name__}"


def _first_fault(values: Any, depth: int) -> str | None:
    return next((fault for one in values if (fault := json_fault(one, depth - 1))), None)


def strict_loads(text: str | bytes) -> Any:
    """The data of a JSON text, without the extensions that Python accepts.

    Raises:
        ValueError: The text is not JSON, contains NaN or Infinity, or is nested too deep.
    """
    try:
        return json.loads(text, parse_constant=_no_constant)
    except RecursionError:
        raise ValueError("it is nested too deep") from None


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON value")
