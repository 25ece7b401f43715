"""How an episode is one line of a file, and the seal that shows whether it was touched since.

ASCII, keys in the schema's order, one form for each value. The seal is a hash of the line with the
seal itself blank; it stands in the gold run's `submission_metadata`, which the schema leaves free.
It shows a change by accident, not one by somebody who seals again. Standard library only.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

from .hashing import checked

_BLANK = "0" * 64
_ENCODER = json.JSONEncoder(ensure_ascii=True, allow_nan=False)


def to_line(episode: dict[str, Any]) -> str:
    """The episode as one line, sealed, without its newline.

    Raises:
        EpisodeError: A value in it has no place in JSON: NaN, an infinity, a foreign type.
    """
    checked(episode)
    return _ENCODER.encode(_with_seal(episode, _seal_of(episode)))


def plain_line(data: dict[str, Any]) -> str:
    """Any JSON object as one line in the same form, as it is."""
    return _ENCODER.encode(data)


def _seal_of(episode: dict[str, Any]) -> str:
    return sha256(_ENCODER.encode(_with_seal(episode, _BLANK)).encode()).hexdigest()


def _with_seal(episode: dict[str, Any], seal: str) -> dict[str, Any]:
    """The episode with this seal, at the end of the gold run's metadata."""
    trace = episode["teacher_gold_trace"]
    told = {key: value for key, value in trace["submission_metadata"].items() if key != "seal"}
    told["seal"] = seal
    return episode | {"teacher_gold_trace": trace | {"submission_metadata": told}}


def sealed_as_is(line: bytes) -> bool:
    """Whether a line, without its newline, is byte for byte what was sealed.

    Such a line was written by `to_line`, or by somebody who took pains to look like it.
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


def seal_fits(episode: dict[str, Any]) -> bool:
    """Whether an episode is what was sealed, in whatever form its line was written since."""
    told = episode["teacher_gold_trace"]["submission_metadata"]
    return bool(_seal_of(episode) == told["seal"])


_MARK = b'"seal": "'
