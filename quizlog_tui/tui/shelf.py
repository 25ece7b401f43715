"""The records of a library: reads them, detects changes, filters, sorts and draws them.

Plain functions read files and may run in threads. The `Shelf` holds the results. Further functions
draw a row for each record, and the preview of one. Uses no widgets.
"""

from __future__ import annotations

import operator
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from ..errors import ScriptError, UsageError
from ..files.regular_file import Stamps, stamps
from ..record import model
from ..record.feedback import Feedback
from ..record.store import SUFFIXES
from ..record.summary import Preview, Summary, preview, summary
from ..replay.script.granted import with_grants
from ..replay.script.source import read_script_of
from ..session.served_folders import SCRIPT, asks
from ..terminal_text import plain, with_newlines
from ..text import one_line, plural, told_apart
from .clock import Clock
from .draw.status import STYLES, WORDS, bars, outcome, state_text
from .keys.keymap import KeyOf
from .widgets.columns import Cell, Grid, Layout, cells_line, layout, widest
from .widgets.documents import Line, line, pieces_between, terminal_pieces

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


def scripts_without(records: Iterable[Summary], folder: Path) -> list[Path]:
    """The scripts in a folder that look as if they asked something, and have no record yet."""
    known = {os.path.realpath(one.path.parent / one.script) for one in records if one.script}
    try:
        found = sorted(folder.glob(f"*{SCRIPT.endings[0]}"))
    except OSError:
        return []
    return [path for path in found if os.path.realpath(path) not in known and asks(path)]


def is_script(one: Summary) -> bool:
    """Whether a row stands for a script without a record."""
    return one.path.suffix in SCRIPT.endings


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
        self.stamps: Stamps = {}
        self._found: dict[Path, Summary] = {}
        self.shown: list[Summary] = []
        self.scripts: list[Path] = []
        """The scripts of the folder that have no record yet."""
        self.scripts_first = False
        """Whether they stand above the records, which are none of that folder."""

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

    @property
    def listed(self) -> list[Summary]:
        """The records shown, and the scripts without one, unless a filter is on."""
        narrowed = self.status or self.filter.text
        scripts = () if narrowed else [Summary(path, path.name) for path in self.scripts]
        return [*scripts, *self.shown] if self.scripts_first else [*self.shown, *scripts]

    def index(self, path: Path | None) -> int | None:
        """The index at which a record or a script is listed."""
        for at, one in enumerate(self.listed):
            if one.path == path:
                return at
        return None

    def neighbour(self, path: Path, by: int) -> Path | None:
        """The next (1) or previous (-1) readable record; None if there is none."""
        at = next((at for at, one in enumerate(self.shown) if one.path == path), None)
        start = (0 if by > 0 else len(self.shown) - 1) if at is None else at + by
        end = len(self.shown) if by > 0 else -1
        ahead = (self.shown[each] for each in range(start, end, by))
        return next((one.path for one in ahead if one.problem is None), None)


def neighbour(path: Path, by: int) -> Path | None:
    """The next record if no library is open: in the same folder or a sibling folder.

    In sibling folders only files of the same name count, as `records/*/record.yaml`.
    """
    folder = Path(os.path.realpath(path)).parent
    here = [each for each in folder.glob("*") if each.suffix in SUFFIXES]  # if it may be listed
    shelf = Shelf()
    paths = dict.fromkeys(chain(here, folder.parent.glob(f"*/{_quoted(path.name)}")))
    summaries = [summary(each) for each in paths]
    shelf.take(ReadRecords([one for one in summaries if one.problem is None], {}, more=False))
    return shelf.neighbour(Path(os.path.realpath(path)), by)


def _quoted(name: str) -> str:
    import glob

    return glob.escape(name)


_LINES = 30
"""Printed lines that are shown, the last ones."""
_NOTES = 5
"""Notes that are shown, the last ones."""
_UNREADABLE = "unreadable"
"""The status of a record that cannot be read."""
STATUSES = ("", *model.STATUSES, _UNREADABLE)
"""The statuses to filter by; empty for all."""
ORDERS = ("name", "changed", "score", "steps")
_USUAL = "record.yaml"
_WIDEST_ERROR = 40
"""Cells of the column of errors at most."""
_FIRST_STEPS = {
    "library.new": "makes a record for a quiz script (in a shell: quizlog new SCRIPT)",
    "library.reload": "looks again; records that other programs write appear by themselves",
    "library.leave": "leaves quizlog; `quizlog demo` is a guided tour of an example",
}
_KEYS: dict[str, Callable[[Summary], float | None]] = {
    "changed": lambda found: -found.changed,
    "score": lambda found: None if found.score is None else -found.score,
    "steps": lambda found: None if found.problem else -found.used,
}
"""Newest, best and longest first. Records without a value come last in both directions."""


def arranged(
    found: Iterable[Summary], order: str = "name", *, backwards: bool = False, status: str = ""
) -> list[Summary]:
    """Filter by status and sort; ties are sorted by name."""
    wanted = [one for one in found if status in ("", one.status or _UNREADABLE)]
    wanted.sort(key=lambda one: str(one.path), reverse=backwards and order == "name")
    key = _KEYS.get(order)
    if key is None:
        return wanted
    known = [(value, one) for one in wanted if (value := key(one)) is not None]
    known.sort(key=lambda pair: pair[0], reverse=backwards)
    return [one for _, one in known] + [one for one in wanted if key(one) is None]


def status_words(status: str) -> str:
    """A status to filter by, in words."""
    return "all" if not status else WORDS.get(status, status)


def library_grid(
    shown: Sequence[Summary], folder: Path, clock: Clock, lay_out: Callable[[int], Layout]
) -> Grid:
    """A row for each record, the columns as `record_layout` has them for a width.

    An error that does not fit into its column stands below its row.
    """
    names = told_apart(_name(one, folder) for one in shown)

    def make(index: int, columns: Layout) -> Line:
        one = shown[index]
        return _row(one, names[_name(one, folder)], columns, clock)

    def text(index: int) -> str:
        one = shown[index]
        words = one.problem or WORDS[one.status]
        return f"{_name(one, folder)} {words} {one.script or ''} {_error(one)}"

    def below(index: int, columns: Layout) -> list[tuple[str, str]]:
        error = _error(shown[index])
        return [] if _fits(error, columns) else [(f"    ✗ {error}", "error")]

    return Grid(len(shown), lay_out, make, text, below=below)


def record_layout(shown: Sequence[Summary], folder: Path) -> Callable[[int], Layout]:
    """The columns for a width."""
    longest = widest(told_apart(_name(one, folder) for one in shown).values())
    script = widest(one.script for one in shown)
    columns = {
        "record": max(longest, 16),
        "changed": 10,
        "state": 13,
        "steps": 7,
        "branches": 8,
        "script": max(script, 8),
        "seed": max(6, widest(str(one.seed) for one in shown)),
        "error": min(_WIDEST_ERROR, widest(map(_error, shown))),
    }
    if not columns["error"]:
        del columns["error"]
    if len({one.script and Path(one.script).name for one in shown if not one.problem}) <= 1:
        del columns["script"]  # it would say the same in each row
    else:
        del columns["seed"]
    least = {"record": min(24, columns["record"]), "branches": 8}
    least |= {name: 6 for name in ("script", "seed", "error") if name in columns}
    return lambda width: layout(width, columns, least)


def _error(one: Summary) -> str:
    return plain(one.error or "")


def _fits(error: str, columns: Layout) -> bool:
    return widest([error]) <= columns.get("error", 0)


def _name(one: Summary, folder: Path) -> str:
    if is_script(one):
        return one.path.name  # examples may be what is looked through
    path, above = str(one.path), f"{folder}{os.sep}"
    return path.removeprefix(above) if path.startswith(above) else os.path.relpath(path, folder)


def _short(name: str, width: int) -> str:
    """Shorten a long path by leaving out the usual file name."""
    return name.removesuffix(_USUAL) if widest([name]) > width else name


def _row(one: Summary, name: str, columns: Layout, clock: Clock) -> Line:
    cells: dict[str, Cell] = {
        "record": _short(name, columns["record"]),
        "changed": (clock.ago(one.changed) if one.changed else "", "dim"),
    }
    if is_script(one):
        return cells_line(columns, {**cells, "state": ("+ no record", "dim")}, ends=["record"])
    if one.problem:
        known = {name: width for name, width in columns.items() if name in cells}
        return line(*cells_line(known, cells, ends=["record"]).pieces, problem(one), cut=True)
    cells["state"] = (state_text(one.status, one.score), STYLES[one.status])
    cells["steps"] = _steps_text(one)
    cells["branches"] = str(one.branches) if one.branches > 1 else ""
    cells["script"] = (one.script or "", "dim")
    cells["seed"] = (str(one.seed), "dim")
    cells["error"] = (_error(one) if _fits(_error(one), columns) else "", "error")
    return cells_line(columns, cells, ends=["record", "script"])


def problem(one: Summary) -> tuple[str, str]:
    """What is wrong with a record, in place of its status."""
    return f"! {one_line(one.problem or '')}", "error"


def _steps_text(one: Summary) -> str:
    """The number of answers used, and the total if some are after the pointer."""
    return f"{one.used}" if one.used == one.recorded else f"{one.used}/{one.recorded}"


def record_line(one: Summary | None, folder: Path, key: KeyOf, remark: str = "") -> str:
    """A line about the selected record with details for which its row has no room."""
    if one is None:
        return ""
    if is_script(one):
        makes = "; enter makes one" if key("library.new") else ""
        return f"{_name(one, folder)}: a script without a record{makes} {remark}".rstrip()
    if one.problem:
        edits = f" · {editor} edits it" if (editor := key("library.editor")) else ""
        return f"{_name(one, folder)}: {one.problem}{edits}"
    words = [
        _name(one, folder),
        f"script {one.script} {remark}".rstrip(),
        f"seed {one.seed}",
        plural(one.recorded, "answer"),
        plural(one.branches, "branch"),
    ]
    return " · ".join(words)


def nothing_lines(
    folder: Path, status: str, count: int, key: KeyOf, narrowed: str = ""
) -> list[Line]:
    """The text shown if there is no record to show."""
    if count and narrowed:
        return [
            line((f"None of {plural(count, 'record')} fits {narrowed}", "head")),
            line(""),
            line((key("library.narrow"), "answer"), " changes the filter, Escape ends it."),
        ]
    if count:
        words = status_words(status)
        return [
            line((f"None of {plural(count, 'record')} is {words}.", "head")),
            line(""),
            line((key("library.status"), "answer"), " shows another status, or all."),
        ]
    return [
        line((f"No records below {folder}", "head")),
        line(""),
        line("A record is a YAML or JSON file with a script, a seed and the answers so far."),
        line(""),
        *(
            line((at, "answer"), f"  {does}")
            for one, does in _FIRST_STEPS.items()
            if (at := key(one))
        ),
    ]


def preview_lines(one: Summary, found: Preview) -> list[Line]:
    """How a record stands, what it asks or why it failed, its notes, and what it printed last."""
    if is_script(one):
        return [line(("There is no record of this script yet.", "dim"))]
    if one.problem:
        return [line((f"! {one.problem}", "error"))]
    return list(_lines(one, found))


def _lines(one: Summary, found: Preview) -> Iterator[Line]:
    yield line((outcome(one.status, one.score), STYLES[one.status]))
    if found.error is not None:
        place = "" if found.line is None else f"line {found.line}: "
        yield line((f"{place}{plain(found.error)}", "error"))
    if found.question is not None:
        yield line((plain(found.question), "prompt"))
    if len(found.scores) > 1:
        yield line(("scores ", "dim"), bars(list(found.scores)))
    yield line((f"seed {one.seed} · {one.script}", "dim"))
    for note in found.notes[-_NOTES:]:
        yield line(("note ", "head"), _note(note))
    if found.printed:
        yield line("")
        yield _printed(found.printed)


def _printed(texts: Sequence[str]) -> Line:
    """What was printed last, drawn as in the player."""
    pieces = terminal_pieces("".join(with_newlines(texts)), "", raw=False)
    text = "".join(part for part, _ in pieces).removesuffix("\n")
    left_out = "\n".join(text.split("\n")[:-_LINES])
    start = len(left_out) + bool(left_out)
    return Line(tuple(pieces_between(pieces, start, len(text))), unwrapped="tables")


def _note(note: Feedback) -> str:
    step = "" if note.at is None else f"step {note.at}"
    return " · ".join(filter(None, (step, note.verdict, note.author, note.text)))
