"""The records of a library: reads them, detects changes, filters and sorts them. Uses no widgets.

Plain functions read files and may run in threads. The `Shelf` holds the results.
"""

from __future__ import annotations

import operator
import re
import time
from collections.abc import Callable, Iterable, Iterator, Set
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from ..errors import ScriptError, UsageError
from ..files.regular_file import Stamps, stamps
from ..record.store import SUFFIXES
from ..record.summary import Preview, Summary, preview, summary
from ..replay.script.granted import with_grants
from ..replay.script.source import read_script_of
from .draw.library import ORDERS, STATUSES, arranged

_SCORE = re.compile(r"score(<=|>=|=|<|>)([0-9]*\.?[0-9]+)")
_COMPARED: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
    ">=": operator.ge,
    ">": operator.gt,
}
_NAMES = ("script", "author", "verdict")
HOW = "Show which? score>0.5 script:NAME author:NAME verdict:wrong, and words"
"""The question for a filter, which says how one is written."""


@dataclass(frozen=True)
class RecordFilter:
    """What a record must have to be shown; empty parts ask for nothing."""

    text: str = ""
    """The filter as it was typed."""
    scores: tuple[tuple[str, float], ...] = ()
    """Comparisons that its score must pass; a record without a score passes none."""
    script: str = ""
    author: str = ""
    """Part of the name of somebody who made a note."""
    verdict: str = ""
    words: tuple[str, ...] = ()
    """Words in its name, script, error, question, last printed text and notes."""

    def takes(self, one: Summary, read: Callable[[Summary], Preview]) -> bool:
        """Whether a record is shown; its file is read only if the filter asks for what is in it."""
        if not all(one.score is not None and _COMPARED[s](one.score, x) for s, x in self.scores):
            return False
        if self.script.lower() not in (one.script or "").lower():
            return False
        if not (self.author or self.verdict or self.words):
            return True
        found = read(one)
        return self._has_note(found) and self._has_words(one, found)

    def _has_note(self, found: Preview) -> bool:
        """Whether one note is by the author and has the verdict."""
        return not (self.author or self.verdict) or any(
            self.author.lower() in (note.author or "").lower()
            and self.verdict in ("", note.verdict)
            for note in found.notes
        )

    def _has_words(self, one: Summary, found: Preview) -> bool:
        notes = (note.text for note in found.notes)
        said = (str(one.path), one.script, one.problem, found.error, found.question)
        text = "\n".join(filter(None, (*said, *found.printed, *notes))).lower()
        return all(word.lower() in text for word in self.words)


def taken(wanted: RecordFilter, every: Iterable[Summary]) -> list[Path]:
    """The paths of the records that a filter takes; reads files, so it may take a while."""
    return [one.path for one in every if wanted.takes(one, preview)]


def parse_filter(text: str) -> RecordFilter:
    """Read a filter as it is typed.

    Raises:
        UsageError: A part of it has an unknown form.
    """
    scores, named, words = [], dict[str, str](), []
    for part in text.split():
        name, colon, value = part.partition(":")
        if match := _SCORE.fullmatch(part):
            scores.append((match[1], float(match[2])))
        elif colon and name in _NAMES and value:
            named[name] = value
        elif part.startswith("score") and part[5:6] in "<>=" and part[5:6]:
            raise UsageError(f"{part!r} compares with no number", hint="such as score>=0.5")
        else:
            words.append(part)
    return RecordFilter(text.strip(), tuple(scores), **named, words=tuple(words))


_SLICE = 0.1
"""Seconds of reading between two updates of the screen."""


class ReadRecords(NamedTuple):
    """Records that were read."""

    summaries: list[Summary]
    stamps: Stamps
    """The stamps of their files just before."""
    more: bool
    """Whether there may be more records."""


class Changes(NamedTuple):
    """Changes of known records."""

    read: ReadRecords
    gone: list[Path]


def read_some(paths: Iterator[Path], known: Set[Path]) -> ReadRecords:
    """Read records for a short time, skipping known ones."""
    start = time.monotonic()
    summaries: list[Summary] = []
    found: Stamps = {}
    for path in paths:
        if path not in known:
            found |= stamps([path])
            summaries.append(summary(path))
        if time.monotonic() - start > _SLICE:
            return ReadRecords(summaries, found, more=True)
    return ReadRecords(summaries, found, more=False)


def changes(known: Stamps) -> Changes:
    """Read known records again whose files have changed."""
    now = stamps(known)
    touched = [path for path, stamp in now.items() if known[path] != stamp]
    summaries = [summary(path) for path in touched]
    read = ReadRecords(summaries, {path: now[path] for path in touched}, more=False)
    return Changes(read, [path for path in known if path not in now])


def script_remark(one: Summary, may_read: Callable[[Path], bool]) -> str:
    """The grants that a record's script asks for, with their state, or why it cannot run."""
    if one.script is None or not may_read(one.path.parent / one.script):
        return ""
    try:
        source = with_grants(read_script_of(one.path, one.script))
    except ScriptError as error:
        return f"cannot be run: {error.message}"
    states = {True: "allowed", False: "not allowed"}
    asked = [f"{name} ({states[name in source.granted]})" for name in source.asked]
    return f"asks for {', '.join(asked)}" if asked else ""


class Shelf:
    """The records of a library."""

    def __init__(self, order: str = "") -> None:
        name, _, direction = order.partition(" ")
        self.order = name if name in ORDERS else ORDERS[0]
        self.backwards = direction == "backwards"
        self.status = ""
        self.filter = RecordFilter()
        self._kept: frozenset[Path] = frozenset()
        """The records that the filter takes."""
        self.stamps: Stamps = {}
        self._found: dict[Path, Summary] = {}
        self.shown: list[Summary] = []

    def __len__(self) -> int:
        return len(self._found)

    @property
    def sorting(self) -> str:
        """The sort order as text, to be remembered."""
        return f"{self.order} backwards" if self.backwards else self.order

    def take(self, found: ReadRecords, gone: Iterable[Path] = ()) -> bool:
        """Add what was read, remove what is gone; whether anything changed."""
        gone = list(gone)
        for path in gone:
            self._found.pop(path, None)
            self.stamps.pop(path, None)
        self._found |= {one.path: one for one in found.summaries}
        self.stamps |= found.stamps
        if found.summaries or gone:
            self._arrange()
        return bool(found.summaries or gone)

    def _arrange(self) -> None:
        kept = (one for one in self.found if not self.filter.text or one.path in self._kept)
        self.shown = arranged(kept, self.order, backwards=self.backwards, status=self.status)

    def narrow(self) -> None:
        """Filter by the next status; after the last one, show all."""
        self.status = STATUSES[(STATUSES.index(self.status) + 1) % len(STATUSES)]
        self._arrange()

    def show_all(self) -> None:
        """End all filters."""
        self.status = ""
        self.keep(RecordFilter(), ())

    @property
    def found(self) -> list[Summary]:
        """All records, in no order."""
        return list(self._found.values())

    def keep(self, wanted: RecordFilter, paths: Iterable[Path]) -> None:
        """Show only the records that a filter takes."""
        self.filter, self._kept = wanted, frozenset(paths)
        self._arrange()

    def sort(self, order: str | None = None) -> None:
        """Sort by an order, by default the next one; the same order again reverses it."""
        if order == self.order:
            self.backwards = not self.backwards
        else:
            following = ORDERS[(ORDERS.index(self.order) + 1) % len(ORDERS)]
            self.order, self.backwards = order or following, False
        self._arrange()

    def index(self, path: Path | None) -> int | None:
        """The index at which a record is shown."""
        for at, one in enumerate(self.shown):
            if one.path == path:
                return at
        return None

    def neighbour(self, path: Path, by: int) -> Path | None:
        """The next (1) or previous (-1) readable record; None if there is none."""
        at = self.index(path)
        start = (0 if by > 0 else len(self.shown) - 1) if at is None else at + by
        end = len(self.shown) if by > 0 else -1
        ahead = (self.shown[each] for each in range(start, end, by))
        return next((one.path for one in ahead if one.problem is None), None)


def neighbour(path: Path, by: int) -> Path | None:
    """The next record if no library is open: in the same folder or a sibling folder.

    In sibling folders only files of the same name count, as `records/*/record.yaml`.
    """
    folder = path.resolve().parent
    here = [each for each in folder.glob("*") if each.suffix in SUFFIXES]  # if it may be listed
    shelf = Shelf()
    paths = dict.fromkeys(chain(here, folder.parent.glob(f"*/{_quoted(path.name)}")))
    summaries = [summary(each) for each in paths]
    shelf.take(ReadRecords([one for one in summaries if one.problem is None], {}, more=False))
    return shelf.neighbour(path.resolve(), by)


def _quoted(name: str) -> str:
    import glob

    return glob.escape(name)
