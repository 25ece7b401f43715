"""Reads the frame with a run's answer. Any bytes give either an answer or a reason.

The format is four bytes of length (big-endian), then exactly that many bytes of UTF-8 JSON, one
object with known keys, and nothing after it.
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from typing import Any

from .inside.answer import DEEPEST
from .result import Status

HEAD = 4
_ADMITTED: dict[str, Status] = {
    "error": "error",
    "oom": "oom",
    "disk_limit": "disk_limit",
    "no_result": "no_result",
    "result_too_big": "result_too_big",
}
"""Ways in which a run reports failure."""


@dataclass(frozen=True)
class Claim:
    """A run's own report."""

    status: Status
    answer: Any = None
    error: str | None = None


class _Refused(ValueError):
    """The frame has the wrong format."""


def parse(data: bytes) -> Claim:
    """The claim in a frame; `no_result` if there is none, `bad_result` if it is malformed."""
    if not data:
        return Claim("no_result", error="the run ended before it left an answer")
    try:
        return _claim(_object(data))
    except (ValueError, RecursionError) as wrong:
        reason = str(wrong) if isinstance(wrong, _Refused) else "it is not the JSON it must be"
        return Claim("bad_result", error=f"the answer's channel was misused: {reason}")


def _object(data: bytes) -> Any:
    if len(data) < HEAD or struct.unpack(">I", data[:HEAD])[0] != len(data) - HEAD:
        raise _Refused("its length is not the one it names")
    return json.loads(
        data[HEAD:].decode("utf-8"), object_pairs_hook=_unique, parse_constant=_no_constant
    )


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) != len(pairs):
        raise _Refused("a key appears twice")
    return mapping


def _no_constant(name: str) -> Any:
    raise _Refused(f"{name} is not a number")


def _claim(data: Any) -> Claim:
    if not isinstance(data, dict):
        raise _Refused("it is not an object")
    if set(data) == {"answer"}:
        _check(data["answer"])
        return Claim("ok", answer=data["answer"])
    kind, error = data.get("kind"), data.get("error")
    if set(data) != {"kind", "error"} or not isinstance(kind, str) or not isinstance(error, str):
        raise _Refused("it has other keys than it may have")
    if kind not in _ADMITTED:
        raise _Refused("it names no reason that a run may name")
    return Claim(_ADMITTED[kind], error=error.encode("utf-8", "replace").decode())


def _check(answer: Any) -> None:
    """Refuse JSON that causes trouble later: great depth, infinities by overflow, surrogates."""
    level = [answer]
    for _ in range(DEEPEST + 1):
        level = [item for value in level for item in _items(value)]
        if not level:
            break
    else:
        raise _Refused("it is nested too deeply")
    json.dumps(answer, allow_nan=False, ensure_ascii=False).encode("utf-8")


def _items(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []
