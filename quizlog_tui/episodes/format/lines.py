"""Writes an episode as one line of a file, with a seal that shows later changes.

Lines are ASCII, with keys in the schema's order and one notation for each value. The seal is a hash
of the line with a blank seal, stored in the gold run's `submission_metadata`, which the schema
leaves free. It detects accidental changes, but not deliberate ones that renew the seal. Standard
library only.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from .hashing import checked

if TYPE_CHECKING:
    from .hashing import JsonObject

_BLANK = "0" * 64
_ENCODER = json.JSONEncoder(ensure_ascii=True, allow_nan=False)


def to_line(episode: Mapping[str, object]) -> str:
    """The episode as one sealed line without a newline.

    Raises:
        EpisodeError: JSON cannot represent a value in it, such as NaN, an infinity or an object.
    """
    checked(episode)
    return _ENCODER.encode(_with_seal(episode, _seal_of(episode)))


def plain_line(data: Mapping[str, object]) -> str:
    """Any JSON object as one line in the same notation, without a seal."""
    return _ENCODER.encode(data)


def _seal_of(episode: Mapping[str, object]) -> str:
    return sha256(_ENCODER.encode(_with_seal(episode, _BLANK)).encode()).hexdigest()


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
