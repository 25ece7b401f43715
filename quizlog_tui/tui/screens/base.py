"""What every screen has: status line, search, help, copy, export, slow work with cancel.

A screen names its `SCOPE` in the table of actions and yields its panes in `content`; the rest is
here. Knows no record.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import ClassVar, Generic, TypeVar

from textual import work
from textual.app import ComposeResult
from textual.screen import Screen, ScreenResultType
from textual.timer import Timer
from textual.widgets import Static

from ...errors import QuizlogError, UsageError
from ...files.paths import typed_path
from ...text import one_line, visible
from .. import clipboard, external
from ..keys.keymap import shown
from ..keys.typed_keys import KeyGate
from ..widgets.guide import Guide
from ..widgets.key_line import KeyLine
from ..widgets.lines.documents import line
from ..widgets.lines.line_view import LineView
from ..widgets.search_bar import SearchBar
from .dialogs import AskScreen, ChooseScreen
from .export import Export, ReportExport, pictures
from .private import PrivateScreen

DIALOG = "dialog"
"""The group of workers that wait for the user."""
T = TypeVar("T")


def _done(export: Export, path: Path) -> bool:
    export.write(path)
    return True


class QuizlogScreen(Screen[ScreenResultType], Generic[ScreenResultType], inherit_bindings=False):
    """The base of all full screens."""

    SCOPE: ClassVar[str] = "app"
    """The screen's own actions in the table."""
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (78, "-normal"), (120, "-wide")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-short"), (24, "-tall")]  # noqa: RUF012
    DEFAULT_CSS = """
    QuizlogScreen {
        & > #status {
            height: 1; padding: 0 1; background: $panel;
            text-wrap: nowrap; text-overflow: ellipsis;
        }
        & LineView { border: round $panel; border-title-color: $text-muted; }
        & LineView:focus { border: round $primary; }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self._status = ""
        self._working = False
        self._slow = False
        self._turn_to_work = asyncio.Lock()
        self._stops = 0
        self._stopping: Timer | None = None
        self._searched: LineView | None = None
        self.gate = KeyGate()
        """Stops keys that were typed before what they would act on was painted."""

    def compose(self) -> ComposeResult:
        """Status line, the screen's own panes, the guide on a first run, search bar, keys."""
        yield Static(id="status", markup=False)
        yield from self.content()
        tour = getattr(self.app, "tour", None)
        if tour is not None:
            yield Guide(tour)
        yield SearchBar()
        yield KeyLine()

    def content(self) -> ComposeResult:
        """The screen's own panes."""
        yield from ()

    # -- saying

    def key(self, name: str) -> str:
        """The key of an action, by its id, as the user has it."""
        return shown(name, self.app._keymap)

    def status(self, text: str) -> None:
        """Set the line at the top."""
        self._status = one_line(text)
        if not self._working:
            self.query_one("#status", Static).update(self._status, layout=False)

    def tell(self, text: str) -> None:
        """A passing note."""
        self.notify(visible(text), markup=False)

    def warn(self, text: str) -> None:
        """A passing warning."""
        self.notify(visible(text), severity="warning", markup=False)

    def complain(self, error: QuizlogError) -> None:
        """Show an error: where, what, and the mend."""
        self.notify(visible(str(error)), severity="error", markup=False)

    # -- slow work

    @property
    def ready(self) -> bool:
        """Whether keys may act: the dialog that one has opened is there, unless it takes long."""
        return self._slow or not any(
            worker.node is self and worker.group == DIALOG and not worker.is_finished
            for worker in self.workers
        )

    @property
    def working(self) -> bool:
        """Whether something runs that Escape would stop."""
        return self._working

    async def work_on(self, call: Callable[[], T], doing: str = "running") -> T | None:
        """Run a call in a thread; what it returns, or None after an error that was shown.

        What takes longer than 0.2 seconds says so, and how to stop it. Calls run one after the
        other; stopping one drops those that wait for it.
        """
        stops = self._stops
        async with self._turn_to_work:
            return await self._work_on(call, doing) if stops == self._stops else None

    async def _work_on(self, call: Callable[[], T], doing: str) -> T | None:
        self._working = True
        top = self.query_one("#status", Static)
        slow = self.set_timer(0.2, partial(self._tell_slow, doing))
        try:
            return await asyncio.to_thread(call)
        except QuizlogError as error:
            self.complain(error)
            return None
        except OSError as error:
            self.complain(UsageError(error.strerror or str(error), where=error.filename))
            return None
        finally:
            slow.stop()
            self._working = self._slow = False
            if self._stopping:
                self._stopping.stop()
                self._stopping = None
            if self.is_mounted:
                top.update(self._status)

    def _tell_slow(self, doing: str) -> None:
        self._slow = True
        self._tell_progress(f"… {one_line(doing)}; Escape stops it")

    def progress(self, doing: str) -> None:
        """What the slow work is doing now; called from its thread."""
        self.app.call_from_thread(self._tell_progress, f"… {one_line(doing)}; Escape stops it")

    def _tell_progress(self, text: str) -> None:
        if self._working and self.is_mounted:
            self.query_one("#status", Static).update(text)

    def stop(self) -> None:
        """Cancel the slow work, again and again: it may just be between two scripts."""
        self._stops += 1
        self.cancel()
        if self._stopping is None:
            self._stopping = self.set_interval(0.1, self.cancel)

    def cancel(self) -> None:
        """Stop the slow work if it can be stopped now; screens that have some say how."""

    # -- the pane with the focus

    def pane(self) -> LineView | None:
        """The pane that search, copy and pager act on."""
        if isinstance(self.focused, LineView):
            return self.focused
        return next((view for view in self.query(LineView) if view.display), None)

    def action_find(self) -> None:
        """Open the search bar."""
        self._searched = self.pane()
        self.query_one(SearchBar).open()

    def on_search_bar_finding(self, event: SearchBar.Finding) -> None:
        """Find while one types."""
        if self._searched is not None:
            self._searched.find(event.words)

    def on_search_bar_closed(self, event: SearchBar.Closed) -> None:
        """Back to the pane; say if nothing was found."""
        pane = self._searched
        if pane is None:
            return
        pane.focus()
        if not event.keep:
            pane.find("")
        elif not pane.find_next(1, here=True):
            self.tell_no_hit(pane)

    def tell_no_hit(self, pane: LineView) -> None:
        """Say that a pane has nothing of what is searched for."""
        self.tell("not found")

    def action_find_next(self, by: int) -> None:
        """Go to another place found."""
        pane = self.pane()
        if pane is None or pane.find_next(by):
            return
        if pane.search.active:
            self.tell_no_hit(pane)
        else:
            self.tell("nothing is searched for; / begins")

    def action_filter(self) -> None:
        """Show only what was found, or all."""
        pane = self.pane()
        if pane is not None and not pane.toggle_filter():
            self.tell("all lines are shown; / finds, & then filters")
        elif pane is not None and pane.search.nothing_left:
            self.tell_no_hit(pane)

    def action_copy(self) -> None:
        """Copy the selection, or the marked line, or the pane."""
        pane = self.pane()
        text = self.get_selected_text() or (pane.copy_text() if pane else "")
        if text:
            self.tell(f"{len(text):,} characters {clipboard.copy(self.app, text)}")

    def action_pager(self) -> None:
        """Show the pane in the user's pager."""
        pane = self.pane()
        if pane is None:
            return
        document = pane.document
        try:
            text = "\n".join(document[i].text for i in range(len(document)))
            external.page(self.app, text)
        except QuizlogError as error:
            self.complain(error)

    # -- everywhere

    @work(group=DIALOG)
    async def action_export(self) -> None:
        """Write the screen, or the record, to a file."""
        found = self.exports()
        lines = [line(one.about, cut=True) for one in found]
        chosen = await self.app.push_screen_wait(ChooseScreen("Export", lines))
        if chosen is None:
            return
        export = found[chosen]
        if export.report is None or await self._prepared(export.report):
            await self._written(export)

    async def _prepared(self, report: ReportExport) -> bool:
        """Make a document and ask what of it is to stay; whether to go on and write it."""
        self.gate.shut()  # what is typed meanwhile is not for this screen
        found = await self.work_on(report.prepare, "running all branches")
        self.gate.open()
        if not found:
            return found is not None
        redact = await self.app.push_screen_wait(PrivateScreen(found))
        report.redact = bool(redact)
        return redact is not None

    async def _written(self, export: Export) -> None:
        """Ask where to, until it is written or the user thought better of it."""
        name, question = export.name, "Write it to which file?"
        while wanted := await self.app.push_screen_wait(AskScreen(question, name)):
            name, path = wanted, typed_path(wanted)
            if not await self._may_replace(path):
                continue
            if await self.work_on(partial(_done, export, path), "writing"):
                self.tell(f"written to {path.absolute()}")
                return

    async def _may_replace(self, path: Path) -> bool:
        """Whether a file may be written: it is new, or the user wants it replaced."""
        if not os.path.exists(path):
            return True
        lines = [line("choose another name", cut=True), line("replace it", cut=True)]
        question = f"{path} exists already."
        return await self.app.push_screen_wait(ChooseScreen(question, lines)) == 1

    def exports(self) -> list[Export]:
        """What can be written from here."""
        return pictures(self.app)

    def action_back(self) -> None:
        """Back out of one thing: running work first, then a filter or search, then the screen."""
        pane = self.pane()
        if self._working:
            self.stop()
        elif pane is not None and pane.search.active:
            pane.find("")
        else:
            self.nothing_to_back_out_of()

    def nothing_to_back_out_of(self) -> None:
        """Escape, where nothing runs and nothing is searched for: back to the screen before."""
        self.leave()

    def action_leave(self) -> None:
        """Go back to the screen before, whatever is searched for."""
        self.leave()

    def leave(self) -> None:
        """Go back to the screen before."""
        self.dismiss(None)
