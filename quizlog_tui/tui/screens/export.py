"""Writes what is on the screen, or a whole record, to a file the user names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textual.app import App

from ...errors import UsageError
from ..screenshot import screen_svg, screen_text


@dataclass(frozen=True)
class Export:
    """One thing that can be written."""

    about: str
    """What it is."""
    name: str
    """The file's name, if the user gives no other."""
    write: Callable[[Path], object]
    """Writes it; raises a `QuizlogError` where it cannot."""


def pictures(app: App[Any]) -> list[Export]:
    """The screen as it is now, in both forms."""
    svg, text = screen_svg(app), screen_text(app)
    return [
        Export("this screen as a picture (SVG)", "screen.svg", lambda path: _new(path, svg)),
        Export("this screen as text", "screen.txt", lambda path: _new(path, text)),
    ]


def _new(path: Path, text: str) -> None:
    """Write a new file; an existing one is left alone."""
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise UsageError("exists already", where=str(path), hint="choose another name") from None
    except OSError as error:
        raise UsageError(f"cannot write: {error.strerror}", where=str(path)) from None
