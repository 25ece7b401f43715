"""Messages that screens send to the program, and the hits of a search that they carry.

Messages of a single widget are nested in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from textual.message import Message

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


def chosen_hit(query: Query, found: Sequence[Found], index: int) -> ChosenHit:
    """One of the hits that were found, with those of its record."""
    record = found[index].record
    before = sum(1 for one in found[:index] if one.record == record)
    return ChosenHit(query, record, [one.hit for one in found if one.record == record], before)


@dataclass
class OpenRecord(Message):
    """Asks to open a record in a new player."""

    path: Path
    found: ChosenHit | None = None
    """A hit to go to in it."""
    is_new: bool = False
    """Whether it was made just now, to be opened."""


@dataclass
class Neighbour(Message):
    """Asks to open the next or previous record of the library instead."""

    path: Path
    by: int
