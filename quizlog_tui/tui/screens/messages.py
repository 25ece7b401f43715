"""The screen that lists all messages since the start."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.notifications import Notification

from ...text import plural
from ..keys.bindings import screen_bindings
from ..widgets.documents import Line, Paragraphs, line
from ..widgets.footer import describe_message
from ..widgets.line_view import LineView
from .base import QuizlogScreen


class MessagesScreen(QuizlogScreen[None]):
    """Shows messages, the newest first.

    Args:
        messages: The messages, the oldest first.
    """

    SCOPE = "messages"
    BINDINGS: ClassVar[list[BindingType]] = screen_bindings("messages")
    DEFAULT_CSS = "MessagesScreen LineView { height: 1fr; }"

    def __init__(self, messages: Iterable[Notification]) -> None:
        super().__init__()
        self._messages = list(messages)[::-1]

    def content(self) -> ComposeResult:
        """One pane."""
        yield LineView(id="messages")

    def on_mount(self) -> None:
        """Show the messages."""
        self.status(f"{plural(len(self._messages), 'message')} since the start, the newest first")
        pane = self.query_one(LineView)
        pane.border_title = "Messages"
        lines = [each for note in self._messages for each in _lines(note)]
        pane.show(Paragraphs(lines or [line(("no messages yet", "dim"))]))
        pane.focus()


def _lines(note: Notification) -> list[Line]:
    """The time and the text, whose further lines stand below its first."""
    style = {"warning": "warn", "error": "error"}.get(note.severity, "")
    first, *more = describe_message(note).plain.splitlines() or [""]
    time = datetime.fromtimestamp(note.raised_at).strftime("%H:%M:%S")
    below = [line((f"{'':10}{each}", style)) for each in more]
    return [line((f"{time}  ", "dim"), (first, style)), *below]
