"""One text for each JSON value, and the hashes made of it (episode schema: ID and hash generation).

Standard library only. A value that JSON cannot hold is refused with its path, never turned into
something else: two values have one hash only if they are the same value after a JSON round trip.
"""

from __future__ import annotations

import json
import math
import sys
from hashlib import sha256
from typing import Any

from ...errors import EpisodeError

HASH_LENGTH = 16
"""Hexadecimal digits of every hash of the schema."""
_ENCODER = json.JSONEncoder(sort_keys=True)
_PLAIN = json.JSONEncoder(ensure_ascii=False)
_FINITE = json.JSONEncoder(sort_keys=True, allow_nan=False)


def canonical_json(value: Any) -> str:
    """The text that is hashed: keys sorted at every depth, ASCII, `json.dumps` otherwise.

    NaN and infinities have a text here, as the schema's rule gives them one; `checked` refuses
    them where a value is to be written.

    Raises:
        EpisodeError: JSON cannot hold the value; with the path of the part that is wrong.
    """
    _walk(value, "$", (), finite=False)
    return _ENCODER.encode(value)


def value_hash(value: Any) -> str:
    """The first 16 hexadecimal digits of SHA-256 over `canonical_json`.

    Raises:
        EpisodeError: JSON cannot hold the value.
    """
    return _digest(canonical_json(value))


def parsed_hash(value: Any) -> str:
    """`value_hash` of a value that comes from a JSON text, and so needs no look at its parts.

    Raises:
        ValueError: It holds NaN or an infinity.
        RecursionError: It is nested too deep.
    """
    return _digest(repr(value) if type(value) is int else _FINITE.encode(value))


def question_id(text: str, hint: str | None) -> str:
    """The schema's id of a question: a hash of its text and hint."""
    return _digest(f"{text}|{hint or ''}")


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8")).hexdigest()[:HASH_LENGTH]


def checked(value: Any, path: str = "$") -> Any:
    """The value itself, if it may stand in an episode.

    Raises:
        EpisodeError: It holds something JSON has no word for, NaN or infinity among it.
    """
    _walk(value, path, (), finite=True)
    return value


def _walk(value: Any, path: str, above: tuple[int, ...], *, finite: bool) -> None:
    """Refuse what JSON cannot hold, anywhere in the value."""
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
                raise _refused(f"the key {key!r} is no string", path)
            _walk(item, f"{path}.{key}", above, finite=finite)
    else:
        raise _refused(f"JSON cannot hold a {type(value).__name__}", path)


MAX_DEPTH = 200
"""Values nested deeper are refused: readers of JSON give up at some depth of their own."""
_ABOVE = (0, 0, 0)
"""What an answer stands in: an episode, the list of its runs, and a run."""


def _number(value: int | float, path: str, *, finite: bool) -> None:
    if isinstance(value, float):
        if finite and not math.isfinite(value):
            raise _refused(f"{value} is no JSON number", path)
    elif value.bit_length() > 3 * (sys.get_int_max_str_digits() or 10**9):
        raise _refused("the integer is too long to be written", path)


def _refused(message: str, path: str) -> EpisodeError:
    hint = "only null, true, false, numbers, text, lists and objects with text keys"
    return EpisodeError(message, where=path, hint=hint)


def strict_json(text: str) -> Any:
    """The value of a JSON text that says exactly one thing.

    Raises:
        ValueError: It is no JSON, names a key twice, holds a lone surrogate or a number that has no
            exact place in JSON or Python: NaN, an infinity, `1e999`, one of thousands of digits.
    """
    try:
        value = json.loads(text, object_pairs_hook=_single, parse_constant=_no_constant)
        _walk(value, "$", _ABOVE, finite=True)
        if "\\u" in text and not is_unicode(value):
            raise ValueError("it holds a lone surrogate, which is no Unicode text")
    except (RecursionError, EpisodeError) as error:
        raise ValueError(str(error)) from None
    return value


def is_unicode(value: Any) -> bool:
    """Whether all text in a JSON value can be written in UTF-8: it holds no lone surrogate."""
    try:
        _PLAIN.encode(value).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _single(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON value")


def canonical_answer(text: str, *, declared_text: bool = False) -> Any:
    """The value an answer stands for: strict JSON if it is that, else the trimmed string.

    No case is folded and nothing rounded. `null` stays a string, as null means that nothing was
    answered. An answer to a question declared as text (`#textarea`) is never read as JSON.
    """
    text = text.strip()
    if declared_text:
        return text
    try:
        value = strict_json(text)
    except ValueError:
        return text
    return text if value is None else value
