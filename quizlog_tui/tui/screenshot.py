"""The screen as it is drawn now, as SVG or as rows of plain text without fonts or colours."""

from __future__ import annotations

import html
import re
from typing import Any

from rich.cells import set_cell_size
from textual.app import App

_ITEM = re.compile(
    r'<text class="[^"]*" x="(?P<x>[\d.]+)"[^>]*clip-path="url\(#[^"]*?line-(?P<row>\d+)\)">'
    r"(?P<text>.*?)</text>"
)
_ID = re.compile(r'<g class="(terminal-\d+)-matrix"')
"""Where Rich names a picture by a number made from all that it shows."""
_CELL = 12.2
"""Width of a cell in Rich's SVG."""


def screen_svg(app: App[Any]) -> str:
    """A picture of the screen; its names are the same in every picture, so that files compare."""
    svg = app.export_screenshot(simplify=True)
    found = _ID.search(svg)
    return svg.replace(f"{found[1]}-", "terminal-") if found else svg


def screen_text(app: App[Any]) -> str:
    """What the screen shows, a line a row, trailing spaces cut."""
    rows: dict[int, list[tuple[int, str]]] = {}
    for match in _ITEM.finditer(screen_svg(app)):
        text = html.unescape(match["text"]).replace("\xa0", " ")
        rows.setdefault(int(match["row"]), []).append((round(float(match["x"]) / _CELL), text))
    lines = []
    for row in range(app.size.height):
        line = ""
        for column, text in sorted(rows.get(row, [])):
            line = set_cell_size(line, column) + text
        lines.append(line.rstrip())
    return "\n".join(lines) + "\n"
