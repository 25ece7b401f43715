"""What a search found: a row for each hit, and one hit with the text around it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from ...session.find import Hit, excerpt
from ..messages import Found
from ..widgets.columns import GAP, Cell, Grid, Layout, cells_line, layout, widest
from ..widgets.documents import Line, line

_MEASURED = 200
"""Hits that columns are measured by; what is wider in others is cut."""
_BEFORE, _AFTER = 3, 20
"""Lines shown before and after a hit."""
_LONGEST = 2_000
"""Characters of a line that are shown around a hit."""


def hit_layout(found: Sequence[Found], folder: Path | None) -> Callable[[int], Layout]:
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


def hit_grid(found: Sequence[Found], folder: Path | None, lay_out: Callable[[int], Layout]) -> Grid:
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

    return Grid(len(found), lay_out, make, text)


def _name(record: Path, folder: Path | None) -> str:
    return os.path.relpath(record, folder) if folder else record.name


def _pieces(hit: Hit, most: int) -> list[tuple[str, str]]:
    return [(text, "head" if matches else "") for text, matches in excerpt(hit, most)]


def hit_lines(hit: Hit) -> list[Line]:
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
