"""How an episode is written: canonical JSON text, hashes, ids, times, and lines with their seal.

A value that JSON cannot represent is refused with its path, never converted: two values have the
same hash only if they are the same value after a JSON round trip. Times are in a notation that no
reader converts. A line is ASCII, its keys are in the schema's order. Its seal is a hash of the line
with a blank seal, stored in the gold run's `submission_metadata`, which the schema leaves free. It
detects accidental changes, but not deliberate ones that renew the seal. Standard library only.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from hashlib import sha1, sha256
from typing import Any, TypeVar
from uuid import UUID

from ...errors import EpisodeError

_Value = TypeVar("_Value")
JsonObject = dict[str, object]
"""A JSON object whose parts are not checked yet."""

_HASH_LENGTH = 16
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
    return sha256(text.encode("utf-8")).hexdigest()[:_HASH_LENGTH]


def checked(value: _Value, path: str = "$") -> _Value:
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


_NAMESPACE = UUID("6b1a1c52-9d0f-5c1e-8f1e-0a4c7d0e5b11").bytes
"""Namespace of the episodes' UUIDs (version 5)."""


def episode_id(question: str, gold: Mapping[str, Any]) -> str:
    """The UUID of an episode, from its question's id and its gold run's trace."""
    metadata = gold["submission_metadata"]
    answers = "".join([f"{len(text)}:{text}," for text in metadata["inputs"]])
    script = f"{metadata['code_hash']}|{metadata['seed']}"
    name = f"{question}|{script}|{answers}|{gold['final_answer_hash']}"
    # Before Python 3.12 `uuid5` accepts only strings, and these may not be encodable as it does it.
    data = _NAMESPACE + name.encode("utf-8", "surrogatepass")
    return str(UUID(bytes=sha1(data, usedforsecurity=False).digest()[:16], version=5))


_FORM = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}")
"""`YYYY-MM-DDTHH:MM:SS.ffffff` in UTC."""
EPOCH = "1970-01-01T00:00:00.000000"
"""Stands for an unknown time."""


def stamp(value: object) -> str | None:
    """An ISO 8601 text or seconds since 1970 in this notation; None for anything else."""
    try:
        if isinstance(value, (int, float)):
            time = datetime.fromtimestamp(value, UTC)
        else:
            time = datetime.fromisoformat(str(value))
        if time.tzinfo:
            time = time.astimezone(UTC).replace(tzinfo=None)
        return f"{time:%Y-%m-%dT%H:%M:%S.%f}".rjust(26, "0")
    except (ValueError, OverflowError, OSError):
        return None


def stamp_of(nanoseconds: int) -> str | None:
    """Nanoseconds since 1970 in this notation, cut to microseconds."""
    seconds, rest = divmod(nanoseconds, 10**9)
    whole = stamp(seconds)
    return whole and f"{whole[:-6]}{rest // 1000:06}"


def is_stamp(text: str) -> bool:
    """Whether a text is a time in this notation."""
    if _FORM.fullmatch(text) is None:
        return False
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


_BLANK = "0" * 64
_LINE_ENCODER = json.JSONEncoder(ensure_ascii=True, allow_nan=False)


def to_line(episode: Mapping[str, object]) -> str:
    """The episode as one sealed line without a newline.

    Raises:
        EpisodeError: JSON cannot represent a value in it, such as NaN, an infinity or an object.
    """
    checked(episode)
    return _LINE_ENCODER.encode(_with_seal(episode, _seal_of(episode)))


def plain_line(data: Mapping[str, object]) -> str:
    """Any JSON object as one line in the same notation, without a seal."""
    return _LINE_ENCODER.encode(data)


def _seal_of(episode: Mapping[str, object]) -> str:
    return sha256(_LINE_ENCODER.encode(_with_seal(episode, _BLANK)).encode()).hexdigest()


def _with_seal(episode: Mapping[str, Any], seal: str) -> JsonObject:
    """The episode with a seal at the end of the gold run's metadata."""
    trace = episode["teacher_gold_trace"]
    metadata = {key: value for key, value in trace["submission_metadata"].items() if key != "seal"}
    metadata["seal"] = seal
    return {**episode, "teacher_gold_trace": trace | {"submission_metadata": metadata}}


def sealed_as_is(line: bytes) -> bool:
    """Whether a line, without its newline, is unchanged byte for byte since it was sealed.

    `to_line` writes such lines; others could only be forged.
    """
    at = line.find(_MARK)
    if at < 0:
        return False
    start, view = at + len(_MARK), memoryview(line)
    end = start + len(_BLANK)
    digest = sha256(view[:start])
    digest.update(_BLANK.encode())
    digest.update(view[end:])
    return digest.hexdigest().encode() == line[start:end]


def seal_fits(episode: Mapping[str, Any]) -> bool:
    """Whether an episode is unchanged since it was sealed, even if its line was rewritten."""
    metadata = episode["teacher_gold_trace"]["submission_metadata"]
    return bool(_seal_of(episode) == metadata["seal"])


_MARK = b'"seal": "'
