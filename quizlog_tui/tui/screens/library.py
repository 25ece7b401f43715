"""The records to choose from: those below a folder."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType

from ..bindings import screen_bindings
from ..messages import OpenRecord
from ..widgets.documents import Table, line
from ..widgets.row_list import RowList
from .base import QuizlogScreen


class LibraryScreen(QuizlogScreen[None]):
    """Lists records and opens them.

    Args:
        folder: What the paths are shown relative to.
        last: The record looked at last, to start on.
    """

    SCOPE = "library"
    BINDINGS: ClassVar[list[BindingType]] = screen_bindings("library")

    def __init__(self, folder: Path, last: str) -> None:
        super().__init__()
        self._folder = folder
        self._records = find_records(folder)

    def content(self) -> ComposeResult:
        """The list."""
        yield RowList(id="records")

    def on_mount(self) -> None:
        """Fill the list."""
        self.status(f"Records in {self._folder}")
        records = self.query_one(RowList)
        records.show(
            Table(
                len(self._records),
                lambda index: line(str(self._records[index].relative_to(self._folder)), cut=True),
            )
        )
        records.focus()

    def on_row_list_chosen(self, event: RowList.Chosen) -> None:
        """Open the chosen record."""
        self.post_message(OpenRecord(self._records[event.index]))


def find_records(folder: Path) -> list[Path]:
    """YAML and JSON files below `folder` that look like records, at most three levels down."""
    found = []
    for pattern in ("*", "*/*", "*/*/*"):
        for path in folder.glob(pattern):
            if path.suffix in (".yaml", ".yml", ".json") and _looks_like_record(path):
                found.append(path)
    return sorted(found)


def _looks_like_record(path: Path) -> bool:
    """Whether the file's beginning names a script and a seed."""
    try:
        with path.open("rb") as file:
            start = file.read(4096)
    except OSError:
        return False
    return b"script" in start and b"seed" in start
