"""Filters, sorts and draws the records of a library, one row each, and the preview of one."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from ...record import model
from ...record.feedback import Feedback
from ...record.summary import Preview, Summary
from ...terminal_text import plain, with_newlines
from ...text import one_line, plural, told_apart
from ..clock import Clock
from ..keys.keymap import KeyOf
from ..widgets.columns import Cell, Grid, Layout, cells_line, layout, widest
from ..widgets.documents import Line, line, pieces_between, terminal_pieces
from .status import MARKS, STYLES, WORDS, bars, outcome

_LINES = 30
"""Printed lines that are shown, the last ones."""
_NOTES = 5
"""Notes that are shown, the last ones."""
_UNREADABLE = "unreadable"
"""The status of a record that cannot be read."""
STATUSES = ("", *model.STATUSES, _UNREADABLE)
"""The statuses to filter by; empty for all."""
ORDERS = ("name", "changed", "score", "steps")
"""The sort orders of the list."""
_USUAL = "record.yaml"
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
    """A row for each record, the columns as `record_layout` has them for a width."""
    names = told_apart(_name(one, folder) for one in shown)

    def make(index: int, columns: Layout) -> Line:
        one = shown[index]
        return _row(one, names[_name(one, folder)], columns, clock)

    def text(index: int) -> str:
        one = shown[index]
        words = one.problem or WORDS[one.status]
        return f"{_name(one, folder)} {words} {one.script or ''}"

    return Grid(len(shown), lay_out, make, text)


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
    }
    if len({one.script and Path(one.script).name for one in shown if not one.problem}) <= 1:
        del columns["script"]  # it would say the same in each row
    else:
        del columns["seed"]
    least = {"record": min(24, columns["record"]), "branches": 8}
    least |= {name: 6 for name in ("script", "seed") if name in columns}
    return lambda width: layout(width, columns, least)


def _name(one: Summary, folder: Path) -> str:
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
    if one.problem:
        known = {name: width for name, width in columns.items() if name in cells}
        return line(*cells_line(known, cells, ends=["record"]).pieces, problem(one), cut=True)
    cells["state"] = (state_text(one.status, one.score), STYLES[one.status])
    cells["steps"] = _steps_text(one)
    cells["branches"] = str(one.branches) if one.branches > 1 else ""
    cells["script"] = (one.script or "", "dim")
    cells["seed"] = (str(one.seed), "dim")
    return cells_line(columns, cells, ends=["record", "script"])


def problem(one: Summary) -> tuple[str, str]:
    """What is wrong with a record, in place of its status."""
    return f"! {one_line(one.problem or '')}", "error"


def state_text(status: str | None, score: float | None) -> str:
    """Mark, word and score of a status, short enough for a column."""
    points = "" if score is None else f" {round(score, 3):g}"
    return f"{MARKS.get(status, '?')} {WORDS.get(status, 'unknown')}{points}"


def _steps_text(one: Summary) -> str:
    """The number of answers used, and the total if some are after the pointer."""
    return f"{one.used}" if one.used == one.recorded else f"{one.used}/{one.recorded}"


def record_line(one: Summary | None, folder: Path, key: KeyOf, remark: str = "") -> str:
    """A line about the selected record with details for which its row has no room.

    Args:
        one: The record.
        folder: The library's.
        key: Gives the key of an action; empty if it is refused.
        remark: What there is to say of the script.
    """
    if one is None:
        return ""
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
