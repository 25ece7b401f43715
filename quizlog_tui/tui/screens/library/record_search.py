"""Finds and watches the records of a library in threads, a short time at once.

The library draws them.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from textual.worker import Worker

from ....errors import UsageError
from ....record.summary import Summary, find_records
from ...shelf import Shelf, changes, read_some
from ...toasts import tell
from ..view import DrawnView, in_worker

_WATCH_SECONDS = 0.5
"""Seconds between two checks of the known records."""
_REST = 20
"""Each check is followed by a pause this many times as long: it uses a 20th of a processor."""


class RecordSearch:
    """Finds the records below a folder.

    Args:
        view: The screen that shows them.
        folder: Where to look.
        examples: Gives the folder to look in instead if there are no records; called in a thread.
            None shows no examples.
        may_read: Whether a file may be read; others are left out.
        shelf: Keeps what is found.
        found_some: Called when the shelf got some records; before it is drawn.
        found_all: Called when a search is over; before the shelf is drawn.
    """

    def __init__(
        self,
        view: DrawnView,
        folder: Path,
        examples: Callable[[], Path] | None,
        may_read: Callable[[Path], bool],
        shelf: Shelf,
        found_some: Callable[[Sequence[Summary]], None],
        found_all: Callable[[], None],
    ) -> None:
        self.view = view
        self.folder = folder
        """The folder searched; that of the examples if there are no records."""
        self._examples = examples
        self._may_read = may_read
        self._shelf = shelf
        self._found_some = found_some
        self._found_all = found_all
        self._scan: Worker[None] | None = None
        self._asked = True
        self._found_any = False
        self._gave_up = False
        self._look_from = 0.0
        self._search_from = 0.0
        self.has_looked = False
        """Whether the first records have been found."""

    def begin(self) -> None:
        """Look for records from the start, then watch for changes."""
        self.reload()
        self.view.set_interval(_WATCH_SECONDS, self.look_around)

    def look_at_once(self) -> None:
        """Check the records for changes now."""
        self._look_from = 0.0
        self.look_around()

    def search_soon(self) -> None:
        """Look for new records at the next check."""
        self._search_from = 0.0

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

    def reload(self) -> None:
        """Look for records from the beginning."""
        self._gave_up, self._asked, self._look_from = False, True, 0.0
        self._scan = self._search()

    def stop(self) -> None:
        """Be content with what was found."""
        if self._scan is not None:
            self._gave_up = True
            self._scan.cancel()

    @in_worker("scan", exclusive=True)
    async def _search(self) -> None:
        """Read all records that are not known yet; the examples where there are none at all."""
        await self._read_all()
        if not len(self._shelf) and self._examples is not None:
            examples, self._examples = self._examples, None
            try:
                before, self.folder = self.folder, await asyncio.to_thread(examples)
                tell(self.view, f"no records below {before}: here are examples to play with")
            except UsageError as error:  # a read-only home
                tell(self.view, str(error))
            await self._read_all()

    async def _read_all(self) -> None:
        """Read, drawing what was found time and again."""
        start = time.monotonic()
        paths = filter(self._may_read, find_records(self.folder))
        known, more = set(self._shelf.stamps), True
        while more:
            found = await asyncio.to_thread(read_some, paths, known)
            more = found.more
            if self._shelf.take(found):
                self._found_any = True
                self._found_some(found.summaries)
                self.view.draw()
            self.has_looked = True
        now = time.monotonic()
        self._search_from = now + _REST * (now - start)

    def worker_changed(self, worker: Worker[Any]) -> None:
        """Draw once more when a search is over, unless it was silent and found nothing new."""
        if worker is self._scan and not self.scanning:
            self.has_looked = True
            self._found_all()
            if self._asked or self._found_any:
                self.view.draw()

    def look_around(self) -> None:
        """See what others changed, unless something is under way or nobody looks."""
        due = time.monotonic() >= self._look_from
        if due and self.view.is_active and not self.scanning and not self._gave_up:
            self._watch()

    @in_worker("watch", exclusive=True)
    async def _watch(self) -> None:
        """Read changed records again; look for new ones when that is due."""
        start = time.monotonic()
        found = await asyncio.to_thread(changes, dict(self._shelf.stamps))
        now = time.monotonic()
        self._look_from = now + _REST * (now - start)
        if self._shelf.take(found.read, found.gone):
            self.view.draw()
        if time.monotonic() >= self._search_from and not self.scanning:
            self._asked = self._found_any = False
            self._scan = self._search()
