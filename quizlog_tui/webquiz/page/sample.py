"""Finds the sample payload on a page, which is seldom valid JSON. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

FILLED = ("email", "secret", "url", "answer")
"""The fields every submission has (spec 2.4); never taken from a sample."""
_COMMENT = re.compile(r"(?m)(?<![:\"'\w])//[^\n]*|/\*.*?\*/", re.S)
_BLANK = re.compile(r":\s*(?:\.\.\.|…)")
_TRAILING = re.compile(r",(\s*[}\]])")
_LONGEST = 10_000
"""Maximum number of characters of a sample; a longer object is data."""
_TRIES = 16
"""Maximum number of braces tried as the start of a sample, and of ends tried for each."""
_PLACEHOLDER = re.compile(r"\byour\b|\.\.\.|…|<[^>]+>|^\s*$|\bthis page\b", re.I)


@dataclass(frozen=True)
class Sample:
    """The payload samples on a page."""

    texts: tuple[str, ...] = ()
    """The samples as written, without what is said above or below them."""
    constants: Mapping[str, Any] = field(default_factory=dict)
    """Fields beyond the usual ones whose values are not placeholders."""


def sample_of(texts: Iterable[str]) -> Sample:
    """The payload samples among preformatted texts."""
    found: list[str] = []
    constants: dict[str, Any] = {}
    for text in texts:
        for written, data in _objects(text):
            if {"answer", "secret"} & data.keys():
                found.append(written)
                constants |= {k: v for k, v in data.items() if k not in FILLED and _is_constant(v)}
    return Sample(tuple(found), constants)


def _objects(text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The JSON objects in a text, each as written and as read."""
    end = 0
    for start in _places("{", text)[:_TRIES]:
        ends = [one + 1 for one in _places("}", text) if start < one < start + _LONGEST]
        for after in ends[: -_TRIES - 1 : -1] if start >= end else ():
            data = lenient(text[start:after])
            if data is not None:
                yield text[start:after], data
                end = after
                break


def _places(mark: str, text: str) -> list[int]:
    return [place for place, letter in enumerate(text) if letter == mark]


def lenient(text: str) -> dict[str, Any] | None:
    """A JSON object with comments, ellipses and trailing commas allowed; None if it is not one."""
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
