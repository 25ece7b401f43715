"""The library screen: all records below a folder, found in the background and watched for changes.

The `Shelf` holds and sorts the records, `record_search` finds them, and the app opens them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import Static
from textual.worker import Worker

from ....errors import QuizlogError, UsageError
from ....record.summary import Preview, Summary, preview
from ....replay.replayer import Replayer
from ....session.audit import may_read
from ....text import one_line, plural
from ... import external
from ...clock import Clock
from ...draw.library import (
    ORDERS,
    library_grid,
    nothing_lines,
    record_layout,
    record_line,
    status_words,
)
from ...draw.preview import preview_lines
from ...keys.bindings import screen_bindings
from ...messages import OpenRecord
from ...record_filter import HOW, RecordFilter, parse_filter, taken
from ...search_hits import Query
from ...shelf import Shelf, script_remark
from ...state import State
from ...toasts import complain, tell
from ...widgets.lines.column_heads import Heads
from ...widgets.lines.columns import Layout
from ...widgets.lines.documents import Paragraphs
from ...widgets.lines.line_view import LineView
from ...widgets.lines.row_list import RowList
from ..base import DIALOG, QuizlogScreen
from ..commands.runner import CommandRunner
from ..dialogs import AskScreen
from .new import new_record
from .record_search import RecordSearch

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
    BINDINGS: ClassVar[list[BindingType]] = screen_bindings("library")
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
        self._shelf = Shelf(state.sorting)
        self.search = RecordSearch(
            self,
            folder,
            examples,
            self._may_read,
            self._shelf,
            self._found_some,
            self._found_all,
        )
        self.commands = CommandRunner(self)
        self._state = state
        self._replayer = replayer
        self._clock = clock
        self._marked: Path | None = None
        self._read: tuple[Path, str, Preview] | None = None
        """A record with what is said of its script, and its preview."""
        self._last = state.last
        self._query = Query()

    def _may_read(self, path: Path) -> bool:
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
        self.query_one("#records").focus()
        self.search.begin()
        self.draw()
        self.set_interval(_AGES_SECONDS, self.draw)

    @property
    def ready(self) -> bool:
        """Whether keys may act: the first records have been found."""
        return self.search.has_looked and super().ready

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Draw again, since a search may have ended."""
        self.search.worker_changed(event.worker)

    # -- drawing

    def _found_some(self, found: Sequence[Summary]) -> None:
        """Select the record shown last as soon as it is found."""
        if self._marked is None and self._last:
            name = Path(self._last).name
            same = (one.path for one in found if one.path.name == name)
            self._marked = next((p for p in same if str(p.resolve()) == self._last), None)

    def _found_all(self) -> None:
        """Keep the cursor on its record from now on; during the search it stays at the top."""
        marked = self.marked
        if marked is not None:
            self._marked = marked.path

    def draw(self) -> None:
        """Draw the shelf; the cursor stays on its record."""
        shelf = self._shelf
        records = self.query_one("#records", RowList)
        at = shelf.index(self._marked)
        columns = record_layout(shelf.shown, self.search.folder)
        records.show(library_grid(shelf.shown, self.search.folder, self._clock, columns), cursor=at)
        nothing = not shelf.shown and not self.search.scanning
        self.set_class(nothing, "-nothing")
        lines = nothing_lines(
            self.search.folder, shelf.status, len(shelf), self.key, shelf.filter.text
        )
        self.query_one("#nothing", LineView).show(Paragraphs(lines))
        self._draw_heads(columns)
        self._draw_marked()
        self._look_at_script()
        self.status(self._status_text())

    def _draw_heads(self, columns: Callable[[int], Layout]) -> None:
        shelf = self._shelf
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
        self.query_one("#marked", Static).update(
            one_line(record_line(marked, self.search.folder, self.key, remark))
        )

    @work(exclusive=True, group="script")
    async def _look_at_script(self) -> None:
        """Show what the selected record's file and script tell beyond its row."""
        marked = self.marked
        if marked is not None:
            await asyncio.sleep(_REST_SECONDS)
            remark = await asyncio.to_thread(script_remark, marked, self._may_read)
            shown = await asyncio.to_thread(preview, marked)
            self._read = (marked.path, remark, shown)
            if self.query("#marked"):  # the screen may have been closed meanwhile
                self._draw_marked()

    def on_screen_resume(self) -> None:
        """Update after returning from a record: it may have changed, or its script got a grant."""
        self.search.look_at_once()
        self._look_at_script()

    def _status_text(self) -> str:
        shelf = self._shelf
        there = plural(len(shelf), "record")
        narrowed = (status_words(shelf.status) if shelf.status else "", shelf.filter.text)
        if any(narrowed):
            there = f"{len(shelf.shown)} of {there}: {', '.join(filter(None, narrowed))}"
        search, reload = self.search, self.key("library.reload")
        doing = " · looking for more; Escape stops" if search.awaited else ""
        stopped = f" · stopped; {reload} looks for all" if search.stopped else ""
        where = search.folder.name or search.folder
        return f"{there} · by {shelf.order}{doing}{stopped} · {where}"

    @property
    def marked(self) -> Summary | None:
        """The marked record."""
        index = self.query_one("#records", RowList).index
        return None if index is None else self._shelf.shown[index]

    def on_row_list_moved(self, event: RowList.Moved) -> None:
        """Remember the selected record instead of its row."""
        if event.index < len(self._shelf.shown):
            self._marked = self._shelf.shown[event.index].path
        self._draw_marked()
        self._look_at_script()

    # -- keys

    def on_row_list_chosen(self, event: RowList.Chosen) -> None:
        """Open the chosen record."""
        self.action_open()

    def action_reload(self) -> None:
        """Look for records from the beginning."""
        self.search.reload()

    def action_open(self) -> None:
        """Open the marked record."""
        self._found_all()
        if self.marked is not None:
            self.gate.shut()
            self.post_message(OpenRecord(self.marked.path))

    @property
    def paths(self) -> list[Path]:
        """The records shown, in their order."""
        return [one.path for one in self._shelf.shown]

    def neighbour(self, path: Path, by: int) -> Path | None:
        """The next (1) or previous (-1) record in the order shown; selects it."""
        found = self._shelf.neighbour(path, by)
        self._marked = found or self._marked
        self.draw()
        return found

    def action_status(self) -> None:
        """Filter by the next status."""
        self._shelf.narrow()
        self.draw()

    @work(group=DIALOG)
    async def action_narrow(self) -> None:
        """Ask which records to show, until that can be read or the user cancels."""
        screen = AskScreen(HOW, self._shelf.filter.text)
        while (typed := await self.app.push_screen_wait(screen)) is not None:
            screen = AskScreen(HOW, typed)
            try:
                await self._narrow(parse_filter(typed))
                return
            except UsageError as error:
                complain(self, error)

    async def _narrow(self, wanted: RecordFilter) -> None:
        """Show the records that a filter takes; their files are read in a thread."""
        taking = partial(taken, wanted, self._shelf.found)
        found = await self.slow_work.run(taking, "filtering")
        if found is not None:
            self._shelf.keep(wanted, found)
            self.draw()

    def action_sort(self) -> None:
        """Sort by the next order."""
        self._sort(None)

    def action_turn(self) -> None:
        """Reverse the order."""
        self._sort(self._shelf.order)

    def on_heads_clicked(self, event: Heads.Clicked) -> None:
        """Sort by a column, or reverse its order."""
        order = {"record": "name", "state": "score"}.get(event.column, event.column)
        if order in ORDERS:
            self._sort(order)

    def _sort(self, order: str | None) -> None:
        self._shelf.sort(order)
        self._state.sorting = self._shelf.sorting
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
        self.search.look_around()

    def action_own_command(self, name: str) -> None:
        """Run one of the user's own commands on the marked record."""
        marked = self.marked
        if marked is not None and not self._is_locked(f"whatever the command {name} does"):
            self.commands.run(name, {"record": str(marked.path.absolute())})

    @work(group=DIALOG)
    async def action_episodes(self) -> None:
        """Open a file of episodes."""
        from ..episodes.episode_files import choose_file
        from ..episodes.episodes import EpisodesScreen

        file = await choose_file(self, self.search.folder, self.audit)
        if file is not None:
            self.app.push_screen(EpisodesScreen(file))

    @work(group=DIALOG)
    async def action_find_all(self) -> None:
        """Find in all records that are shown, and open the one of the hit that is chosen."""
        from ..find.find_screen import FindScreen
        from ..find.texts import LibraryTexts

        paths = self.paths
        texts = LibraryTexts(self.search.folder, paths)
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
        if self.search.awaited and not self.slow_work.running:
            self.search.stop()
        else:
            super().action_back()

    def _back_out(self) -> None:
        """End a filter, else stay: quizlog ends by its own key only."""
        if self._shelf.status or self._shelf.filter.text:
            self._shelf.show_all()
            self.draw()
        else:
            tell(self, f"{self.key('library.leave')} leaves quizlog")

    @work(group=DIALOG)
    async def action_new(self) -> None:
        """Make a record for a script and open it."""
        if self._is_locked("a new record"):
            return
        path = await new_record(self, self._replayer)
        if path is not None:
            self._marked = path
            self.search.search_soon()
            self.post_message(OpenRecord(path))
