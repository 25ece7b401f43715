"""The screen of a file of episodes: a list, and the selected one in full. Changes nothing.

The file is indexed in a thread, a short time at once; an episode is read when it is selected.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_left
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Vertical
from textual.worker import Worker

from ...episodes.read.facts import facts_of
from ...episodes.read.files import LineError
from ...episodes.read.index import STATES, USUAL, EpisodeFile, episode_files
from ...errors import QuizlogError
from ...session.audit import Audit, may_read, readable_path
from ..draw.episodes import (
    clipped,
    count_words,
    episode_grid,
    episode_layout,
    episode_lines,
    no_episode_lines,
)
from ..keys.keymap import screen_bindings
from ..toasts import complain, tell, warn
from ..widgets.columns import Heads
from ..widgets.documents import Line, Paragraphs, line
from ..widgets.line_view import LineView
from ..widgets.row_list import RowList
from .base import DIALOG, QuizlogScreen
from .dialogs import AskScreen, ChooseScreen

LONG = 2**20
"""Lines of more bytes are read only on Enter, because they take longer than a key press."""

_ONLY_READ = Audit("a file of episodes is only read", frozenset({"exports"}))


class EpisodesScreen(QuizlogScreen[None]):
    """Shows a file of episodes.

    Args:
        file: The file; the screen closes it.
    """

    SCOPE = "episodes"
    BINDINGS: ClassVar[list[BindingType]] = screen_bindings("episodes")
    DEFAULT_CSS = """
    EpisodesScreen {
        & #halves { layout: vertical; height: 1fr; }
        & #above { height: 2fr; }
        & #episodes { height: 1fr; }
        & #episode { height: 3fr; }
        &.-wide #halves { layout: horizontal; }
        &.-wide #above { width: 2fr; height: 1fr; }
        &.-wide #episode { width: 3fr; height: 1fr; }
        &.-alone #above { display: none; }
    }
    """

    def __init__(self, file: EpisodeFile) -> None:
        super().__init__()
        self._file = file
        self.audit = _ONLY_READ
        self._state = ""
        self._shown: Sequence[int] = range(0)
        self._drawn: int | None = None
        self._reading: Worker[None] | None = None
        self._stopped = False

    def content(self) -> ComposeResult:
        """Titles, the list, and the selected episode."""
        with Container(id="halves"):
            with Vertical(id="above"):
                yield Heads(id="heads")
                yield RowList(id="episodes")
            yield LineView(id="episode")

    def on_mount(self) -> None:
        """Start reading."""
        self.query_one(Heads).show(episode_layout)
        self._list.focus()
        self._reading = self._read()

    def on_unmount(self) -> None:
        """Close the file."""
        self._file.close()

    @property
    def _list(self) -> RowList:
        return self.query_one("#episodes", RowList)

    @property
    def _pane(self) -> LineView:
        return self.query_one("#episode", LineView)

    # -- reading

    @property
    def reading(self) -> bool:
        """Whether the file is still being read."""
        return self._reading is not None and not self._reading.is_finished

    @work(exclusive=True, group="read")
    async def _read(self) -> None:
        """Index the rest of the lines, and redraw from time to time."""
        more = True
        try:
            while more:
                more = await asyncio.to_thread(self._file.read_some)
                self.draw()
        except QuizlogError as error:
            complain(self, error)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Draw once more when reading ends."""
        if event.worker is self._reading and event.worker.is_finished and self.is_mounted:
            self.draw()

    # -- drawing

    def draw(self) -> None:
        """Draw the list; the cursor stays on its episode."""
        marked = self.marked
        file = self._file
        self._shown = file.lines_in(self._state) if self._state else range(len(file))
        at = _place(self._shown, marked)
        self._list.show(episode_grid(file, self._shown), cursor=at)
        self._draw_episode()
        self.status(self._status_text())

    def _status_text(self) -> str:
        words = [count_words(self._file, self._state)]
        if self.reading:
            share = 100 * self._file.done // max(1, self._file.size)
            words.append(f"reading, {share}%; Escape stops")
        elif self._stopped:
            words.append("stopped; R reads the rest")
        return " · ".join([*words, self._file.path.name])

    @property
    def marked(self) -> int | None:
        """The marked episode, as an index of the file's."""
        index = self._list.index
        return self._shown[index] if index is not None and index < len(self._shown) else None

    def _draw_episode(self, *, chosen: bool = False) -> None:
        """Show the selected episode, unless it is already shown."""
        marked, pane = self.marked, self._pane
        if marked is None:
            pane.border_title = "Episode"
            pane.show(Paragraphs(no_episode_lines(self._file, self._state)))
        elif marked != self._drawn or chosen:
            pane.border_title = f"Line {self._file.number(marked)}"
            pane.show(Paragraphs(self._lines_of(marked, chosen=chosen)))
            pane.scroll_home(animate=False)
        self._drawn = marked

    def _lines_of(self, index: int, *, chosen: bool) -> list[Line]:
        length = self._file.length(index)
        if length > LONG and not chosen:
            size = f"This line holds {length / 2**20:,.1f} MB."
            return [line((size, "head")), line(""), line(("l", "answer"), " shows it.")]
        text = self._file.line(index)
        try:
            return episode_lines(facts_of(text))
        except LineError as error:
            told = clipped(text.decode("utf-8", "replace"))
            return [line((f"This line {error}.", "error")), line(""), line(told)]

    def on_row_list_moved(self, event: RowList.Moved) -> None:
        """Show the newly selected episode."""
        self._draw_episode()

    # -- keys

    def on_row_list_chosen(self, event: RowList.Chosen) -> None:
        """Show only the chosen episode."""
        self.action_read()

    def action_read(self) -> None:
        """Show only the selected episode."""
        if self.marked is not None:
            self._draw_episode(chosen=self._file.length(self.marked) > LONG)
            self.add_class("-alone")
            self._pane.focus()

    def action_list(self) -> None:
        """Show the list again."""
        self.remove_class("-alone")
        self._list.focus()

    def action_episode(self, by: int) -> None:
        """Go to the next (1) or previous (-1) episode."""
        before = self._list.cursor
        self._list.action_move(by)
        if self._list.cursor == before:
            tell(self, "no more episodes that way")

    def action_state(self) -> None:
        """Filter by the next state; after the last one, show all."""
        cycle = ["", *STATES]
        self._state = cycle[(cycle.index(self._state) + 1) % len(cycle)]
        self.draw()

    @work(group=DIALOG)
    async def action_jump(self) -> None:
        """Go to a line of the file."""
        last = self._file.number(len(self._file) - 1) if len(self._file) else 0
        wanted = await self.app.push_screen_wait(AskScreen(f"Go to which line, 1 to {last}?"))
        if wanted is None:
            return
        if not wanted.strip().isdecimal():
            warn(self, f"{wanted!r} is not a line number")
            return
        at = bisect_left(self._shown, int(wanted[:18]), key=self._file.number)
        if at == len(self._shown):
            warn(self, f"line {wanted} is not among those shown")
            return
        self._list.move(at)

    def action_reload(self) -> None:
        """Read the file again, or continue stopped reading."""
        if self.reading:
            return
        if not self._stopped:
            try:
                fresh = EpisodeFile(self._file.path)
            except QuizlogError as error:
                complain(self, error)
                return
            self._file.close()
            self._file, self._drawn = fresh, None
        self._stopped = False
        self._reading = self._read()

    def action_back(self) -> None:
        """Escape: show the list again, else stop reading, else leave."""
        pane = self.pane()
        if pane is not None and pane.search.active:
            super().action_back()
        elif self.has_class("-alone"):
            self.action_list()
        elif self._reading is not None and self.reading:
            self._stopped = True
            self._reading.cancel()
        else:
            super().action_back()


def _place(shown: Sequence[int], marked: int | None) -> int:
    """The index of an episode among those shown, or of the next one."""
    return 0 if marked is None else bisect_left(shown, marked)


async def choose_file(
    screen: QuizlogScreen[Any], folder: Path, audit: Audit | None
) -> EpisodeFile | None:
    """Ask for a file below a folder, or another; None if none was chosen or it is unreadable."""
    every = await screen.slow_work.run(lambda: episode_files(folder), "looking for episodes")
    found = [path for path in every or [] if may_read(audit, path)]
    chosen: int | None = len(found)
    if found:
        names = [line(str(path.relative_to(folder)), cut=True) for path in found]
        lines = [*names, line("  another file...", cut=True)]
        question = "Open which file of episodes?"
        chosen = await screen.app.push_screen_wait(ChooseScreen(question, lines))
    if chosen is None:
        return None
    if chosen == len(found):
        return await _ask_for_file(screen, audit)
    path = found[chosen]
    return await screen.slow_work.run(lambda: EpisodeFile(path), "opening")


async def _ask_for_file(screen: QuizlogScreen[Any], audit: Audit | None) -> EpisodeFile | None:
    ask = AskScreen("Open which file of episodes?", USUAL)
    wanted = (await screen.app.push_screen_wait(ask) or "").strip()
    if not wanted:
        return None
    return await screen.slow_work.run(lambda: EpisodeFile(readable_path(audit, wanted)), "opening")
