"""The screen that shows one text to read, drawn anew when its width changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType

from ..keys.bindings import screen_bindings
from ..widgets.documents import Document
from ..widgets.line_view import LineView
from .base import QuizlogScreen


class ReadingScreen(QuizlogScreen[None]):
    """Shows a document.

    Args:
        title: What it is.
        about: What the line at the top says.
        make: Makes the document for a width.
    """

    SCOPE = "reading"
    BINDINGS: ClassVar[list[BindingType]] = screen_bindings("reading")
    DEFAULT_CSS = "ReadingScreen LineView { height: 1fr; }"

    def __init__(self, title: str, about: str, make: Callable[[int], Document]) -> None:
        super().__init__()
        self._heading = title
        self._about = about
        self._make = make
        self._width = 0

    def content(self) -> ComposeResult:
        """One pane."""
        yield LineView(id="reading")

    def on_mount(self) -> None:
        """Say what it is."""
        self.status(self._about)
        pane = self.query_one(LineView)
        pane.border_title = self._heading
        pane.focus()
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
