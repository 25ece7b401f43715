"""The screen as it is drawn now: its cells, and rows of plain text made from them."""

from __future__ import annotations

from typing import Any, cast

from rich.cells import cell_len
from rich.style import Style
from textual._compositor import LayoutUpdate
from textual.app import App

from .draw.svg import frame_svg
from .draw.terminal_frame import Frame, Run


def take_frame(app: App[Any]) -> Frame:
    """What the screen shows, with its styles."""
    found = app.screen._compositor.render_update(
        full=True, screen_stack=app._background_screens, simplify=True
    )
    rows = []
    for strips in cast(LayoutUpdate, found).strips:
        runs: list[Run] = []
        for segment in (segment for strip in strips for segment in strip if not segment.control):
            column = runs[-1].column + cell_len(runs[-1].text) if runs else 0
            runs.append(Run(column, segment.text, segment.style or Style.null()))
        rows.append(tuple(runs))
    return Frame(app.size.width, app.size.height, tuple(rows))


def screen_svg(app: App[Any]) -> str:
    """A picture of the screen, the same bytes for the same cells."""
    return frame_svg(take_frame(app), app.title)


def screen_text(app: App[Any]) -> str:
    """What the screen shows, a line a row, trailing spaces cut."""
    return take_frame(app).text
