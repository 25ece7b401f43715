"""Messages that screens send to the program; those of a single widget are nested in it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from textual.message import Message

from .found import ChosenHit


@dataclass
class OpenRecord(Message):
    """A record is to be opened in a player of its own."""

    path: Path
    found: ChosenHit | None = None
    """A hit to go to in it."""


@dataclass
class Neighbour(Message):
    """The record beside this one in the library is to be opened instead."""

    path: Path
    by: int
