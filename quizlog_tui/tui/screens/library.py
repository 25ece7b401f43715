"""The library: all records below a folder, found while one looks, and watched from then on.

What is known of them and in which order they are shown is the `Shelf`'s; opening one is the
program's.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import re
import time
from collections.abc import Callable
from itertools import chain, count
from pathlib import Path
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.widgets import Static
from textual.worker import Worker

from ...errors import QuizlogError, UsageError
from ...new_record import new_record
from ...record.summary import Summary, find_records
from ...replay.replayer import Replayer
from ...text import one_line, plural
from .. import external
from ..bindings import screen_bindings
from ..clock import Clock
from ..draw.library import (
    ORDERS,
    library_grid,
    nothing_lines,
    record_layout,
    record_line,
    status_words,
)
from ..messages import OpenRecord
from ..shelf import Shelf, changes, read_some
from ..state import State
from ..widgets.columns import Layout
from ..widgets.documents import Paragraphs
from ..widgets.heads import Heads
from ..widgets.line_view import LineView
from ..widgets.row_list import RowList
from .base import DIALOG, QuizlogScreen
from .dialogs import AskScreen

_WATCH_SECONDS = 0.5
"""How often the known records are looked at for changes."""
_REST = 20
"""Looking for changes rests so many times as long as it took: it takes a 20th of a processor."""
_AGES_SECONDS = 30
"""How often the column of ages is drawn anew."""


class LibraryScreen(QuizlogScreen[None]):
    """The records below a folder.

    Args:
        folder: Where to look.
        examples: Gives the folder to look in instead if there are no records; called in a thread.
        state: Remembers the record looked at last, and the order.
        replayer: Where records are opened, to cancel a slow one.
        clock: How ages are told.
    """

    SCOPE = "library"
    BINDINGS: ClassVar[list[BindingType]] = screen_bindings("library")
    DEFAULT_CSS = """
    LibraryScreen {
        & #records, & #nothing { height: 1fr; }
        & #nothing { display: none; padding: 1 2; }
        &.-nothing #nothing { display: block; }
        &.-nothing #records, &.-nothing #heads { display: none; }
        & #marked { height: auto; max-height: 3; padding: 0 2; color: $text-muted; }
    }
    """

    def __init__(
        self,
        folder: Path,
        examples: Callable[[], Path],
        state: State,
        replayer: Replayer,
        clock: Clock,
    ) -> None:
        super().__init__()
        self._folder = folder
        self._examples: Callable[[], Path] | None = examples
        self._state = state
        self._replayer = replayer
        self._clock = clock
        self._shelf = Shelf(state.sorting)
        self._marked: Path | None = None
        self._last = state.last
        self._scan: Worker[None] | None = None
        self._gave_up = False
        self._asked = True
        self._look_from = 0.0
        self._search_from = 0.0

    def content(self) -> ComposeResult:
        """Titles, the list, and the marked record in words."""
        yield Heads(id="heads")
        yield RowList(id="records")
        yield LineView(id="nothing")
        yield Static(id="marked", markup=False)

    def on_mount(self) -> None:
        """Begin to look for records."""
        self.query_one("#records").focus()
        self.draw()
        self.action_reload()
        self.set_interval(_WATCH_SECONDS, self._look_around)
        self.set_interval(_AGES_SECONDS, self.draw)

    def on_screen_resume(self) -> None:
        """Back from a record: what was done there shows at once."""
        self._look_from = 0.0
        self._look_around()

    @property
    def scanning(self) -> bool:
        """Whether records are being looked for."""
        return self._scan is not None and not self._scan.is_finished

    @property
    def _asked_scanning(self) -> bool:
        """The same, as far as the user waits for it; the watch looks for new ones silently."""
        return self.scanning and self._asked

    # -- finding

    @work(exclusive=True, group="scan")
    async def _search(self) -> None:
        """Read all records that are not known yet; the examples where there are none at all."""
        await self._read_all()
        if not len(self._shelf) and self._examples is not None:
            examples, self._examples = self._examples, None
            with contextlib.suppress(OSError):  # a read-only home has no examples
                before, self._folder = self._folder, await asyncio.to_thread(examples)
                self.tell(f"no records below {before}: here are examples to play with")
            await self._read_all()

    async def _read_all(self) -> None:
        """Read, drawing what was found time and again."""
        start = time.monotonic()
        paths, known, more = find_records(self._folder), set(self._shelf.stamps), True
        while more:
            found = await asyncio.to_thread(read_some, paths, known)
            more = found.more
            if self._shelf.take(found):
                self._mark_last()
                self.draw()
        now = time.monotonic()
        self._search_from = now + _REST * (now - start)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Draw once more when a search is over, however it ended."""
        if event.worker is self._scan and not self.scanning:
            self._pin()
            self.draw()

    def _look_around(self) -> None:
        """See what others changed, unless something is under way or nobody looks."""
        due = time.monotonic() >= self._look_from
        if due and self.is_current and not self.scanning and not self._gave_up:
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

    # -- drawing

    def _mark_last(self) -> None:
        """Put the mark on the record looked at last, as soon as it is found."""
        if self._marked is None and self._last:
            name = Path(self._last).name
            same = (one.path for one in self._shelf.shown if one.path.name == name)
            self._marked = next((p for p in same if str(p.resolve()) == self._last), None)

    def _pin(self) -> None:
        """From now on the mark stays on its record; while records come in it stays at the top."""
        marked = self.marked
        if marked is not None:
            self._marked = marked.path

    def draw(self) -> None:
        """Put the shelf on the screen; the mark stays on its record."""
        shelf = self._shelf
        records = self.query_one("#records", RowList)
        at = shelf.index(self._marked)
        columns = record_layout(shelf.shown, self._folder)
        records.show(library_grid(shelf.shown, self._folder, self._clock, columns), cursor=at)
        nothing = not shelf.shown and not self.scanning
        self.set_class(nothing, "-nothing")
        lines = nothing_lines(self._folder, shelf.status, len(shelf))
        self.query_one("#nothing", LineView).show(Paragraphs(lines))
        self._draw_heads(columns)
        self._draw_marked()
        self.status(self._status_text())

    def _draw_heads(self, columns: Callable[[int], Layout]) -> None:
        shelf = self._shelf
        up = shelf.backwards == (shelf.order != "name")
        column = {"name": "record", "score": "state"}.get(shelf.order, shelf.order)
        signs = {column: " ▲" if up else " ▼"}
        self.query_one(Heads).show(columns, signs)

    def _draw_marked(self) -> None:
        self.query_one("#marked", Static).update(one_line(record_line(self.marked, self._folder)))

    def _status_text(self) -> str:
        shelf = self._shelf
        there = plural(len(shelf), "record")
        if shelf.status:
            there = f"{len(shelf.shown)} of {there}: {status_words(shelf.status)}"
        doing = " · looking for more; Escape stops" if self._asked_scanning else ""
        stopped = " · stopped; R looks for all" if self._gave_up else ""
        return f"{there} · by {shelf.order}{doing}{stopped} · {self._folder.name or self._folder}"

    @property
    def marked(self) -> Summary | None:
        """The marked record."""
        index = self.query_one("#records", RowList).index
        return None if index is None else self._shelf.shown[index]

    def on_row_list_moved(self, event: RowList.Moved) -> None:
        """Remember the marked record, not its row."""
        if event.index < len(self._shelf.shown):
            self._marked = self._shelf.shown[event.index].path
        self._draw_marked()

    # -- keys

    def on_row_list_chosen(self, event: RowList.Chosen) -> None:
        """Open the chosen record."""
        self.action_open()

    def action_open(self) -> None:
        """Open the marked record."""
        self._pin()
        if self.marked is not None:
            self.post_message(OpenRecord(self.marked.path))

    def neighbour(self, path: Path, by: int) -> Path | None:
        """The record after (1) or before (-1) one, in the order shown; it gets the mark."""
        found = self._shelf.neighbour(path, by)
        self._marked = found or self._marked
        self.draw()
        return found

    def action_status(self) -> None:
        """Narrow to the next status."""
        self._shelf.narrow()
        self.draw()

    def action_sort(self) -> None:
        """Sort by the next."""
        self._sort(None)

    def action_turn(self) -> None:
        """The other way round."""
        self._sort(self._shelf.order)

    def on_heads_clicked(self, event: Heads.Clicked) -> None:
        """Sort by a column, or turn it."""
        order = {"record": "name", "state": "score"}.get(event.column, event.column)
        if order in ORDERS:
            self._sort(order)

    def _sort(self, order: str | None) -> None:
        self._shelf.sort(order)
        self._state.sorting = self._shelf.sorting
        self.draw()

    def action_reload(self) -> None:
        """Look for records from the beginning."""
        self._gave_up, self._asked, self._look_from = False, True, 0.0
        self._scan = self._search()

    def action_editor(self) -> None:
        """The marked record's file in the user's editor."""
        marked = self.marked
        if marked is None:
            return
        try:
            external.edit(self.app, marked.path, None)
        except QuizlogError as error:
            self.complain(error)
        self._look_around()

    def cancel(self) -> None:
        """Stop opening a slow record."""
        self._replayer.cancel()

    def action_back(self) -> None:
        """Escape: stop looking for records, else as everywhere."""
        if self._asked_scanning and self._scan is not None and not self.working:
            self._gave_up = True
            self._scan.cancel()
        else:
            super().action_back()

    # -- a new record

    @work(group=DIALOG)
    async def action_new(self) -> None:
        """Ask for a script and a seed, write the record, open it."""
        script = await self.app.push_screen_wait(AskScreen("New record for which script?"))
        if not script:
            return
        wanted = str(random.SystemRandom().randrange(10**6))
        seed = await self.app.push_screen_wait(AskScreen("Seed of its randomness?", wanted))
        if seed is None:
            return
        path = await self.work_on(lambda: _made(script, seed), "writing")
        if path is not None:
            self._marked = path
            self._search_from = 0.0
            self.post_message(OpenRecord(path))


def _made(script: str, seed: str) -> Path:
    """Write a record beside a script, under the first free name.

    Raises:
        UsageError: The seed is no whole number.
        ScriptError: The script cannot be read.
        RecordError: The record cannot be written.
    """
    if not re.fullmatch(r"\s*-?\d{1,18}\s*", seed):
        raise UsageError(f"the seed {seed!r} is no whole number", hint="as 123456")
    path = Path(script).expanduser()
    names = chain([path.stem], (f"{path.stem}-{number}" for number in count(2)))
    free = (path.with_name(f"{name}.yaml") for name in names)
    record = next(each for each in free if not os.path.lexists(each))
    new_record(path, record, int(seed))
    return record
