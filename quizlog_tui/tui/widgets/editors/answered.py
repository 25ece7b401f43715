"""What every input posts when the user gives an answer."""

from __future__ import annotations

from dataclasses import dataclass

from textual.message import Message


@dataclass
class Answered(Message):
    """The user gave an answer."""

    answer: str
