"""The library screen: all records below a folder, found in the background and watched for changes.

The `Shelf` holds and sorts the records, and the app opens them.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import re
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain, count
from pathlib import Path

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Static
from textual.worker import Worker

from ...errors import QuizlogError, UsageError
from ...files.paths import typed_path
from ...record.summary import Preview, Summary, find_records, preview
from ...replay.replayer import Replayer
from ...session import new_record as rules
from ...session.audit import may_read
from ...session.session import Session
from ...text import one_line, plural
from .. import external
from ..clock import Clock
from ..messages import OpenRecord, Query
from ..shelf import (
    HOW,
    ORDERS,
    ReadRecords,
    RecordFilter,
    Shelf,
    changes,
    is_script,
    library_grid,
    nothing_lines,
    parse_filter,
    preview_lines,
    read_some,
    record_layout,
    record_line,
    script_remark,
    scripts_without,
    status_words,
    taken,
)
from ..state import State
from ..toasts import complain, tell
from ..widgets.columns import Heads, Layout
from ..widgets.documents import Paragraphs
from ..widgets.line_view import LineView
from ..widgets.row_list import RowList
from .base import DIALOG, QuizlogScreen
from .commands import CommandRunner

_WATCH_SECONDS = 0.1
"""Seconds between two checks of the known records."""
_PAUSES = 20
"""Each check is followed by a pause this many times as long: it uses a 20th of a processor."""
_REST_SECONDS = 0.05
"""Seconds that the cursor must rest on a record before it is read."""
_AGES_SECONDS = 30
"""Seconds between two redraws of the ages."""


class LibraryScreen(QuizlogScreen[None]):
    """The records below a folder.

    Args:
        folder: Where to look.
        examples: Gives the folder to look in instead if there are no records; called in a thread.
            None shows no examples.
        state: Remembers the record looked at last, and the order.
        replayer: Runs opened records; cancels a slow one.
        clock: Formats ages.
    """

    SCOPE = "library"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]  # noqa: RUF012
    DEFAULT_CSS = """
    LibraryScreen {
        & #list { width: 3fr; }
        & #preview { width: 2fr; display: none; }
        &.-wide #preview { display: block; }
        & #records, & #nothing { height: 1fr; }
        & #nothing { display: none; padding: 1 2; }
        &.-nothing #nothing { display: block; }
        &.-nothing #records, &.-nothing #heads, &.-nothing #preview { display: none; }
        & #marked { height: auto; max-height: 3; padding: 0 2; color: $text-muted; }
    }
    """

    def __init__(
        self,
        folder: Path,
        examples: Callable[[], Path] | None,
        state: State,
        replayer: Replayer,
        clock: Clock,
    ) -> None:
        super().__init__()
        self.shelf = Shelf(state.sorting)
        """The records found."""
        self.folder = folder
        """The folder searched; that of the examples if there are no records."""
        self._own = folder
        self.commands = CommandRunner(self)
        self._state = state
        self._replayer = replayer
        self._clock = clock
        self._marked: Path | None = None
        self._read: tuple[Path, str, Preview] | None = None
        """A record with what is said of its script, and its preview."""
        self._last = state.last
        self._query = Query()
        self._examples = examples
        self._scan: Worker[None] | None = None
        self._asked = True
        self._found_any = False
        self._stopped = False
        self._look_from = 0.0
        self._search_from = 0.0
        self._has_looked = False

    def _may_read(self, path: Path) -> bool:
        """Whether audit mode lets a file be read; others are left out."""
        return may_read(self.audit, path)

    def content(self) -> ComposeResult:
        """Titles and the list, a preview, and a line about the selected record."""
        with Horizontal(id="beside"):
            with Vertical(id="list"):
                yield Heads(id="heads")
                yield RowList(id="records")
                yield LineView(id="nothing")
            yield LineView(id="preview")
        yield Static(id="marked", markup=False)

    def on_mount(self) -> None:
        """Start looking for records."""
        self.rows.focus()
        self.action_reload()
        self.draw()
        self.set_interval(_WATCH_SECONDS, self.look_around)
        self.set_interval(_AGES_SECONDS, self.draw)

    @property
    def ready(self) -> bool:
        """Whether keys may act: the first records have been found."""
        return self._has_looked and super().ready

    # -- drawing

    def _select_last(self, found: Sequence[Summary]) -> None:
        """Select the record shown last as soon as it is found."""
        if self._marked is None and self._last:
            name = Path(self._last).name
            same = (one.path for one in found if one.path.name == name)
            self._marked = next((p for p in same if str(p.resolve()) == self._last), None)

    def _hold_selection(self) -> None:
        """Keep the cursor on its record from now on; during the search it stays at the top."""
        marked = self.marked
        if marked is not None:
            self._marked = marked.path

    def draw(self) -> None:
        """Draw the shelf; the cursor stays on its record."""
        shelf = self.shelf
        records = self.rows
        at = shelf.index(self._marked)
        listed = shelf.listed
        columns = record_layout(listed, self.folder)
        records.show(library_grid(listed, self.folder, self._clock, columns), cursor=at)
        self.set_class(not listed and not self.scanning, "-nothing")
        lines = nothing_lines(self.folder, shelf.status, len(shelf), self.key, shelf.filter.text)
        self.query_one("#nothing", LineView).show(Paragraphs(lines))
        self._draw_heads(columns)
        self._draw_marked()
        self._look_at_script()
        self.status(self._status_text())

    def _draw_heads(self, columns: Callable[[int], Layout]) -> None:
        shelf = self.shelf
        up = shelf.backwards == (shelf.order != "name")
        column = {"name": "record", "score": "state"}.get(shelf.order, shelf.order)
        signs = {column: " ▲" if up else " ▼"}
        self.query_one(Heads).show(columns, signs)

    def _draw_marked(self) -> None:
        marked = self.marked
        path, remark, preview = self._read or (None, "", Preview())
        if marked is None or marked.path != path:
            remark, preview = "", Preview()
        pane = self.query_one("#preview", LineView)
        pane.border_title = "Preview"
        pane.show(Paragraphs(preview_lines(marked, preview) if marked else []))
        told = record_line(marked, self.folder, self.key, remark)
        self.query_one("#marked", Static).update(one_line(told))

    @work(exclusive=True, group="script")
    async def _look_at_script(self) -> None:
        """Show what the selected record's file and script tell beyond its row."""
        marked = self.marked
        if marked is not None:
            await asyncio.sleep(_REST_SECONDS)
            remark = await asyncio.to_thread(script_remark, marked, self._may_read)
            shown = Preview()
            if not is_script(marked):
                shown = await asyncio.to_thread(preview, marked)
            self._read = (marked.path, remark, shown)
            if self.query("#marked"):  # the screen may have been closed meanwhile
                self._draw_marked()

    def on_screen_resume(self) -> None:
        """Update after returning from a record: it may have changed, or its script got a grant."""
        self._look_from = 0.0
        self.look_around()
        self._look_at_script()

    def _status_text(self) -> str:
        shelf = self.shelf
        there = plural(len(shelf), "record")
        narrowed = (status_words(shelf.status) if shelf.status else "", shelf.filter.text)
        if shelf.scripts_first and shelf.scripts:
            there = f"{plural(len(shelf.scripts), 'script')} without a record · {there}"
        if any(narrowed):
            there = f"{len(shelf.shown)} of {there}: {', '.join(filter(None, narrowed))}"
        doing = " · looking for more; Escape stops" if self._awaited else ""
        reload = self.key("library.reload")
        stopped = f" · stopped; {reload} looks for all" if self._stopped else ""
        where = self.folder.name or self.folder
        return f"{there} · by {shelf.order}{doing}{stopped} · {where}"

    @property
    def marked(self) -> Summary | None:
        """The marked record, or script without one."""
        index = self.rows.index
        return None if index is None else self.shelf.listed[index]

    def on_row_list_moved(self, event: RowList.Moved) -> None:
        """Remember the selected record instead of its row."""
        listed = self.shelf.listed
        if event.index < len(listed):
            self._marked = listed[event.index].path
        self._draw_marked()
        self._look_at_script()

    # -- keys

    def action_reload(self) -> None:
        """Look for records from the beginning."""
        self._stopped, self._asked, self._look_from = False, True, 0.0
        self._scan = self._search()

    @on(RowList.Chosen)
    def action_open(self) -> None:
        """Open the marked record; one that is made now for a script that has none."""
        self._hold_selection()
        marked = self.marked
        if marked is not None and is_script(marked):
            self._open_script(str(marked.path))
        elif marked is not None:
            self.gate.shut()
            self.post_message(OpenRecord(marked.path))

    @work(group=DIALOG)
    async def _open_script(self, script: str) -> None:
        """Make a record for a script, with any seed, and open it."""
        if self._is_locked("a new record"):
            return
        create = partial(_create_record, script, _any_seed(), self._replayer)
        self._open_made(await self.slow_work.run(create, "writing"))

    def _open_made(self, path: Path | None) -> None:
        """Open a record that was made just now, if one was."""
        if path is not None:
            self._marked = path
            self._search_from = 0.0  # at the next check
            self._leave_examples(path)
            self.post_message(OpenRecord(path, is_new=True))

    def _leave_examples(self, made: Path) -> None:
        """Return to the records of the own folder as soon as one is made there."""
        shelf = self.shelf
        is_own = made.absolute().is_relative_to(self._own.absolute())
        if self.folder != self._own and is_own:
            self.folder, shelf.scripts_first = self._own, False
            shelf.take(ReadRecords([], {}, more=False), [one.path for one in shelf.found])
            self.action_reload()

    @property
    def paths(self) -> list[Path]:
        """The records shown, in their order."""
        return [one.path for one in self.shelf.shown]

    def neighbour(self, path: Path, by: int) -> Path | None:
        """The next (1) or previous (-1) record in the order shown; selects it."""
        found = self.shelf.neighbour(path, by)
        self._marked = found or self._marked
        self.draw()
        return found

    def action_status(self) -> None:
        """Filter by the next status."""
        self.shelf.narrow()
        self.draw()

    @work(group=DIALOG)
    async def action_narrow(self) -> None:
        """Ask which records to show, until that can be read or the user cancels."""
        text = self.shelf.filter.text
        while (typed := await self.ask(HOW, text)) is not None:
            text = typed
            try:
                await self._narrow(parse_filter(typed))
                return
            except UsageError as error:
                complain(self, error)

    async def _narrow(self, wanted: RecordFilter) -> None:
        """Show the records that a filter takes; their files are read in a thread."""
        taking = partial(taken, wanted, self.shelf.found)
        found = await self.slow_work.run(taking, "filtering")
        if found is not None:
            self.shelf.keep(wanted, found)
            self.draw()

    def action_sort(self) -> None:
        """Sort by the next order."""
        self._sort(None)

    def action_turn(self) -> None:
        """Reverse the order."""
        self._sort(self.shelf.order)

    def on_heads_clicked(self, event: Heads.Clicked) -> None:
        """Sort by a column, or reverse its order."""
        order = {"record": "name", "state": "score"}.get(event.column, event.column)
        if order in ORDERS:
            self._sort(order)

    def _sort(self, order: str | None) -> None:
        self.shelf.sort(order)
        self._state.sorting = self.shelf.sorting
        self.draw()

    def action_editor(self) -> None:
        """Open the selected record's file in the user's editor."""
        marked = self.marked
        if marked is None or self._is_locked("the record, in your editor"):
            return
        try:
            external.edit(self.app, marked.path, None)
        except QuizlogError as error:
            complain(self, error)
        self.look_around()

    def action_own_command(self, name: str) -> None:
        """Run one of the user's own commands on the marked record."""
        marked = self.marked
        if marked is None or is_script(marked):
            tell(self, "a command runs for a record, and none is selected")
        elif not self._is_locked(f"whatever the command {name} does"):
            self.commands.run(name, {"record": str(marked.path.absolute())})

    @work(group=DIALOG)
    async def action_episodes(self) -> None:
        """Open a file of episodes."""
        from .episodes import EpisodesScreen, choose_file

        file = await choose_file(self, self.folder, self.audit)
        if file is not None:
            self.app.push_screen(EpisodesScreen(file))

    @work(group=DIALOG)
    async def action_find_all(self) -> None:
        """Find in all records that are shown, and open the one of the hit that is chosen."""
        from .find import FindScreen, LibraryTexts

        texts = LibraryTexts(self.folder, self.paths)
        chosen = await self.app.push_screen_wait(FindScreen(texts, self._query))
        if chosen is not None:
            self._query, self._marked = chosen.query, chosen.record
            self.post_message(OpenRecord(chosen.record, chosen))

    def cancel(self) -> None:
        """Stop opening a slow record, or the user's own command."""
        self._replayer.cancel()
        self.commands.cancel()

    def on_unmount(self) -> None:
        """End a command of the user's."""
        self.commands.end()

    def action_back(self) -> None:
        """Escape: stop looking for records, else end a search or a filter."""
        if self._scan is not None and self._awaited and not self.slow_work.running:
            self._stopped = True
            self._scan.cancel()
        else:
            super().action_back()

    def _back_out(self) -> None:
        """End a filter, else stay: quizlog ends by its own key only."""
        if self.shelf.status or self.shelf.filter.text:
            self.shelf.show_all()
            self.draw()
        else:
            tell(self, f"{self.key('library.leave')} leaves quizlog")

    # -- looking for records

    @property
    def scanning(self) -> bool:
        """Whether records are being looked for."""
        return self._scan is not None and not self._scan.is_finished

    @property
    def _awaited(self) -> bool:
        """The same, as far as the user waits for it; the watch looks for new ones silently."""
        return self.scanning and self._asked

    @work(exclusive=True, group="scan")
    async def _search(self) -> None:
        """Read all records that are not known yet; the examples where there are none at all."""
        await self._read_all()
        await self._look_for_scripts()
        if not len(self.shelf) and self._examples is not None:
            examples, self._examples = self._examples, None
            await self._show_examples(examples)

    async def _show_examples(self, examples: Callable[[], Path]) -> None:
        """Read the examples, below the scripts of the own folder."""
        try:
            self.folder = await asyncio.to_thread(examples)
        except UsageError as error:  # a read-only home
            tell(self, str(error))
            return
        self.shelf.scripts_first = True
        own = "its scripts come first, and " if self.shelf.scripts else ""
        tell(self, f"no records below {self._own}: {own}here are examples to play with")
        await self._read_all()

    async def _read_all(self) -> None:
        """Read, drawing what was found time and again."""
        start = time.monotonic()
        paths = filter(self._may_read, find_records(self.folder))
        known, more = set(self.shelf.stamps), True
        while more:
            found = await asyncio.to_thread(read_some, paths, known)
            more = found.more
            if self.shelf.take(found):
                self._found_any = True
                self._select_last(found.summaries)
                self.draw()
            self._has_looked = True
        now = time.monotonic()
        self._search_from = now + _PAUSES * (now - start)

    async def _look_for_scripts(self) -> None:
        """List the scripts of the own folder that have no record."""
        find = partial(scripts_without, self.shelf.found, self._own)
        scripts = list(filter(self._may_read, await asyncio.to_thread(find)))
        if scripts != self.shelf.scripts:
            self.shelf.scripts = scripts
            self._found_any = True
            self.draw()

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Draw once more when a search is over, unless it was silent and found nothing new."""
        if event.worker is self._scan and not self.scanning:
            self._has_looked = True
            self._hold_selection()
            if self._asked or self._found_any:
                self.draw()

    def look_around(self) -> None:
        """See what others changed, unless something is under way or nobody looks."""
        due = time.monotonic() >= self._look_from
        if due and self.is_active and not self.scanning and not self._stopped:
            self._watch()

    @work(exclusive=True, group="watch")
    async def _watch(self) -> None:
        """Read changed records again; look for new ones when that is due."""
        start = time.monotonic()
        found = await asyncio.to_thread(changes, dict(self.shelf.stamps))
        now = time.monotonic()
        self._look_from = now + _PAUSES * (now - start)
        if self.shelf.take(found.read, found.gone):
            self.draw()
        if time.monotonic() >= self._search_from and not self.scanning:
            self._asked = self._found_any = False
            self._scan = self._search()

    # -- new records

    @work(group=DIALOG)
    async def action_new(self) -> None:
        """Make a record for a script and open it."""
        if self._is_locked("a new record"):
            return
        self._open_made(await self._new_record())

    async def _new_record(self) -> Path | None:
        """Ask for a script and a seed until a record can be written; None if the user cancels."""
        script, seed = "", _any_seed()
        while wanted := await self.ask("New record for which script?", script):
            script = wanted
            typed = await self.ask("Seed for random numbers?", seed)
            if typed is None:
                return None
            seed = typed
            create = partial(_create_record, script, seed, self._replayer)
            if made := await self.slow_work.run(create, "writing"):
                return made
        return None


def _any_seed() -> str:
    return str(random.SystemRandom().randrange(10**6))


def _create_record(script: str, seed: str, replayer: Replayer) -> Path:
    """Write a record beside a script, under the first free name, with the script's first stop.

    Raises:
        UsageError: The seed is not a whole number.
        ScriptError: The script cannot be read, or is a record itself.
        RecordError: The record cannot be written.
    """
    if not re.fullmatch(r"\s*-?\d{1,18}\s*", seed):
        raise UsageError(f"the seed {seed!r} is not a whole number", hint="such as 123456")
    path = typed_path(script)
    rules.read_new_script(path)
    names = chain([path.stem], (f"{path.stem}-{number}" for number in count(2)))
    free = (path.with_name(f"{name}.yaml") for name in names)
    record = next(each for each in free if not os.path.lexists(each))
    rules.new_record(path, record, int(seed))
    # Whatever goes wrong is told when the record is opened, which is what comes next.
    with contextlib.suppress(QuizlogError), Session(record, replayer) as session:
        session.save()
    return record
