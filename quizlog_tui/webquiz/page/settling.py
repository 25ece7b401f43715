"""Decides when a page has settled, which neither `load` nor a quiet network shows. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

CAP = 6.0
"""Maximum seconds to wait for a page after the arrival of its HTML."""
_ASKS, _SAYS, _BUSY, _MUTE = 0.4, 0.6, 1.5, 4.0


@dataclass(frozen=True)
class FrameState:
    """The state of a frame at one point in time."""

    length: int
    """Number of visible characters."""
    quiet: float
    """Milliseconds since it last changed."""
    ready: bool
    """Whether its HTML is complete."""
    pictures: int
    """Pictures, canvases and players."""
    timers: int
    """Short timers that have yet to run."""
    asks: bool
    """Whether it speaks of submitting, answering, posting."""
    loading: bool
    """Whether it shows only that it is loading."""
    leaving: bool = False
    """Whether it will send its reader on by itself."""
    inert: bool = False
    """Whether it is completely loaded and has nothing that could change it."""


def settled(frames: Sequence[FrameState], pending: int, age: float) -> str | None:
    """Why the wait is over; None if it is not.

    Args:
        frames: The frames as they are now.
        pending: Requests under way.
        age: Seconds since its HTML arrived; to load that may take long on a busy machine.
    """
    if age >= CAP:
        return "the cap was reached"
    if frames and not pending and all(frame.inert for frame in frames):
        return "nothing in it can change it"
    if not frames or not all(frame.ready and not frame.leaving for frame in frames):
        return None
    quiet = min(frame.quiet for frame in frames) / 1000
    says = any((frame.length or frame.pictures) and not frame.loading for frame in frames)
    busy = pending or any(frame.timers for frame in frames)
    asks = says and any(frame.asks for frame in frames)
    if asks and quiet >= (_BUSY if busy else _ASKS):
        return "asks, and is quiet"
    if says and quiet >= (_MUTE if busy else _SAYS):
        return "says something, and is quiet"
    return None
