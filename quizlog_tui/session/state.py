"""The state of a session as one value, which is replaced when a move is durable."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..record.model import Record
from ..replay.transcript import Transcript
from .history import History


@dataclass(frozen=True)
class SessionState:
    """The record, the run up to its pointer, and the history."""

    record: Record
    transcript: Transcript
    history: History = field(default_factory=History)


@dataclass(frozen=True)
class Move:
    """The result of a move before it is written."""

    record: Record
    """The changed record, without the data of its run."""
    transcript: Transcript
    """The run up to the new pointer."""
    label: str
    """The move in words, such as `answer at step 3`."""
    warnings: tuple[str, ...] | None = None
    """The warnings for the user from now on; None to keep the previous ones."""
