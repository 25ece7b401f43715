"""Plays the steps of a run automatically."""

from __future__ import annotations

from textual.timer import Timer

from ...toasts import tell
from .context import PlayerContext

_SPEEDS = (0.5, 1.0, 2.0, 4.0, 8.0)
"""Steps a second."""


class Autoplay:
    """Shows one step after the other up to the last.

    Args:
        context: What the parts of the player share.
    """

    def __init__(self, context: PlayerContext) -> None:
        self._view = context.view
        self._holder = context.holder
        self._timer: Timer | None = None
        self._speed = 1

    @property
    def playing(self) -> str:
        """The status text while playing; empty otherwise."""
        return f" · ▶ {_SPEEDS[self._speed]:g} steps/s" if self._timer else ""

    def play(self) -> None:
        """Play, from the start if the last step is shown; or stop."""
        if self._timer is None:
            self._timer = self._view.set_interval(1 / _SPEEDS[self._speed], self._play_on)
            state = self._holder.state
            self._holder.become(state.to(0) if state.step == state.head.length else state)
        else:
            self.stop()
            self._view.draw()

    def _play_on(self) -> None:
        state = self._holder.state
        head = state.head.to(state.step + 1)
        if head.step == head.length:
            self.stop()
        self._holder.become(state.look(head))

    def stop(self) -> None:
        """Stay at the step shown."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None

    def speed(self, by: int) -> None:
        """Play faster or slower."""
        self._speed = max(0, min(self._speed + by, len(_SPEEDS) - 1))
        if self._timer is None:
            tell(self._view, f"{_SPEEDS[self._speed]:g} steps a second")
        else:
            self.stop()
            self.play()
