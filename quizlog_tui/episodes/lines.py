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


def seal_holds(line: bytes, episode: dict[str, Any], seal: str) -> bool:
    """Whether a line is what was sealed, perhaps written in another form since.

    Args:
        line: The line without its newline.
        episode: What it holds.
        seal: The seal it carries.
    """
    before, found, after = line.partition(f'"seal": "{seal}"'.encode())
    if found:
        digest = sha256(before)
        digest.update(f'"seal": "{_BLANK}"'.encode())
        digest.update(after)
        if digest.hexdigest() == seal:
            return True
    return _seal_of(episode) == seal
