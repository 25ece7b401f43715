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
    """All that a terminal shows at one time."""

    width: int
    height: int
    rows: tuple[tuple[Run, ...], ...]

    @property
    def text(self) -> str:
        """A line a row, trailing spaces cut."""
        lines = (
            "".join(run.text for run in row).replace("\xa0", " ").rstrip() for row in self.rows
        )
        return "\n".join(lines) + "\n"


def row_ansi(row: tuple[Run, ...]) -> str:
    """A row as a terminal is told it."""
    return "".join(run.style.render(run.text, color_system=ColorSystem.TRUECOLOR) for run in row)
