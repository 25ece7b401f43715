"""JSON texts in which one value is another, as a script may send them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

VALUES = [
    "-1", "0", "2147483647", "2147483648", "1" + "0" * 19, "1" + "0" * 400, "9" * 5000,
    "NaN", "Infinity", "-Infinity", "1e999", "-0.5", "1.5", "true", "null", '""', '"x"',
    '"\\u001b[2J\\u202e"', '"\\ud800"', '"quiz.py:' + "9" * 5000 + '"', '"' + "x" * 2_000_000 + '"',
    "[]", "{}", '{"a": 1}', "[[" * 200 + "]]" * 200, "[" * 50_000 + "]" * 50_000,
    "[" + "0, " * 200_000 + "0]", "[" + '["a", 1], ' * 60_000 + '["a", 1]]',
]  # fmt: skip
_HERE = "the value that is another"


def others(value: Any) -> Iterator[str]:
    """The text of a value with each part replaced by each hostile one, and with each left out."""
    yield from VALUES
    for at in _places(value):
        text = json.dumps(_with(value, at, [_HERE]))
        yield from (text.replace(json.dumps(_HERE), one) for one in VALUES)
        yield json.dumps(_with(value, at, []))


def _places(value: Any) -> Iterator[tuple[Any, ...]]:
    """The ways to all parts of a value."""
    items = value.items() if isinstance(value, dict) else ()
    for key, one in enumerate(value) if isinstance(value, list) else items:
        yield (key,)
        yield from ((key, *rest) for rest in _places(one))


def _with(value: Any, at: tuple[Any, ...], new: list[Any]) -> Any:
    """A value with one part replaced, or left out."""
    key, *rest = at
    part = [_with(value[key], tuple(rest), new)] if rest else new
    if isinstance(value, list):
        return [*value[:key], *part, *value[key + 1 :]]
    pairs = [(k, part if k == key else [v]) for k, v in value.items()]
    return {k: v[0] for k, v in pairs if v}
