"""Frames of a terminal for tests, and what a terminal shows of an asciicast."""

from __future__ import annotations

import re

from rich.cells import cell_len, set_cell_size
from rich.style import Style

from quizlog_tui.tui.screenshot import Frame, Run


def frame(*rows: str) -> Frame:
    width = max(map(cell_len, rows))
    return Frame(width, len(rows), tuple((Run(0, row, Style.null()),) for row in rows))


def on_terminal(data: str, width: int, height: int) -> str:
    """The text on a terminal that is told rows from their first column on."""
    rows = [""] * height
    for number, text in re.findall(r"\x1b\[(\d+);1H(.*?)(?=\x1b\[\d+;1H|\Z)", data, re.S):
        rows[int(number) - 1] = re.sub(r"\x1b\[[^a-zA-Z]*[a-zA-Z]", "", text)
    return "".join(f"{set_cell_size(row, width).rstrip()}\n" for row in rows)
