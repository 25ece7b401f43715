"""Messages that screens send to the program; those of a single widget are nested in it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from textual.message import Message

from .search_hits import ChosenHit


@dataclass
class OpenRecord(Message):
    """Asks to open a record in a new player."""

    path: Path
    found: ChosenHit | None = None
    """A hit to go to in it."""


@dataclass
class Neighbour(Message):
    """Asks to open the next or previous record of the library instead."""

    path: Path
    by: int
