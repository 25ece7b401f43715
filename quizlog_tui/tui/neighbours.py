"""Finds the record before or after another one."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from textual.screen import Screen

from .shelf import neighbour


async def find_neighbour(screens: Iterable[Screen[Any]], path: Path, by: int) -> Path | None:
    """The record next to one, in the order of the library if it is open."""
    from .screens.library import LibraryScreen

    for screen in screens:
        if isinstance(screen, LibraryScreen):
            return screen.neighbour(path, by)
    return await asyncio.to_thread(neighbour, path, by)
