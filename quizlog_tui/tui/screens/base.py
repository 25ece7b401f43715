"""The base of all screens: status line, search, help, copy, export, slow work with cancel.

A screen names its `SCOPE` in the table of actions, which gives it its keys, and yields its panes in
`content`. `Program` is what it may ask of the app. This module does not know about records.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from textual import work
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.containers import Container, Vertical
from textual.screen import Screen, ScreenResultType
from textual.timer import Timer
from textual.widgets import Static

from ...errors import QuizlogError, ReadOnlyError, UsageError
from ...files.paths import typed_path
from ...session.audit import Audit
from ...text import one_line
from .. import external
from ..keys.actions import find_action
from ..keys.keymap import screen_bindings, shown
from ..keys.own_commands import OwnCommand
from ..keys.typed_keys import KeyGate
from ..lessons import Tour
from ..toasts import complain, tell
from ..widgets.columns import Grid, Heads
from ..widgets.documents import Document, Line, line
from ..widgets.footer import Guide, KeyLine, MessageLine
from ..widgets.line_view import LineView
from ..widgets.row_list import RowList
from ..widgets.text_fields import SearchBar
from .dialogs import AskScreen, ChooseScreen, PrivateScreen
from .export import Export, ReportExport, pictures

T = TypeVar("T")
_SLOW_SECONDS = 0.2
"""Work that takes longer (in seconds) is shown, with how to stop it."""
_STOP_SECONDS = 0.1
"""Seconds between two attempts to stop work, which may be between two scripts."""


@dataclass(frozen=True)
class Destination:
    """Something that the command palette can show."""

    label: str
    """What it is called; safe to show."""
    about: str
    """What else it is found by; safe to show."""
    go: Callable[[], Any]
    """Shows it."""


class Program(App[None]):
    """What every screen may ask of the app."""

    audit: Audit | None = None
    """Why nothing may be changed in the whole program; None if it may."""
    tour: Tour | None = None
    """The guided tour, shown on every screen."""

    def __init__(self) -> None:
        super().__init__()
        self.own_commands: dict[str, OwnCommand] = {}
        """The user's own commands, by name."""

    def destinations(self) -> Iterator[Destination]:
        """Where one can go from every screen, for the palette."""
        yield from ()


class SlowWork:
    """Runs calls of a screen, which stays usable, shows what is running, and can cancel it.

    Args:
        screen: The screen.
        show: Shows what is running; nothing is if the text is empty.
        cancel: Makes the call that runs end soon; called until it does.
    """

    def __init__(
        self,
        screen: QuizlogScreen[Any],
        show: Callable[[str], None],
        cancel: Callable[[], None],
    ) -> None:
        self._screen = screen
        self._show = show
        self._cancel = cancel
        self.running = False
        """Whether something is running that Escape can stop."""
        self.slow = False
        """Whether it takes so long that it is shown."""
        self._turn = asyncio.Lock()
        self._stops = 0
        self._stopping: Timer | None = None

    async def run(self, call: Callable[[], T], doing: str = "running") -> T | None:
        """Run a call in a thread; its result, or None after an error that was shown.

        Calls run one after the other; stopping one drops those that wait for it.
        """
        stops = self._stops
        async with self._turn:
            return await self._run(call, doing) if stops == self._stops else None

    async def _run(self, call: Callable[[], T], doing: str) -> T | None:
        self.running = True
        slow = self._screen.set_timer(_SLOW_SECONDS, partial(self._tell_slow, doing))
        try:
            return await asyncio.to_thread(call)
        except QuizlogError as error:
            complain(self._screen, error)
            return None
        except OSError as error:
            complain(self._screen, UsageError(error.strerror or str(error), where=error.filename))
            return None
        finally:
            slow.stop()
            self.running = self.slow = False
            if self._stopping:
                self._stopping.stop()
                self._stopping = None
            if self._screen.is_mounted:
                self._show("")

    def _tell_slow(self, doing: str) -> None:
        self.slow = True
        self._tell(doing)

    def tell_progress(self, doing: str) -> None:
        """Show what the work is doing now; called from its thread."""
        self._screen.app.call_from_thread(self._tell, doing)

    def _tell(self, doing: str) -> None:
        if self.running and self._screen.is_mounted:
            self._show(f"… {one_line(doing)}; Escape stops it")

    def stop(self) -> None:
        """Cancel the work repeatedly until it ends."""
        self._stops += 1
        self._cancel()
        if self._stopping is None:
            self._stopping = self._screen.set_interval(_STOP_SECONDS, self._cancel)


def halves(rows: str, detail: str) -> ComposeResult:
    """A list under its titles, and the selected row in full: below it, or beside it where wide."""
    with Container(id="halves"):
        with Vertical():
            yield Heads(id="heads")
            yield RowList(id=rows)
        yield LineView(id=detail)


DIALOG = "dialog"
"""The group of workers that wait for the user."""


def _done(export: Export, path: Path) -> bool:
    export.write(path)
    return True


class QuizlogScreen(Screen[ScreenResultType], Generic[ScreenResultType], inherit_bindings=False):
    """The base of all full screens."""

    SCOPE: ClassVar[str] = "app"
    """The screen's own actions in the table."""
    ALLOW_IN_MAXIMIZED_VIEW = "#status, Guide, SearchBar, KeyLine, MessageLine"
    ESCAPE_TO_MINIMIZE = False  # Escape stops what runs before
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
        &.-maximized-view > #status { dock: top; }
        & .-maximized { width: 100%; height: 1fr; max-height: 100%; }
        & #halves { layout: vertical; height: 1fr; }
        & #halves > Vertical { height: 2fr; }
        & #halves > Vertical > RowList { height: 1fr; }
        &.-wide #halves { layout: horizontal; }
        &.-wide #halves > Vertical { width: 2fr; height: 1fr; }
    }
    """

    def __init_subclass__(cls, **options: bool) -> None:
        cls.BINDINGS = screen_bindings(cls.SCOPE)
        super().__init_subclass__(**options)

    def __init__(self) -> None:
        super().__init__()
        self._status = self._doing = ""
        self.slow_work = SlowWork(self, self.show_work, self.cancel)
        """Runs slow work and shows its errors."""
        self._searched: LineView | None = None
        self.audit: Audit | None = None
        """Why nothing can be changed here; None if it can."""
        self.gate = KeyGate()
        """Stops keys that were typed before their target was painted."""

    def compose(self) -> ComposeResult:
        """Status line, the screen's own panes, the tour, search bar, keys or messages."""
        self.audit = self.program.audit or self.audit
        yield Static(id="status", markup=False)
        yield from self.content()
        if self.program.tour is not None:
            yield Guide(self.program.tour)
        yield SearchBar()
        yield KeyLine(self.label)
        yield MessageLine()

    def content(self) -> ComposeResult:
        """The screen's own panes: one, unless it has others."""
        yield LineView(id="text")

    def destinations(self) -> Iterator[Destination]:
        """Where one can go on this screen, for the palette."""
        yield from ()

    @property
    def program(self) -> Program:
        """The app."""
        assert isinstance(self.app, Program)
        return self.app

    # -- saying

    def key(self, name: str) -> str:
        """The key of an action id under the user's key map; empty if audit mode refuses it."""
        return "" if self._refuses(name) else shown(name, self.app._keymap)

    def label(self, binding: Binding) -> str:
        """What the footer calls a key; empty if audit mode refuses what it does."""
        return "" if self._refuses(binding.id) else binding.description

    def _refuses(self, name: str | None) -> bool:
        """Whether audit mode refuses what an action does."""
        action = find_action(name)
        return action is not None and action.is_refused(self.audit)

    def _is_locked(self, doing: str, kind: str = "") -> bool:
        """Whether audit mode refuses to write something; says so. See `Audit.check`."""
        try:
            if self.audit is not None:
                self.audit.check(doing, kind)
        except ReadOnlyError as error:
            complain(self, error)
            return True
        return False

    def status(self, text: str) -> None:
        """Set the line at the top; in audit mode it begins with a lock."""
        self._status = one_line(text if self.audit is None else f"[locked] {text}")
        self._draw_status()

    def show_work(self, doing: str) -> None:
        """Show in front of the status what is running; nothing is if it is empty."""
        self._doing = doing
        self._draw_status()

    def _draw_status(self) -> None:
        text = " · ".join(filter(None, (self._doing, self._status)))
        for top in self.query("#status").results(Static):  # none while the screen is closed
            top.update(text, layout=False)

    @property
    def ready(self) -> bool:
        """Whether keys may act: a dialog that a key opens is ready, or it takes long."""
        return self.slow_work.slow or not any(
            worker.node is self and worker.group == DIALOG and not worker.is_finished
            for worker in self.workers
        )

    def cancel(self) -> None:
        """Stop slow work if possible; screens with slow work override this."""

    def show_text(self, title: str, about: str, document: Document) -> None:
        """Show a text in the screen's one pane, and in the line at the top what it is."""
        self.status(about)
        pane = self.query_one(LineView)
        pane.border_title = title
        pane.show(document)
        pane.focus()

    @property
    def rows(self) -> RowList:
        """The list of a screen that has one."""
        return self.query_one(RowList)

    def show_rows(self, grid: Grid, cursor: int | None = None) -> None:
        """Show rows under their titles; the cursor stays unless one is given."""
        self.query_one(Heads).show(grid.lay_out)
        self.rows.show(grid, cursor=cursor)

    # -- asking

    async def ask(self, question: str, text: str = "") -> str | None:
        """Ask for a line of text, at first with some; None if the user goes back."""
        return await self.app.push_screen_wait(AskScreen(question, text))

    async def choose(self, question: str, lines: Sequence[Line], start: int = 0) -> int | None:
        """Ask to choose a line; its index, or None if the user goes back."""
        return await self.app.push_screen_wait(ChooseScreen(question, lines, start))

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
        """Search while the user types."""
        if self._searched is not None:
            self._searched.find(event.words)

    def on_search_bar_closed(self, event: SearchBar.Closed) -> None:
        """Return to the pane; report if nothing was found."""
        pane = self._searched
        if pane is None:
            return
        pane.focus()
        if not event.keep:
            pane.find("")
        elif not pane.find_next(1, here=True):
            self._tell_no_hit(pane)

    def _tell_no_hit(self, pane: LineView) -> None:
        """Report that a pane has no hit."""
        tell(self, "not found")

    def action_find_next(self, by: int) -> None:
        """Go to another hit."""
        pane = self.pane()
        if pane is None or pane.find_next(by):
            return
        if pane.search.active:
            self._tell_no_hit(pane)
        else:
            tell(self, "no search yet; / starts one")

    def action_filter(self) -> None:
        """Show only rows with hits, or all."""
        pane = self.pane()
        if pane is not None and not pane.toggle_filter():
            tell(self, "nothing to filter by; / starts a search")
        elif pane is not None and pane.search.nothing_left:
            self._tell_no_hit(pane)

    def action_copy(self) -> None:
        """Copy the selection, the selected row or the pane."""
        pane = self.pane()
        text = self.get_selected_text() or (pane.copy_text() if pane else "")
        if text:
            tell(self, f"{len(text):,} characters {external.copy_text(self.app, text)}")

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
            complain(self, error)

    def action_sideways(self, cells: int) -> None:
        """Scroll the pane to what is cut at its right edge, or back."""
        pane = self.pane()
        if pane is not None:
            pane.action_sideways(cells)

    # -- everywhere

    def action_whole(self) -> None:
        """Make the focused pane the whole screen, or give the others their places back."""
        if self.maximized is not None:
            self.minimize()
        elif self.focused is not None:
            self.maximize(self.focused)

    @work(group=DIALOG)
    async def action_export(self) -> None:
        """Write the screen, or the record, to a file."""
        if self._is_locked("an export; `quizlog export` makes one", "exports"):
            return
        found = self.exports()
        lines = [line(one.about, cut=True) for one in found]
        chosen = await self.choose("Export", lines)
        if chosen is None:
            return
        export = found[chosen]
        if export.report is None or await self._prepared(export.report):
            await self._written(export)

    async def _prepared(self, report: ReportExport) -> bool:
        """Prepare a document and ask whether to redact it; whether to go on and write it."""
        self.gate.shut()  # what is typed meanwhile is not for this screen
        found = await self.slow_work.run(report.prepare, "running all branches")
        self.gate.open()
        if not found:
            return found is not None
        redact = await self.app.push_screen_wait(PrivateScreen(found))
        report.redact = bool(redact)
        return redact is not None

    async def _written(self, export: Export) -> None:
        """Ask for a file name until the file is written or the user cancels."""
        name = export.name
        while wanted := await self.ask("Write to which file?", name):
            name, path = wanted, typed_path(wanted)
            if not await self._may_replace(path):
                continue
            if await self.slow_work.run(partial(_done, export, path), "writing"):
                tell(self, f"written to {path.absolute()}")
                return

    async def _may_replace(self, path: Path) -> bool:
        """Whether a file may be written: it is new, or the user agrees to replace it."""
        if not os.path.lexists(path):
            return True
        lines = [line("choose another name", cut=True), line("replace it", cut=True)]
        return await self.choose(f"{path} exists already.", lines) == 1

    def exports(self) -> list[Export]:
        """The exports that this screen offers."""
        return pictures(self.app)

    def action_back(self) -> None:
        """Stop running work, else end a filter or search, else leave the screen."""
        pane = self.pane()
        if self.slow_work.running:
            self.slow_work.stop()
        elif self.maximized is not None:
            self.minimize()
        elif pane is not None and pane.search.active:
            pane.find("")
        else:
            self._back_out()

    def _back_out(self) -> None:
        """Escape without running work or search: go back to the previous screen."""
        self.leave()

    def action_leave(self) -> None:
        """Go back to the previous screen, even during a search."""
        self.leave()

    def leave(self) -> None:
        """Go back to the previous screen."""
        self.dismiss(None)
