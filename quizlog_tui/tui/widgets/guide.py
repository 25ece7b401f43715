"""The line of the guided first run: what to try next."""

from __future__ import annotations

from collections.abc import Callable

from textual.widgets import Static

from ..keymap import shown
from ..lessons import LESSONS, Scene, told

_LOOK_SECONDS = 0.2


class Guide(Static):
    """Shows a lesson until it is done, then the next.

    Args:
        scene: Tells how the screens stand.
    """

    DEFAULT_CSS = """
    Guide { height: auto; padding: 0 1; background: $primary 25%; color: $foreground; }
    """

    def __init__(self, scene: Callable[[], Scene]) -> None:
        super().__init__(markup=False)
        self._scene = scene
        self.lesson = 0

    def on_mount(self) -> None:
        """Begin, and look again and again."""
        self._draw()
        self.set_interval(_LOOK_SECONDS, self.look)

    def look(self) -> None:
        """On to the next lesson, if this one is done."""
        if LESSONS[self.lesson].done(self._scene()):
            self.lesson += 1
            self._draw()

    def _draw(self) -> None:
        said = told(LESSONS[self.lesson], lambda name: shown(name, self.app._keymap))
        self.update(f"☞ {self.lesson + 1}/{len(LESSONS)}  {said}")
