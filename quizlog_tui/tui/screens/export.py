"""Writes what is on the screen, or the whole record, to a file the user names."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from textual.screen import Screen

from ...text import visible
from ..screenshot import screen_svg, screen_text
from ..widgets.documents import line
from .dialogs import AskScreen, ChooseScreen

_KINDS = (("this screen as a picture", "screen.svg"), ("this screen as text", "screen.txt"))


async def export(screen: Screen[Any]) -> None:
    """Ask what and where to, then write it."""
    app = screen.app
    pictures = {"screen.svg": screen_svg(app), "screen.txt": screen_text(app)}
    lines = [line(about, cut=True) for about, _ in _KINDS]
    chosen = await app.push_screen_wait(ChooseScreen("Export", lines))
    if chosen is None:
        return
    name = _KINDS[chosen][1]
    wanted = await app.push_screen_wait(AskScreen("Write it to which file?", name))
    if not wanted:
        return
    path = Path(wanted).expanduser()
    try:
        await asyncio.to_thread(_write, path, pictures[name])
    except OSError as error:
        text = visible(f"{path}: cannot write: {error.strerror}")
        screen.notify(text, severity="error", markup=False)
        return
    screen.notify(visible(f"written to {path.absolute()}"), markup=False)


def _write(path: Path, text: str) -> None:
    """Write a new file; an existing one is left alone."""
    with path.open("x", encoding="utf-8") as file:
        file.write(text)
