"""A Textual screen as rows of plain text, without fonts or pictures."""

from __future__ import annotations

import html
import re
from typing import Any

from textual.app import App

_ITEM = re.compile(
    r'<text class="[^"]*" x="(?P<x>[\d.]+)"[^>]*clip-path="url\(#[^"]*?line-(?P<row>\d+)\)">(?P<text>.*?)</text>'
)
_CELL = 12.2


def screen_text(app: App[Any]) -> str:
    """What the screen shows, a line a row, trailing spaces cut."""
    svg = app.export_screenshot(simplify=True)
    rows: dict[int, list[tuple[int, str]]] = {}
    for match in _ITEM.finditer(svg):
        text = html.unescape(match["text"]).replace("\xa0", " ")
        rows.setdefault(int(match["row"]), []).append((round(float(match["x"]) / _CELL), text))
    height = app.size.height
    lines = []
    for row in range(height):
        line = ""
        for column, text in sorted(rows.get(row, [])):
            line = line.ljust(column)[:column] + text
        lines.append(line.rstrip())
    return "\n".join(lines) + "\n"
