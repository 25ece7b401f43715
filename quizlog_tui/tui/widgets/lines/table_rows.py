"""Which lines of an output are rows of a table, and how wide its first column is. Pure.

A row may have the « » in which a comparison encloses what differs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rich.cells import cell_len

_BARS = re.compile(r"[ «]*[|│┃║](.*[|│┃║])?[ »]*")
_RULE = re.compile(r"[ «]*[+┌├└┏┡┠┗╭╰╒╞╘╔╠╟╚─━═][-=+─━═┬┼┴┳╋┻╤╪╧╦╬╩╇╈┯┿┷┐┤┘┓┩┨┛╮╯╕╡╛╗╣╢╝«»]+ *")
_GAP = re.compile(r"(?<=[^ ]) {2,}(?=[^ ])")
_GAPS = 3
"""Gaps between words from which on a line stands in columns."""
_FIRST = re.compile(r"[ «]*[|│┃║].*?[|│┃║]»?")
_WORDS = re.compile(r"[^ ]+(?: [^ ]+)*")


def is_table_row(line: str) -> bool:
    """Whether a line is a row between bars, a rule of a table, or stands in several columns."""
    if _BARS.fullmatch(line) or _RULE.fullmatch(line):
        return True
    gaps = _GAP.finditer(line)
    return sum(1 for _, _ in zip(range(_GAPS), gaps, strict=False)) == _GAPS


def first_column(rows: Sequence[str]) -> int:
    """The cells of the first column of a table, with what ends it; 0 if it has only one.

    Args:
        rows: The rows of the table.
    """
    barred = next((row for row in rows if _BARS.fullmatch(row)), None)
    if barred is not None:
        first = _FIRST.match(barred)
        return cell_len(first[0]) if first and first[0] != barred.rstrip() else 0
    words = sorted(
        (cell_len(row[: each.start()]), cell_len(row[: each.end()]))
        for row in rows
        if not _RULE.fullmatch(row)
        for each in _WORDS.finditer(row)
    )
    return next(_gaps(words), 0)


def _gaps(words: Sequence[tuple[int, int]]) -> Iterator[int]:
    """Where columns end: the cells before each gap that is one in all rows."""
    reach = words[0][1] if words else 0
    for start, end in words:
        if start >= reach + 2:
            yield reach + 2
        reach = max(reach, end)
