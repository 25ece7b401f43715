"""The screen of a file of episodes: a list, and the selected one in full. Changes nothing.

The file is indexed in a thread, a short time at once; an episode is read when it is selected. In
full are shown: why it is verified or not, question, runs, hooks and conversation.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_left
from collections.abc import Iterator, Sequence, Set
from pathlib import Path
from typing import Any

from textual import on, work
from textual.app import ComposeResult
from textual.worker import Worker

from ...episodes.read.facts import EpisodeFacts, EpisodeRun, HookFacts, facts_of
from ...episodes.read.files import LineError
from ...episodes.read.index import (
    BROKEN,
    STATES,
    UNVERIFIED,
    USUAL,
    VERIFIED,
    EpisodeFile,
    Head,
    episode_files,
)
from ...errors import QuizlogError
from ...session.audit import Audit, may_read, readable_path
from ...text import plural
from ..draw.status import score_text
from ..toasts import complain, tell, warn
from ..widgets.columns import Cell, Grid, Layout, cells_line, layout
from ..widgets.documents import Line, Paragraphs, line, terminal_pieces
from ..widgets.line_view import LineView
from ..widgets.row_list import RowList
from .base import DIALOG, QuizlogScreen, halves

_MARKS = {VERIFIED: ("✓", "good"), UNVERIFIED: ("✗", "warn"), BROKEN: ("!", "error")}
"""A sign for each state, and its style."""
_COLUMNS = {"line": 6, "ok": 2, "agree": 6, "steps": 5, "difficulty": 10, "question": 200}
_LEAST = {"question": 20, "steps": 5, "difficulty": 10}
MOST = 4000
"""Maximum characters shown of one text."""
_SHORT = 60
"""Maximum characters of an answer in a list."""
WIDEST = 12
"""Maximum number of parallel lines; a wider graph is described in words only."""

_Edges = Sequence[tuple[str, Sequence[str]]]
"""Each hook's name and the names that it depends on, in order."""


def _episode_grid(file: EpisodeFile, shown: Sequence[int]) -> Grid:
    """A row for each of some lines of a file."""

    def make(index: int, columns: Layout) -> Line:
        return _list_row(file.number(shown[index]), file.head(shown[index]), columns)

    def text(index: int) -> str:
        return file.searched(shown[index])

    return Grid(len(shown), lambda width: layout(width, _COLUMNS, _LEAST), make, text)


def _list_row(number: int, head: Head, columns: Layout) -> Line:
    style = "error" if head.state == BROKEN else ""
    cells: dict[str, Cell] = {
        "line": (f"{number:>{columns['line']}}", "dim"),
        "ok": _MARKS[head.state],
        "agree": head.agreed,
        "steps": "" if head.steps is None else f"{head.steps:>5}",
        "difficulty": (head.difficulty, "dim"),
        "question": (head.text, style),
    }
    return cells_line(columns, cells)


def _count_words(file: EpisodeFile, state: str) -> str:
    """How many episodes there are, and how many of them are verified or shown."""
    every = f"{len(file):,} episode{'' if len(file) == 1 else 's'}"
    if state:
        return f"{file.count(state):,} of {every}: {state}"
    broken = file.count(BROKEN)
    words = [every, f"{file.count(VERIFIED):,} {VERIFIED}"]
    return ", ".join([*words, f"{broken:,} {BROKEN}"] if broken else words)


def _no_episode_lines(file: EpisodeFile, state: str) -> list[Line]:
    """The text shown if no episode is selected."""
    if state and len(file):
        return [
            line((f"None of {plural(len(file), 'episode')} is {state}.", "head")),
            line(""),
            line(("f", "answer"), " shows others, or all."),
        ]
    return [
        line(("There are no episodes in this file.", "head")),
        line(""),
        line("In a shell: quizlog episodes build RECORD... -o FILE"),
    ]


def episode_lines(episode: EpisodeFacts) -> list[Line]:
    """All of an episode."""
    parts = (_verdict, _question, _runs, _answers, _hooks, _talk)
    return [drawn for part in parts for drawn in (*part(episode), line(""))][:-1]


def clipped(text: str, most: int = MOST) -> str:
    """A text cut to a length, followed by the number of characters left out."""
    return text if len(text) <= most else f"{text[:most]}… ({len(text) - most:,} more)"


def _head(text: str) -> Line:
    return line((text, "head"))


def _verdict(episode: EpisodeFacts) -> Iterator[Line]:
    said = ("✓ verified", "good") if episode.verified else ("✗ not verified", "warn")
    yield line(said)
    for check in episode.checks:
        mark = ("✓ ", "good") if check.holds else ("✗ ", "error")
        yield line("  ", mark, check.text)
    if episode.verified != episode.is_confirmed:
        told = "says that it is verified" if episode.verified else "says that it is not verified"
        yield line(("! ", "error"), f"the line {told}, but its runs do not confirm that")


def _question(episode: EpisodeFacts) -> Iterator[Line]:
    yield _head("Question")
    asked = terminal_pieces(clipped(episode.question), "", raw=False)
    yield line(*(asked or [("not given", "dim")]))
    if episode.hint:
        hint = terminal_pieces(clipped(episode.hint), "", raw=False)
        yield line(("hint, shown only to the teacher: ", "dim"), *hint)
    yield line((clipped(episode.about), "dim"))


def _runs(episode: EpisodeFacts) -> Iterator[Line]:
    yield _head(f"Gold, and {plural(len(episode.others), 'consistency run')}")
    yield line(("★ ", "answer"), *_run_pieces(episode.gold))
    for run in episode.others:
        sign = ("= ", "good") if run.agrees else ("≠ ", "warn")
        yield line(sign, *_run_pieces(run), (_parting(run, episode.gold), "dim"))


def _run_pieces(run: EpisodeRun) -> tuple[tuple[str, str], ...]:
    answer = "no answer" if run.answer is None else clipped(run.answer, _SHORT)
    ended = "" if run.success else f" ✗ not finished{score_text(run.score)}"
    style = "dim" if run.answer is None else "answer"
    return (clipped(run.name, _SHORT), "prompt"), ("  ", ""), (answer, style), (ended, "error")


def _parting(run: EpisodeRun, gold: EpisodeRun) -> str:
    """The step at which a run parts from the gold run."""
    at = run.parts_from(gold)
    if run.inputs == gold.inputs:
        return "  the same answers" if run.inputs else ""
    if at == len(run.inputs):
        return f"  ends after {plural(at, 'answer')}"
    return f"  parts at step {at}"


def _answers(episode: EpisodeFacts) -> Iterator[Line]:
    """Each gold answer with the runs that part there."""
    gold = episode.gold
    yield _head("Answers, and the runs that part from the gold run")
    if not gold.inputs:
        yield line(("not given", "dim"))
    partings = [(run.parts_from(gold), run) for run in episode.others]
    for at, answer in enumerate(gold.inputs):
        same = sum(1 for there, _ in partings if there > at)
        told = f"  {same} of {len(partings)} the same" if partings else ""
        yield line((f"{at:>4} ", "dim"), (clipped(answer, _SHORT), "answer"), (told, "dim"))
        for there, run in partings:
            if there == at < len(run.inputs):
                name, other = (clipped(text, _SHORT) for text in (run.name, run.inputs[at]))
                yield line(("     ≠ ", "warn"), other, (f"  {name}", "dim"))


def _hooks(episode: EpisodeFacts) -> Iterator[Line]:
    hooks = episode.gold.hooks
    yield _head("Hooks and what each depends on")
    if not hooks:
        yield line(("none", "dim"))
    known: list[str] = []
    drawn = hook_graph([(hook.name, hook.depends_on) for hook in hooks])
    for hook, gutter in zip(hooks, drawn, strict=True):
        yield line((f"{gutter} ", "prompt"), *_hook_pieces(hook, known), cut=True)
        known.append(hook.name)


def _hook_pieces(hook: HookFacts, known: Sequence[str]) -> Iterator[tuple[str, str]]:
    """A hook's name, value, and dependencies unless that is only the previous hook."""
    yield clipped(hook.name, _SHORT), "prompt"
    value = hook.value_hash if hook.value is None else hook.value
    yield f" = {clipped(value, _SHORT)}", "answer"
    if list(hook.depends_on) != list(known[-1:]):
        needed = (one if one in known else f"{one} (unknown)" for one in hook.depends_on)
        yield f"  ← {clipped(', '.join(needed) or 'nothing', _SHORT)}", "dim"
    yield f"  {clipped(hook.code_line.strip(), 200)}", "dim"


def _talk(episode: EpisodeFacts) -> Iterator[Line]:
    yield _head("Training conversation")
    if episode.system_prompt:
        said = terminal_pieces(clipped(episode.system_prompt), "", raw=False)
        yield line(("system ", "dim"), *said)
    styles = {"user": "prompt", "assistant": "answer"}
    for role, content in episode.messages:
        said = terminal_pieces(clipped(content), styles.get(role, ""), raw=False)
        yield line((f"{clipped(role, _SHORT)} ", "dim"), *said)


def hook_graph(hooks: _Edges) -> list[str]:
    """The drawing to the left of each hook, all of the same width; empty if the graph is too wide.

    A name shared by several hooks means the last of them. A name not defined yet is ignored.
    """
    drawn: list[str] = []
    for row in _rows(_needed(hooks)):
        drawn.append(row)
        if len(row) > 2 * WIDEST:
            return [""] * len(hooks)
    width = max(map(len, drawn), default=0)
    return [row.ljust(width) for row in drawn]


def _needed(hooks: _Edges) -> list[set[int]]:
    """The indexes of the hooks that each depends on."""
    known: dict[str, int] = {}
    found = []
    for index, (name, depends_on) in enumerate(hooks):
        found.append({known[each] for each in depends_on if each in known})
        known[name] = index
    return found


def _rows(needed: Sequence[Set[int]]) -> Iterator[str]:
    uses = ((source, index) for index, sources in enumerate(needed) for source in sources)
    last_use: dict[int | None, int] = dict(uses)
    lanes: list[int | None] = []  # the hook whose line runs in each column
    above = ""
    for index, sources in enumerate(needed):
        joined = [at for at, source in enumerate(lanes) if source in sources]
        ending = [at for at in joined if last_use[lanes[at]] == index]
        own = ending[0] if ending else _free(lanes, above if sources else "")
        lanes += [None] * (own + 1 - len(lanes))
        row = _row(lanes, own, joined, ending, "●" if sources else "○")
        for at in ending:
            lanes[at] = None
        lanes[own] = index if index in last_use else None
        while lanes and lanes[-1] is None:
            lanes.pop()
        above = row
        yield row.rstrip()


def _free(lanes: Sequence[int | None], above: str) -> int:
    """A column without a line, and with nothing above it that a hook would seem to come from."""
    at = 0
    while (at < len(lanes) and lanes[at] is not None) or above[2 * at : 2 * at + 1].strip():
        at += 1
    return at


def _row(
    lanes: Sequence[int | None], own: int, joined: Sequence[int], ending: Sequence[int], sign: str
) -> str:
    """One row: lines that pass, those that are joined, and between them and the hook a line."""
    first, last = min([own, *joined]), max([own, *joined])
    cells = []
    for at, source in enumerate(lanes):
        inside = first < at < last
        if at == own:
            cell = sign
        elif at in ending:
            cell = "┴" if inside else "╰╯"[at > own]
        elif at in joined:
            cell = "┼" if inside else "├┤"[at > own]
        elif source is None:
            cell = "─" if inside else " "
        else:
            cell = "┼" if inside else "│"
        cells.append(cell + ("─" if first <= at < last else " "))
    return "".join(cells)


_LONG = 2**20
"""Lines of more bytes are read only on Enter, because they take longer than a key press."""

_ONLY_READ = Audit("a file of episodes is only read", frozenset({"exports"}))


class EpisodesScreen(QuizlogScreen[None]):
    """Shows a file of episodes, and closes it."""

    SCOPE = "episodes"
    DEFAULT_CSS = """
    EpisodesScreen {
        & #episode { height: 3fr; }
        &.-wide #episode { width: 3fr; height: 1fr; }
        &.-alone #halves > Vertical { display: none; }
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
        yield from halves("episodes", "episode")

    def on_mount(self) -> None:
        """Start reading."""
        self.rows.focus()
        self._reading = self._read()

    def on_unmount(self) -> None:
        """Close the file."""
        self._file.close()

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
        at = 0 if marked is None else bisect_left(self._shown, marked)
        self.show_rows(_episode_grid(file, self._shown), at)
        self._draw_episode()
        self.status(self._status_text())

    def _status_text(self) -> str:
        words = [_count_words(self._file, self._state)]
        if self.reading:
            share = 100 * self._file.done // max(1, self._file.size)
            words.append(f"reading, {share}%; Escape stops")
        elif self._stopped:
            words.append("stopped; R reads the rest")
        return " · ".join([*words, self._file.path.name])

    @property
    def marked(self) -> int | None:
        """The marked episode, as an index of the file's."""
        index = self.rows.index
        return self._shown[index] if index is not None and index < len(self._shown) else None

    def _draw_episode(self, *, chosen: bool = False) -> None:
        """Show the selected episode, unless it is already shown."""
        marked, pane = self.marked, self._pane
        if marked is None:
            pane.border_title = "Episode"
            pane.show(Paragraphs(_no_episode_lines(self._file, self._state)))
        elif marked != self._drawn or chosen:
            pane.border_title = f"Line {self._file.number(marked)}"
            pane.show(Paragraphs(self._lines_of(marked, chosen=chosen)))
            pane.scroll_home(animate=False)
        self._drawn = marked

    def _lines_of(self, index: int, *, chosen: bool) -> list[Line]:
        length = self._file.length(index)
        if length > _LONG and not chosen:
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

    @on(RowList.Chosen)
    def action_read(self) -> None:
        """Show only the selected episode."""
        if self.marked is not None:
            self._draw_episode(chosen=self._file.length(self.marked) > _LONG)
            self.add_class("-alone")
            self._pane.focus()

    def action_list(self) -> None:
        """Show the list again."""
        self.remove_class("-alone")
        self.rows.focus()

    def action_episode(self, by: int) -> None:
        """Go to the next (1) or previous (-1) episode."""
        before = self.rows.cursor
        self.rows.action_move(by)
        if self.rows.cursor == before:
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
        wanted = await self.ask(f"Go to which line, 1 to {last}?")
        if wanted is None:
            return
        if not wanted.strip().isdecimal():
            warn(self, f"{wanted!r} is not a line number")
            return
        at = bisect_left(self._shown, int(wanted[:18]), key=self._file.number)
        if at == len(self._shown):
            warn(self, f"line {wanted} is not among those shown")
            return
        self.rows.move(at)

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
        chosen = await screen.choose("Open which file of episodes?", lines)
    if chosen is None:
        return None
    if chosen == len(found):
        return await _ask_for_file(screen, audit)
    path = found[chosen]
    return await screen.slow_work.run(lambda: EpisodeFile(path), "opening")


async def _ask_for_file(screen: QuizlogScreen[Any], audit: Audit | None) -> EpisodeFile | None:
    wanted = (await screen.ask("Open which file of episodes?", USUAL) or "").strip()
    if not wanted:
        return None
    return await screen.slow_work.run(lambda: EpisodeFile(readable_path(audit, wanted)), "opening")
