"""Writes what is on the screen, or a whole record, to a file the user names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textual.app import App

from ...errors import UsageError
from ...record.durable import write_text
from ..screenshot import screen_svg, screen_text


@dataclass(frozen=True)
class Export:
    """One thing that can be written."""

    about: str
    """What it is."""
    name: str
    """The file's name, if the user gives no other."""
    write: Callable[[Path], object]
    """Writes it over what is there; raises a `QuizlogError` where it cannot."""


def pictures(app: App[Any]) -> list[Export]:
    """The screen as it is now, in both forms."""
    svg, text = screen_svg(app), screen_text(app)
    return [
        Export("this screen as a picture (SVG)", "screen.svg", lambda path: _write(path, svg)),
        Export("this screen as text", "screen.txt", lambda path: _write(path, text)),
    ]


def report_name(record: Path) -> str:
    """What a report of a record is called, without its ending: as the record, or as its folder."""
    return record.resolve().parent.name if record.stem == "record" else record.stem


def _write(path: Path, text: str) -> None:
    try:
        write_text(path, text)
    except ValueError as error:  # a name that no file can have
        message = f"cannot write: {error}"
        raise UsageError(message, where=str(path), hint="choose another name") from None
