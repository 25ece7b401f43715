"""The Textual program: opens the library or a player, and nothing else."""

from __future__ import annotations

import asyncio
from pathlib import Path

from textual import work
from textual.app import App

from ..errors import QuizlogError
from ..paths import find_records, own_examples
from ..replay.replayer import Replayer
from ..session import Session
from ..text import one_line
from .screens.library import LibraryScreen
from .screens.player import PlayerScreen
from .theming import shipped_themes


class QuizlogApp(App[None]):
    """The program.

    Args:
        record: The record to open; None to choose from the records here or the examples.
    """

    TITLE = "quizlog"

    def __init__(self, record: Path | None = None) -> None:
        super().__init__()
        self._record = record
        self.replayer = Replayer()
        for theme in shipped_themes():
            self.register_theme(theme)
        self.theme = "quizlog-dark"

    @work
    async def on_mount(self) -> None:
        """Open the first screen."""
        record = self._record
        while record is None:
            folder = Path.cwd()
            records = find_records(folder)
            if not records:
                folder = own_examples()
                records = find_records(folder)
            record = await self.push_screen_wait(LibraryScreen(folder, records))
            if record is None:
                self.exit()
                return
        await self._open(record)

    async def _open(self, record: Path) -> None:
        try:
            session = await asyncio.to_thread(Session, record, self.replayer)
        except QuizlogError as error:
            self.exit(return_code=error.exit_code, message=f"quizlog: {one_line(str(error))}")
            return
        self.push_screen(PlayerScreen(session, self.replayer))

    def on_unmount(self) -> None:
        """End every script."""
        self.replayer.close()


def run(record: Path | None) -> int:
    """Run the program until the user leaves; the exit code."""
    app = QuizlogApp(record)
    app.run()
    return app.return_code or 0
