"""What is searched for, and the hits that are found. Plain data; no widgets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ..session.find import Hit


class Query(NamedTuple):
    """What is searched for."""

    words: str = ""
    regex: bool = False
    """Whether the words are a regular expression."""


class Found(NamedTuple):
    """A hit and its record."""

    record: Path
    hit: Hit


@dataclass(frozen=True)
class ChosenHit:
    """The hit to go to, and those of the same record around it."""

    query: Query
    record: Path
    hits: Sequence[Hit]
    """All that was found in the record, by step."""
    index: int
    """Which of them to go to."""


def chosen_hit(query: Query, found: Sequence[Found], index: int) -> ChosenHit:
    """One of the hits that were found, with those of its record."""
    record = found[index].record
    before = sum(1 for one in found[:index] if one.record == record)
    return ChosenHit(query, record, [one.hit for one in found if one.record == record], before)
