"""How a library finds its records, and watches them: in threads, a little at a time.

Draws nothing; the library does.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from textual import work
from textual.worker import Worker

from ....errors import UsageError
from ....record.summary import Summary, find_records
from ...shelf import Shelf, changes, read_some
from ..base import QuizlogScreen

_WATCH_SECONDS = 0.5
"""How often the known records are looked at for changes."""
_REST = 20
"""Looking for changes rests so many times as long as it took: it takes a 20th of a processor."""


class LibraryFinds(QuizlogScreen[None]):
    """The half of the library that learns of records.

    Args:
        folder: Where to look.
        examples: Gives the folder to look in instead if there are no records; called in a thread.
        shelf: Keeps what is found.
    """

    def __init__(self, folder: Path, examples: Callable[[], Path], shelf: Shelf) -> None:
        super().__init__()
        self._folder = folder
        self._examples: Callable[[], Path] | None = examples
        self._shelf = shelf
        self._scan: Worker[None] | None = None
        self._asked = True
        self._has_looked = False
        self._gave_up = False
        self._look_from = 0.0
        self._search_from = 0.0

    def draw(self) -> None:
        """Put the shelf on the screen."""
        raise NotImplementedError

    def found_some(self, found: Sequence[Summary]) -> None:
        """The shelf got these records; before it is drawn."""

    def found_all(self) -> None:
        """A search is over; before the shelf is drawn."""

    def begin(self) -> None:
        """Look for records from the beginning, and from then on for changes."""
        self.action_reload()
        self.set_interval(_WATCH_SECONDS, self._look_around)

    def on_screen_resume(self) -> None:
        """Back from a record: what was done there shows at once."""
        self._look_from = 0.0
        self._look_around()

    @property
    def ready(self) -> bool:
        """Whether keys may act: the first records that are found are there."""
        return self._has_looked and super().ready

    @property
    def scanning(self) -> bool:
        """Whether records are being looked for."""
        return self._scan is not None and not self._scan.is_finished

    @property
    def awaited(self) -> bool:
        """The same, as far as the user waits for it; the watch looks for new ones silently."""
        return self.scanning and self._asked

    @property
    def stopped(self) -> bool:
        """Whether the user stopped the search."""
        return self._gave_up

    def action_reload(self) -> None:
        """Look for records from the beginning."""
        self._gave_up, self._asked, self._look_from = False, True, 0.0
        self._scan = self._search()

    def stop_search(self) -> None:
        """Be content with what was found."""
        if self._scan is not None:
            self._gave_up = True
            self._scan.cancel()

    @work(exclusive=True, group="scan")
    async def _search(self) -> None:
        """Read all records that are not known yet; the examples where there are none at all."""
        await self._read_all()
        if not len(self._shelf) and self._examples is not None:
            examples, self._examples = self._examples, None
            try:
                before, self._folder = self._folder, await asyncio.to_thread(examples)
                self.tell(f"no records below {before}: here are examples to play with")
            except UsageError as error:  # a read-only home
                self.tell(str(error))
            await self._read_all()

    async def _read_all(self) -> None:
        """Read, drawing what was found time and again."""
        start = time.monotonic()
        paths, known, more = find_records(self._folder), set(self._shelf.stamps), True
        while more:
            found = await asyncio.to_thread(read_some, paths, known)
            more = found.more
            if self._shelf.take(found):
                self.found_some(found.summaries)
                self.draw()
            self._has_looked = True
        now = time.monotonic()
        self._search_from = now + _REST * (now - start)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Draw once more when a search is over, however it ended."""
        if event.worker is self._scan and not self.scanning:
            self._has_looked = True
            self.found_all()
            self.draw()

    def _look_around(self) -> None:
        """See what others changed, unless something is under way or nobody looks."""
        due = time.monotonic() >= self._look_from
        if due and self.is_active and not self.scanning and not self._gave_up:
            self._watch()

    @work(exclusive=True, group="watch")
    async def _watch(self) -> None:
        """Read changed records again; look for new ones when that is due."""
        start = time.monotonic()
        found = await asyncio.to_thread(changes, dict(self._shelf.stamps))
        now = time.monotonic()
        self._look_from = now + _REST * (now - start)
        if self._shelf.take(found.read, found.gone):
            self.draw()
        if time.monotonic() >= self._search_from and not self.scanning:
            self._asked = False
            self._scan = self._search()
