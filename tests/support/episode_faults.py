"""Faults that are put into episodes, and where."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

from quizlog_tui.episodes.format.hashing import to_line
from tests.episodes.support import episode

Place = tuple[str | int, ...]


ONE = episode(("4", "more", "end"), [("4", "end"), ("4", "end"), ("4", "bad")])


LINE = to_line(ONE).encode()


DATA: dict[str, Any] = json.loads(LINE)


def places(value: Any, at: Place = ()) -> Iterator[Place]:
    """Every leaf and every empty container."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in items:
        if isinstance(item, dict | list) and item:
            yield from places(item, (*at, key))
        else:
            yield (*at, key)


def put(data: Any, place: Place, value: Any) -> dict[str, Any]:
    changed: dict[str, Any] = copy.deepcopy(data)
    inner: Any = changed
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    return changed


PLACES = list(places(DATA))
