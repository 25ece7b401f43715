"""Screens with one text to read: one laid out for the width, and the messages since the start."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime

from textual.notifications import Notification

from ...text import plural
from ..widgets.documents import Document, Line, Paragraphs, line
from ..widgets.footer import describe_message
from ..widgets.line_view import LineView
from .base import QuizlogScreen


class MessagesScreen(QuizlogScreen[None]):
    """Shows messages, which come oldest first, the newest first."""

    SCOPE = "messages"

    def __init__(self, messages: Iterable[Notification]) -> None:
        super().__init__()
        self._messages = list(messages)[::-1]

    def on_mount(self) -> None:
        """Show the messages."""
        about = f"{plural(len(self._messages), 'message')} since the start, the newest first"
        lines = [each for note in self._messages for each in _lines(note)]
        lines = lines or [line(("no messages yet", "dim"))]
        self.show_text("Messages", about, Paragraphs(lines))


def _lines(note: Notification) -> list[Line]:
    """The time and the text, whose further lines stand below its first."""
    style = {"warning": "warn", "error": "error"}.get(note.severity, "")
    first, *more = describe_message(note).plain.splitlines() or [""]
    time = datetime.fromtimestamp(note.raised_at).strftime("%H:%M:%S")
    below = [line((f"{'':10}{each}", style)) for each in more]
    return [line((f"{time}  ", "dim"), (first, style)), *below]


class ReadingScreen(QuizlogScreen[None]):
    """Shows a document that `make` lays out for a width, and what it is `about` at the top."""

    SCOPE = "reading"

    def __init__(self, title: str, about: str, make: Callable[[int], Document]) -> None:
        super().__init__()
        self._heading = title
        self._about = about
        self._make = make
        self._width = 0

    def on_mount(self) -> None:
        """Say what it is."""
        self.show_text(self._heading, self._about, Paragraphs())
        self.call_after_refresh(self._draw)

    def on_resize(self) -> None:
        """Lay it out anew."""
        self.call_after_refresh(self._draw)

    def _draw(self) -> None:
        pane = self.query_one(LineView)
        width = pane.scrollable_content_region.width
        if width and width != self._width:
            self._width = width
            pane.show(self._make(width))
