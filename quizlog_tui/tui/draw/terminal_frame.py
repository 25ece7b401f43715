"""One frame of a terminal: rows of text with styles. Plain data, for pictures and casts."""

from __future__ import annotations

from dataclasses import dataclass

from rich.color import ColorSystem
from rich.style import Style


@dataclass(frozen=True)
class Run:
    """Text of one style within a row."""

    column: int
    text: str
    style: Style


@dataclass(frozen=True)
class Frame:
    """The content of a terminal at one moment."""

    width: int
    height: int
    rows: tuple[tuple[Run, ...], ...]
    dark: bool = True
    """Whether the terminal's own ground is dark."""

    @property
    def text(self) -> str:
        """One line per row, without trailing spaces."""
        lines = (
            "".join(run.text for run in row).replace("\xa0", " ").rstrip() for row in self.rows
        )
        return "\n".join(lines) + "\n"


def row_ansi(row: tuple[Run, ...]) -> str:
    """A row as ANSI escape codes."""
    return "".join(run.style.render(run.text, color_system=ColorSystem.TRUECOLOR) for run in row)
