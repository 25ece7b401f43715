"""Canonical JSON text and the hashes of the episode schema.

A value that JSON cannot represent is refused with its path, never converted: two values have the
same hash only if they are the same value after a JSON round trip. Standard library only.
"""

from __future__ import annotations

import json
import math
import sys
from hashlib import sha256
from typing import TypeVar

from ...errors import EpisodeError

Value = TypeVar("Value")
JsonObject = dict[str, object]
"""A JSON object whose parts are not checked yet."""

HASH_LENGTH = 16
"""Number of hexadecimal digits of every hash."""
_ENCODER = json.JSONEncoder(sort_keys=True)
_PLAIN = json.JSONEncoder(ensure_ascii=False)
_FINITE = json.JSONEncoder(sort_keys=True, allow_nan=False)


def canonical_json(value: object) -> str:
    """The text that is hashed: keys sorted at every depth, ASCII, `json.dumps` otherwise.

    NaN and infinities have a text here, by the schema's rule; `checked` refuses them before a value
    is written.

    Raises:
        EpisodeError: JSON cannot represent the value; the error names the faulty path.
    """
    _walk(value, "$", (), finite=False)
    return _ENCODER.encode(value)


def value_hash(value: object) -> str:
    """The first 16 hexadecimal digits of SHA-256 over `canonical_json`.

    Raises:
        EpisodeError: JSON cannot represent the value.
    """
    return _digest(canonical_json(value))


def parsed_hash(value: object) -> str:
    """`value_hash` of a value parsed from JSON, whose parts need no check.

    Raises:
        ValueError: The value contains NaN or an infinity.
        RecursionError: The value is nested too deep.
    """
    return _digest(repr(value) if type(value) is int else _FINITE.encode(value))


def question_id(text: str, hint: str | None) -> str:
    """The schema's id of a question: a hash of its text and hint."""
    return _digest(f"{text}|{hint or ''}")


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8")).hexdigest()[:HASH_LENGTH]


def checked(value: Value, path: str = "$") -> Value:
    """The value itself, if an episode may contain it.

    Raises:
        EpisodeError: It contains something that JSON cannot represent, such as NaN or an infinity.
    """
    _walk(value, path, (), finite=True)
    return value


def _walk(value: object, path: str, above: tuple[int, ...], *, finite: bool) -> None:
    """Refuse a value any part of which JSON cannot represent."""
    if value is None or isinstance(value, (bool, str)):
        return
    if isinstance(value, (int, float)):
        return _number(value, path, finite=finite)
    if id(value) in above:
        raise _refused("holds itself", path)
    if len(above) > MAX_DEPTH:
        raise _refused(f"is nested deeper than {MAX_DEPTH}", path)
    above = (*above, id(value))
    if isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            _walk(item, f"{path}[{index}]", above, finite=finite)
    elif isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                raise _refused(f"the key {key!r} is not a string", path)
            _walk(item, f"{path}.{key}", above, finite=finite)
    else:
        raise _refused(f"JSON cannot hold a {type(value).__name__}", path)


MAX_DEPTH = 200
"""Maximum depth of nesting; JSON readers have limits of their own."""


def _number(value: int | float, path: str, *, finite: bool) -> None:
    if isinstance(value, float):
        if finite and not math.isfinite(value):
            raise _refused(f"{value} is not a JSON number", path)
    elif value.bit_length() > 3 * (sys.get_int_max_str_digits() or 10**9):
        raise _refused("the integer is too long to be written", path)


def _refused(message: str, path: str) -> EpisodeError:
    hint = "only null, true, false, numbers, text, lists and objects with text keys"
    return EpisodeError(message, where=path, hint=hint)


def is_unicode(value: object) -> bool:
    """Whether a JSON value contains no lone surrogate, so that it can be written in UTF-8."""
    try:
        _PLAIN.encode(value).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
