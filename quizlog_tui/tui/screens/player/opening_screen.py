"""Shows the recorded output of a long record while it is being replayed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType

from ....record.store import RecordFile
from ....replay.replayer import Replayer
from ....session.session import Session
from ...keys.bindings import screen_bindings
from ...widgets.documents import Paragraphs, line
from ...widgets.line_view import LineView
from ..base import QuizlogScreen

LONG = 1024 * 1024
"""Records with more bytes are first shown as recorded."""
_SHOWN = 50
"""Number of last printed texts shown."""


class OpeningScreen(QuizlogScreen[None]):
    """Shows the end of the recorded output while the record is replayed.

    Args:
        path: The record.
        open: Opens it, in a thread.
        replayer: Where it is replayed, to stop that.
    """

    SCOPE = "opening"
    BINDINGS: ClassVar[list[BindingType]] = screen_bindings("opening")

    def __init__(self, path: Path, open: Callable[[Path], Session], replayer: Replayer) -> None:
        super().__init__()
        self._path = path
        self._open = open
        self._replayer = replayer

    def content(self) -> ComposeResult:
        """The output."""
        yield LineView(id="output")

    async def session(self) -> Session:
        """Show what is recorded, then replay it.

        Raises:
            QuizlogError: It cannot be read or replayed, or the user stopped it.
        """
        pane = self.query_one(LineView)
        pane.border_title = "Output as recorded"
        recorded = await asyncio.to_thread(RecordFile(self._path).read)
        texts = recorded.print[-_SHOWN:]
        pane.show(Paragraphs([line(text) for text in texts]), end=True)
        pane.focus()
        self.status("… replaying all answers; Escape stops it")
        return await asyncio.to_thread(self._open, self._path)

    def action_back(self) -> None:
        """Stop the replay."""
        self._replayer.cancel()

    def leave(self) -> None:
        """The same."""
        self._replayer.cancel()


def is_long(path: Path) -> bool:
    """Whether a record takes so long to replay that its recorded output is shown first."""
    try:
        return path.stat().st_size > LONG
    except OSError:
        return False
