"""A text under construction: its gaps and line ends, as in `innerText`, and columns of tables."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

_MOST_SPAN = 50


@dataclass
class Lines:
    """Text under construction, with the gaps and line ends of `innerText`."""

    parts: list[str] = field(default_factory=list)
    breaks: int = 0
    gap: bool = False
    marked: int = -1
    """Number of parts before the first text of a list's item or a cell."""

    def add(self, text: str, space: str = "normal") -> None:
        """Add text, with the spaces and line ends that its `white-space` keeps."""
        if space.startswith(("pre", "break")) and space != "pre-line":
            self._put(text)
            return
        for number, line in enumerate(text.split("\n") if space == "pre-line" else [text]):
            if number:
                self.end("\n")
            words = re.sub(r"[ \t\r\n\f]+", " ", line)
            self.gap = self.gap or words.startswith(" ")
            if words.strip(" "):
                self._put(words.strip(" "))
                self.gap = words.endswith(" ")

    def end(self, mark: str) -> None:
        """Add a line end or a tab, before which no gap counts."""
        self.gap = False
        self._put(mark)

    def mark(self) -> None:
        """Let what comes next begin here, without further line ends."""
        if self.breaks:
            self._put("")
        self.marked = len(self.parts)

    def line(self, count: int = 1) -> None:
        """Ask for line ends before what comes next."""
        if len(self.parts) != self.marked:
            self.breaks, self.gap = max(self.breaks, count), False

    def enclose(self, start: int) -> None:
        """Put brackets around the parts since `start`, unless they are a single word."""
        while start < len(self.parts) and not self.parts[start].strip():
            start += 1  # the gap before them is no part of them
        if not re.fullmatch(r"[\w.,]*", "".join(self.parts[start:])):
            self.parts[start:] = ["(", *self.parts[start:], ")"]

    def _put(self, text: str) -> None:
        if self.parts and self.breaks:
            self.parts.append("\n" * self.breaks)
        elif self.gap and self.parts and not self.parts[-1].endswith(("\n", "\t", " ")):
            self.parts.append(" ")
        self.breaks, self.gap = 0, False
        self.parts.append(text)


@dataclass
class TableGrid:
    """Where the cells of a table stand."""

    start: int = 0
    """Number of parts before the row."""
    column: int = 0
    at: int = 0
    """The column that the tabs of the row have reached."""
    taken: dict[int, int] = field(default_factory=dict)
    """The columns taken by cells of rows above, with the number of rows."""

    def row(self, start: int) -> None:
        """Begin a row."""
        self.taken = {column: rows - 1 for column, rows in self.taken.items() if rows > 1}
        self.start, self.column, self.at = start, 0, 0

    def cell(self, attributes: Mapping[str, str]) -> int:
        """Number of tabs before the next cell."""
        while self.column in self.taken:
            self.column += 1
        tabs, self.at = self.column - self.at, self.column
        self.column += (wide := _span(attributes.get("colspan")))
        if (high := _span(attributes.get("rowspan"))) > 1:
            self.taken |= dict.fromkeys(range(self.at, self.at + wide), high)
        return tabs


def _span(text: str | None) -> int:
    return min(int(text), _MOST_SPAN) if text and re.fullmatch(r"[1-9][0-9]{0,3}", text) else 1
