"""The sample payload that pages show: which fields there are, seldom as valid JSON. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

FILLED = ("email", "secret", "url", "answer")
"""The fields every submission has (spec 2.4); never taken from a sample."""
_COMMENT = re.compile(r"(?m)(?<![:\"'\w])//[^\n]*|/\*.*?\*/", re.S)
_BLANK = re.compile(r":\s*(?:\.\.\.|…)")
_TRAILING = re.compile(r",(\s*[}\]])")
_PLACEHOLDER = re.compile(r"\byour\b|\.\.\.|…|<[^>]+>|^\s*$|\bthis page\b", re.I)


@dataclass(frozen=True)
class Sample:
    """What samples on a page show."""

    texts: tuple[str, ...] = ()
    """The samples as written."""
    constants: Mapping[str, Any] = field(default_factory=dict)
    """Fields beyond the usual, with values that are no placeholders."""


def sample_of(texts: Iterable[str]) -> Sample:
    """The payload samples among preformatted texts."""
    found: list[str] = []
    constants: dict[str, Any] = {}
    for text in texts:
        data = lenient(text)
        if data is not None and {"answer", "secret"} & data.keys():
            found.append(text)
            constants |= {k: v for k, v in data.items() if k not in FILLED and _is_constant(v)}
    return Sample(tuple(found), constants)


def lenient(text: str) -> dict[str, Any] | None:
    """A JSON object with comments, ellipses and trailing commas allowed; None if it is none."""
    text = _TRAILING.sub(r"\1", _BLANK.sub(": null", _COMMENT.sub("", text)))
    try:
        data = json.loads(text)
    except ValueError:
        return None
    return data if isinstance(data, dict) else None


def _is_constant(value: Any) -> bool:
    if isinstance(value, str):
        return not _PLACEHOLDER.search(value)
    return isinstance(value, (bool, int, float))
