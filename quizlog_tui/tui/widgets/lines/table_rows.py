"""Which lines of an output are rows of a table, which wrapping would tear apart. Pure."""

from __future__ import annotations

import re

_BARS = re.compile(r" *[|│┃║](.*[|│┃║])? *")
_RULE = re.compile(r" *[+┌├└┏┡┠┗╭╰╒╞╘╔╠╟╚─━═][-=+─━═┬┼┴┳╋┻╤╪╧╦╬╩╇╈┯┿┷┐┤┘┓┩┨┛╮╯╕╡╛╗╣╢╝]+ *")
_GAP = re.compile(r"(?<=[^ ]) {2,}(?=[^ ])")
_GAPS = 3
"""Gaps between words from which on a line stands in columns."""


def is_table_row(line: str) -> bool:
    """Whether a line is a row between bars, a rule of a table, or stands in several columns."""
    if _BARS.fullmatch(line) or _RULE.fullmatch(line):
        return True
    gaps = _GAP.finditer(line)
    return sum(1 for _, _ in zip(range(_GAPS), gaps, strict=False)) == _GAPS
