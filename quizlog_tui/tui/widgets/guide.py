"""The line of the guided tour: what to try next."""

from __future__ import annotations

from textual.widgets import Static

from ..keys.keymap import shown
from ..lessons import Tour

_LOOK_SECONDS = 0.2


class Guide(Static):
    """Shows a lesson until it is done, then the next.

    Args:
        tour: Knows the lesson; all screens share it.
    """

    DEFAULT_CSS = """
    Guide { height: auto; padding: 0 1; background: $primary 25%; color: $foreground; }
    """

    def __init__(self, tour: Tour) -> None:
        super().__init__(markup=False)
        self._tour = tour
        self._told = ""

    @property
    def lesson(self) -> int:
        """Index of the lesson that is shown."""
        return self._tour.lesson

    def on_mount(self) -> None:
        """Start checking the lesson regularly."""
        self.look()
        self.set_interval(_LOOK_SECONDS, self.look)

    def look(self) -> None:
        """Draw the current lesson if it has changed."""
        self._tour.look()
        said = self._tour.text(lambda name: shown(name, self.app._keymap))
        if said != self._told:
            self._told = said
            self.update(said)
