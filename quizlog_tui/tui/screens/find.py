"""Finds words in a whole record, or in all records: a list of hits that grows while one types.

The texts searched are those of an open record's runs, or of many record files; threads replay and
read them. The list has a row for each hit; below it is the marked one with the text around it.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from time import monotonic

from textual import on, work
from textual.app import ComposeResult
from textual.widgets import Input
from textual.worker import Worker

from ...errors import LimitError, QuizlogError, RecordError, UsageError
from ...record.store import RecordFile
from ...replay.replayer import Replayer
from ...replay.transcript import Transcript
from ...session.find import (
    UNRECORDED,
    Hit,
    Passage,
    excerpt,
    hits_in,
    match_limit,
    passages,
    recorded_passages,
    search_pattern,
)
from ...session.session import Session
from ...text import plural
from ..messages import ChosenHit, Found, Query, chosen_hit
from ..widgets.columns import GAP, Cell, Grid, Heads, Layout, cells_line, layout, widest
from ..widgets.documents import Line, Paragraphs, line
from ..widgets.line_view import LineView
from ..widgets.row_list import RowList
from ..widgets.text_fields import LineField
from .base import QuizlogScreen, SlowWork

_MEASURED = 200
"""Hits that columns are measured by; what is wider in others is cut."""
_BEFORE, _AFTER = 3, 20
"""Lines shown before and after a hit."""
_LONGEST = 2_000
"""Characters of a line that are shown around a hit."""


def _hit_layout(found: Sequence[Found], folder: Path | None) -> Callable[[int], Layout]:
    """The columns for a width; the record has one where those of a folder are searched."""
    some = found[:_MEASURED]
    record = max(6, widest(_name(one.record, folder) for one in some)) if folder else 0
    branch = max(6, min(16, widest(one.hit.passage.branch for one in some)))
    columns = {"record": record, "step": 5, "branch": branch, "in": 8, "text": 20}
    if not folder:
        del columns["record"]
    least = {"text": 20, "branch": 6} | ({"record": 12} if folder else {})

    def lay_out(width: int) -> Layout:
        shown = layout(width, columns, least)
        spare = width - sum(shown.values()) - GAP * (len(shown) - 1)
        return shown | {"text": shown["text"] + max(0, spare)}

    return lay_out


def _hit_grid(found: Sequence[Found], folder: Path | None) -> Grid:
    """A row for each hit."""

    def make(index: int, columns: Layout) -> Line:
        record, hit = found[index]
        passage = hit.passage
        cells: dict[str, Cell] = {
            "record": _name(record, folder),
            "step": f"{passage.at:5}",
            "branch": (passage.branch, "dim"),
            "in": (passage.part, "dim"),
        }
        head = {name: width for name, width in columns.items() if name != "text"}
        pieces = cells_line(head, cells, ends=["record"]).pieces
        return line(*pieces, *_pieces(hit, columns["text"]), cut=True)

    def text(index: int) -> str:
        return found[index].hit.line

    return Grid(len(found), _hit_layout(found, folder), make, text)


def _name(record: Path, folder: Path | None) -> str:
    return os.path.relpath(record, folder) if folder else record.name


def _pieces(hit: Hit, most: int) -> list[tuple[str, str]]:
    return [(text, "head" if matches else "") for text, matches in excerpt(hit, most)]


def _hit_lines(hit: Hit) -> list[Line]:
    """A hit with the lines before and after it in its text."""
    text, passage = hit.passage.text, hit.passage
    before = text[: hit.start].split("\n")[:-1][-_BEFORE:]
    rest = text[hit.end :].removeprefix("\n").removesuffix("\n")
    after = rest.split("\n")[:_AFTER] if rest else []
    return [
        line((f"step {passage.at} of {passage.branch}, {passage.part}", "dim")),
        *(line(each[:_LONGEST]) for each in before),
        line(*_pieces(hit, _LONGEST)),
        *(line(each[:_LONGEST]) for each in after),
    ]


_READ_SECONDS = 0.1
"""Seconds of reading between two searches of what was read."""
_MOST = 10_000
"""Hits that are listed; more are of no use to anybody."""
_SLICE = 0.02
"""Seconds of searching before keys and painting have their turn."""


_Batch = Sequence[tuple[Path, Sequence[Passage]]]
"""Some records, each with its texts."""


class _Texts:
    """What is searched."""

    folder: Path | None = None
    """The folder whose records are searched; None for a single record."""

    async def load(self, work: SlowWork) -> None:
        """Get what takes long and is needed only once."""

    def cancel(self) -> None:
        """Stop loading."""

    def batches(self) -> AsyncIterator[_Batch]:
        """All texts, some records at a time."""
        raise NotImplementedError


class RunTexts(_Texts):
    """The texts of all branches of an open record; those of `whole`, the active one, at once."""

    def __init__(self, session: Session, replayer: Replayer, whole: Transcript) -> None:
        self._session = session
        self._replayer = replayer
        self._texts = passages(session.record, {session.record.branch: whole})

    async def load(self, work: SlowWork) -> None:
        """Run the other branches; those that cannot be run are left out."""
        found = await work.run(self._all, "running all branches")
        self._texts = self._texts if found is None else found

    def _all(self) -> list[Passage]:
        session = self._session
        if session.missing is not None:
            return recorded_passages(session.record)
        runs = session.transcripts_of([branch.name for branch in session.branches])
        good = {name: run for name, run in runs if not isinstance(run, QuizlogError)}
        return passages(session.record, good)

    def cancel(self) -> None:
        """Stop running them."""
        self._replayer.cancel()

    async def batches(self) -> AsyncIterator[_Batch]:
        """The texts, all at once."""
        yield [(self._session.path, self._texts)]


class LibraryTexts(_Texts):
    """The texts of the records in a folder, as their files tell them; read for each search."""

    def __init__(self, folder: Path, records: Sequence[Path]) -> None:
        self.folder = folder
        self._records = records

    async def batches(self) -> AsyncIterator[_Batch]:
        """The texts of some records after the other."""
        records = iter(self._records)
        while some := await asyncio.to_thread(_read_some, records):
            yield some


def _read_some(records: Iterator[Path]) -> _Batch:
    """Read records for a moment; one that cannot be read has no texts. Empty at the end."""
    start, found = monotonic(), []
    for path in records:
        try:
            texts = recorded_passages(RecordFile(path).read())
        except RecordError:
            texts = []
        found.append((path, texts))
        if monotonic() - start > _READ_SECONDS:
            break
    return found


class FindScreen(QuizlogScreen[ChosenHit | None]):
    """Finds in some texts, at first for a query; dismisses with the hit to go to, or None."""

    SCOPE = "find"
    DEFAULT_CSS = """
    FindScreen {
        & #words { border: none; height: 1; padding: 0 1; background: $panel; }
        & #words:focus { border: none; background: $boost; }
        & #hits { height: 2fr; }
        & #context { height: 1fr; min-height: 5; }
        &.-short #context { display: none; }
    }
    """

    def __init__(self, texts: _Texts, query: Query) -> None:
        super().__init__()
        self._texts = texts
        self._query = query
        self._found: list[Found] = []
        self._records = 0
        self._searching: Worker[None] | None = None

    def content(self) -> ComposeResult:
        """What to find, the hits, and the marked one with the text around it."""
        words = LineField(self._query.words, id="words", select_on_focus=True)
        words.cursor_blink = False
        yield words
        yield Heads(id="heads")
        yield RowList(id="hits")
        yield LineView(id="context")

    def on_mount(self) -> None:
        """Type at once, while what takes long is loaded."""
        self.rows.border_title = "Found"
        self.query_one("#context").border_title = "Around it"
        self.query_one("#words").focus()
        self._search_anew()
        self._load()

    @work(group="load")
    async def _load(self) -> None:
        await self._texts.load(self.slow_work)
        self._search_anew()

    def cancel(self) -> None:
        """Stop loading."""
        self._texts.cancel()

    # -- searching

    def _search_anew(self) -> None:
        """Search for what stands in the line now."""
        words = self.query_one("#words", Input)
        self._query = Query(words.value, self._query.regex)
        kind = "regular expression" if self._query.regex else "words"
        limit = f", but not in {UNRECORDED}"
        where = limit if self._texts.folder else " in all branches, notes and errors"
        words.placeholder = f"{kind} to find{where}"
        self._found, self._records = [], 0
        try:
            pattern = search_pattern(words.value, regex=self._query.regex)
        except UsageError as error:
            self._stop_searching()
            self._draw(error.message)
        else:
            self._searching = self._search(pattern)

    @work(group="search", exclusive=True)
    async def _search(self, pattern: re.Pattern[str]) -> None:
        """Look through the texts, a little at a time."""
        self._draw("")
        if not self._query.words:
            return
        pause = monotonic() + _SLICE
        async for some in self._texts.batches():
            for record, texts in some:
                self._records += 1
                for passage in texts:
                    try:
                        with match_limit(on=self._query.regex):
                            hits = list(islice(hits_in(pattern, passage), self._room))
                    except LimitError as error:
                        self._draw(error.message)
                        return
                    self._found += [Found(record, hit) for hit in hits]
                    if monotonic() > pause:
                        self._draw("searching; Escape stops")
                        await asyncio.sleep(0)
                        pause = monotonic() + _SLICE
            if not self._room:
                break
        limit = "" if self._found or not self._texts.folder else f"not in {UNRECORDED}"
        self._draw(limit if self._room else "the rest is not listed")

    @property
    def _room(self) -> int:
        """How many more hits may be listed."""
        return _MOST - len(self._found)

    def _stop_searching(self) -> None:
        if self._searching is not None:
            self._searching.cancel()

    # -- drawing

    def _draw(self, remark: str) -> None:
        """Put what is found so far on the screen."""
        self.show_rows(_hit_grid(self._found, self._texts.folder))
        self._draw_context()
        count = f"{len(self._found):,} found" if self._query.words else "type what to find"
        kind = "regular expression" if self._query.regex else "words"
        records = plural(self._records, "record") if self._texts.folder else ""
        self.status(" · ".join(filter(None, (count, remark, records, kind))))

    @property
    def _marked(self) -> int | None:
        """The marked hit, as an index of those found."""
        index = self.rows.index
        return index if index is not None and index < len(self._found) else None

    @on(RowList.Moved)
    def _draw_context(self) -> None:
        marked = self._marked
        lines = [] if marked is None else _hit_lines(self._found[marked].hit)
        self.query_one("#context", LineView).show(Paragraphs(lines))

    # -- events

    def on_input_changed(self, event: Input.Changed) -> None:
        """Search while one types."""
        if event.input.id == "words" and event.value != self._query.words:
            self._search_anew()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """On to the list."""
        if event.input.id == "words":
            self.action_list()

    # -- keys

    def action_find(self) -> None:
        """Type other words."""
        self.query_one("#words").focus()

    def action_list(self) -> None:
        """Go to the list, if there is anything in it."""
        if self._found:
            self.rows.focus()

    def action_find_next(self, by: int) -> None:
        """Mark the next hit, or the one before."""
        self.rows.focus()
        self.rows.action_move(by)

    def action_regex(self) -> None:
        """Take the words as a regular expression, or as they are again."""
        self._query = Query(self._query.words, not self._query.regex)
        self._search_anew()

    @on(RowList.Chosen)
    def action_go(self) -> None:
        """Go to the marked hit."""
        if self._marked is not None:
            self.dismiss(chosen_hit(self._query, self._found, self._marked))

    def action_back(self) -> None:
        """Escape: stop searching, else as everywhere."""
        searching = self._searching is not None and not self._searching.is_finished
        if searching and not self.slow_work.running:
            self._stop_searching()
            self._draw("stopped")
        else:
            super().action_back()
