"""The hold on the record that the player shows: programs that answer it wait for the person."""

from __future__ import annotations

from ...errors import QuizlogError
from ...record.hold import Hold
from ..toasts import complain, tell
from .panes import Panes

_LOOK_SECONDS = 0.1
"""Seconds between two looks at who waits."""


class Holding:
    """Holds the record and gives it back; ends with the screen."""

    def __init__(self, panes: Panes) -> None:
        self._panes = panes
        self._hold: Hold | None = None

    def follow(self) -> None:
        """Show from now on who waits."""
        self._panes.screen.set_interval(_LOOK_SECONDS, self._look)

    def turn(self) -> None:
        """Hold the record; if it is held, give it back."""
        screen = self._panes.screen
        if self._hold is not None:
            self.end()
            tell(screen, "given back: programs go on, and are told what was answered for them")
            return
        try:
            self._hold = Hold(self._panes.session.path)
        except QuizlogError as error:
            complain(screen, error)
            return
        self._show("held")
        key = screen.key("player.hold")
        tell(screen, f"held: programs that answer this record wait; {key} gives it back")

    def end(self) -> None:
        """Give the record back, if it is held."""
        if self._hold is not None:
            self._hold.release()
            self._hold = None
            self._show("")

    def _look(self) -> None:
        if self._hold is not None:
            names = ", ".join(self._hold.waiting())
            self._show(f"held, {names} waits" if names else "held")

    def _show(self, held: str) -> None:
        if held != self._panes.held:
            self._panes.held = held
            self._panes.show_status()
