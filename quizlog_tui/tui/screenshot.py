"""Captures the current screen: its cells, and plain text made from them."""

from __future__ import annotations

from typing import Any, cast

from rich.cells import cell_len
from rich.style import Style
from textual._compositor import LayoutUpdate
from textual.app import App

from ..files.place import FileKind, asked_before
from .draw.svg import frame_svg
from .draw.terminal_frame import Frame, Run

PICTURE = FileKind("a picture", asked_before)
"""A picture of a screen, or what else a screen shows, as text or SVG."""


def take_frame(app: App[Any]) -> Frame:
    """The content of the screen with its styles."""
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
    return Frame(app.size.width, app.size.height, tuple(rows), app.current_theme.dark)


def screen_svg(app: App[Any]) -> str:
    """An SVG of the screen; equal cells give equal bytes."""
    return frame_svg(take_frame(app), app.title)


def screen_text(app: App[Any]) -> str:
    """The text of the screen, one line per row, without trailing spaces."""
    return take_frame(app).text
