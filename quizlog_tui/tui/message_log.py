"""The messages since the start, and where the current ones are shown."""

from __future__ import annotations

from collections import deque
from math import inf
from typing import Any

from textual.app import App
from textual.notifications import Notification

from .screens.base import QuizlogScreen
from .screens.reading import MessagesScreen
from .toasts import outdated
from .widgets.message_line import MessageLine

_LISTED = 1000
"""How many messages the list holds."""


class MessageLog:
    """The messages of the program.

    Args:
        app: The program.
    """

    def __init__(self, app: App[Any]) -> None:
        self._app = app
        self._all = deque[Notification](maxlen=_LISTED)

    def add(self, new: Notification) -> None:
        """Add a message and remove those that it makes obsolete.

        A warning or an error stays until a key is pressed.
        """
        self._all.append(new)
        if new.severity != "information":
            new.timeout = inf
        for old in outdated(list(self._app._notifications), new):
            self._app._unnotify(old, refresh=False)

    def show(self) -> None:
        """Show the current messages in the lowest rows of the top screen, below any dialog."""
        for screen in self._app.screen_stack[::-1]:
            if lines := screen.query(MessageLine):
                lines.first().renew()
                return

    def list_all(self) -> None:
        """List all messages, or close the list."""
        screen = self._app.screen
        if isinstance(screen, MessagesScreen):
            screen.leave()
        elif isinstance(screen, QuizlogScreen):
            self._app.push_screen(MessagesScreen(self._all))
