"""What the parts of the player share."""

from __future__ import annotations

from dataclasses import dataclass

from ....replay.replayer import Replayer
from ....session.session import Session
from ...clock import Clock
from ..base import DrawnView
from .player_state import StateHolder


@dataclass(frozen=True)
class PlayerContext:
    """What the parts of the player share."""

    view: DrawnView
    """The screen."""
    session: Session
    """The open record."""
    replayer: Replayer
    """Where it runs."""
    holder: StateHolder
    """Holds what is shown."""
    clock: Clock
    """Formats times."""
