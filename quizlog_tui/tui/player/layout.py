"""Which panes of the player are shown, and which one has the focus.

Classes of the screen say so, and its style sheet gives each pane its place: the answers and the
source have places of their own where there is room; others stand in for them when they are wanted.
"""

from __future__ import annotations

from ..screens.base import QuizlogScreen

_IN_PLACE_OF_SOURCE = ("recorded", "variables")
_ON_DEMAND = (*_IN_PLACE_OF_SOURCE, "lines")
"""The panes that are shown when they are wanted, one at a time."""
_TAKES_KEYS = {"variables": "values"}
"""What takes the keys of a pane, where that is a part of it."""


class PaneLayout:
    """Shows and focuses the panes of a player's screen."""

    def __init__(self, screen: QuizlogScreen[None]) -> None:
        self._screen = screen

    def shows(self, name: str) -> bool:
        """Whether a pane is shown that is shown on demand."""
        return self._screen.has_class(f"-{name}")

    def turn(self, name: str) -> None:
        """Show a pane beside the output and focus it, or take it away again."""
        shown = not self.shows(name)
        self._put_beside(name if shown else None)
        self._screen.set_class(shown, "-aside")
        self._focus(_TAKES_KEYS.get(name, name) if shown else "output")

    def focus(self, name: str) -> None:
        """Show one of the panes that have a place of their own, and focus it."""
        screen = self._screen
        screen.set_class(name != "output", "-aside")
        if name != "output":
            screen.set_class(name == "source", "-source")
            hides = "-lines" if name == "timeline" else "-beside"
            if screen.has_class("-narrow") or screen.has_class(hides):
                self._put_beside(None)
        self._focus(name)

    def turn_source(self) -> None:
        """Show the source instead of the timeline, or back; both if there is room."""
        screen = self._screen
        screen.toggle_class("-source")
        if screen.has_class("-narrow"):
            screen.set_class(screen.has_class("-source"), "-aside")

    def _put_beside(self, name: str | None) -> None:
        """Show one of the panes that are shown on demand, or none."""
        for each in _ON_DEMAND:
            self._screen.set_class(each == name, f"-{each}")
        self._screen.set_class(name in _IN_PLACE_OF_SOURCE, "-beside")

    def _focus(self, id: str) -> None:
        """Focus a pane; it fills the screen if the one before did."""
        pane = self._screen.query_one(f"#{id}")
        if self._screen.maximized is not None:
            self._screen.maximize(pane)
        pane.focus()
