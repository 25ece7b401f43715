"""The messages to the user, in the lowest rows of a screen in place of the keys.

They push the panes up where they need more than one row, and so cover nothing.
"""

from __future__ import annotations

from typing import ClassVar

from textual.content import Content
from textual.notifications import Notification
from textual.timer import Timer
from textual.widgets import Static

from .key_line import KeyLine

_SIGNS = {"information": "", "warning": "! ", "error": "✗ "}
_STYLES = {"information": "", "warning": "$text-warning", "error": "$text-error"}


class MessageLine(Static):
    """The messages that are current, the newest first."""

    ALLOW_SELECT: ClassVar[bool] = False
    DEFAULT_CSS = """
    MessageLine {
        dock: bottom; display: none; height: auto; max-height: 6; padding: 0 1; background: $panel;
    }
    """

    def __init__(self) -> None:
        super().__init__(markup=False)
        self._expiry: Timer | None = None

    def on_mount(self) -> None:
        """Show what was said before the screen was there."""
        self.renew()

    def renew(self) -> None:
        """Show the program's current messages, and the keys again if there are none."""
        hidden = self.app._disable_notifications
        notes = [] if hidden else list(self.app._notifications)[::-1]
        self.display = bool(notes)
        self.screen.query_one(KeyLine).display = not notes
        self.update(Content("\n").join(map(describe_message, notes)))
        self._renew_when_one_expires(notes)

    def _renew_when_one_expires(self, notes: list[Notification]) -> None:
        if self._expiry is not None:
            self._expiry.stop()
        passing = [note.time_left for note in notes if note.severity == "information"]
        self._expiry = self.set_timer(max(0.01, min(passing)), self.renew) if passing else None


def describe_message(note: Notification) -> Content:
    """A message; a sign before it says how serious it is."""
    return Content.assemble((_SIGNS[note.severity] + note.message, _STYLES[note.severity]))
