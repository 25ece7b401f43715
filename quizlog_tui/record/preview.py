"""What a record shows beside a list: its last lines, its error, its notes. Nothing is run.

Of a big record's long lists only the ends are parsed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import RecordError
from ..files.regular_file import read_regular
from .feedback import Feedback, read_from
from .summary import Summary
from .text.own_yaml import parse_own
from .text.yaml_text import MAX_BYTES, parse

_ENDS = 50
"""Items of a long list that are parsed, its last ones."""
_MOST_BYTES = 512 * 1024
"""A record of which more than this is left without its long lists is not parsed."""
_SHORT = 64 * 1024
"""Records below this size in bytes are parsed whole."""


@dataclass(frozen=True)
class Preview:
    """The present state of a record, as far as its file tells it."""

    question: str | None = None
    """The pending question; None if there is none, or it is not recorded."""
    error: str | None = None
    """The text of the last error."""
    line: int | None = None
    """The line of the script that raised it."""
    printed: tuple[str, ...] = ()
    """What was printed last."""
    notes: tuple[Feedback, ...] = ()
    """The remarks, in their order."""
    scores: tuple[float, ...] = ()
    """The scores of the branches, oldest first."""


def preview(one: Summary) -> Preview:
    """The preview of a record; empty if it cannot be read or is too big. Never raises."""
    try:
        data = read_regular(one.path, MAX_BYTES)
        text = _without_long_lists(data).decode("utf-8-sig") if len(data) > _SHORT else None
        if text is not None and len(text) > _MOST_BYTES:
            return Preview()
        text = data.decode("utf-8-sig") if text is None else text
        found = parse_own(text)
        return _preview(one, parse(text, str(one.path))[0] if found is None else found)
    except (OSError, RecordError, ValueError, RecursionError):
        return Preview()


_LONG = re.compile(rb"^(inputs|print|trail|who):\n((?:- .*\n)+)", re.M)


def _without_long_lists(data: bytes) -> bytes:
    """The bytes of a record with only the last items of its long lists."""
    return _LONG.sub(lambda found: found[1] + b":\n" + _last_lines(found[2]), data)


def _last_lines(lines: bytes) -> bytes:
    end = len(lines)
    for _ in range(_ENDS + 1):
        end = lines.rfind(b"\n", 0, max(end, 0))
        if end < 0:
            return lines
    return lines[end + 1 :]


def _preview(one: Summary, data: object) -> Preview:
    if not isinstance(data, Mapping):
        return Preview()
    error = data.get("last_error")
    error = error if isinstance(error, Mapping) else {}
    message, line = error.get("message"), error.get("line")
    return Preview(
        _question(one, data),
        message if isinstance(message, str) else None,
        line if isinstance(line, int) else None,
        tuple(each for each in _items(data, "print")[-_ENDS:] if isinstance(each, str)),
        tuple(read_from(data)),
        tuple(_scores(one, data)),
    )


def _items(data: Mapping[Any, Any], key: str) -> list[Any]:
    found = data.get(key)
    return found if isinstance(found, list) else []


def _question(one: Summary, data: Mapping[Any, Any]) -> str | None:
    """The question at the pointer, from the fingerprint of that stop, counted from the end."""
    trail, from_end = _items(data, "trail"), one.recorded - one.used + 1
    if one.status != "in_progress" or len(trail) < from_end:
        return None
    _, space, question = str(trail[-from_end]).partition(" ")
    return question if space else None


def _scores(one: Summary, data: Mapping[Any, Any]) -> Iterator[float]:
    branches = data.get("branches")
    for branch in branches.values() if isinstance(branches, Mapping) else ():
        score = branch.get("score") if isinstance(branch, Mapping) else None
        if isinstance(score, int | float) and 0 <= score <= 1:
            yield float(score)
    if one.score is not None:
        yield one.score
