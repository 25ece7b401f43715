"""What a session stands at, as one value: it is replaced as a whole when a move is durable."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..record.model import Record
from ..replay.transcript import Transcript
from .history import History


@dataclass(frozen=True)
class SessionState:
    """The record as it is written, the run up to its pointer, and what can be taken back."""

    record: Record
    transcript: Transcript
    history: History = field(default_factory=History)


@dataclass(frozen=True)
class Move:
    """What a move leads to, before it is written."""

    record: Record
    """The record as its rules changed it; what the run says of it is still to be filled in."""
    transcript: Transcript
    """The run up to the new pointer."""
    label: str
    """What is done, as `answer at step 3`."""
    warnings: tuple[str, ...] | None = None
    """What a user should know of it from now on; None if that is what was known before."""
