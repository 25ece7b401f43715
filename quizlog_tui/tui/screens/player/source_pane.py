"""The source pane of the player: the file that asks or raises at the step shown, at its line."""

from __future__ import annotations

from textual.dom import DOMNode

from ....replay.script.source import Source
from ....replay.transcript import Transcript
from ...widgets.row_list import RowList


class SourcePane:
    """Draws the script, or another file in its folder that asks or raises on its behalf.

    Args:
        view: The screen with the pane.
    """

    def __init__(self, view: DOMNode) -> None:
        self._view = view
        self._drawn: Source | None = None
        self._open = False

    def open(self, source: Source, shown: Transcript) -> None:
        """Draw for the first time: colouring would delay the first frame."""
        self._open = True
        self.draw(source, shown)

    def draw(self, source: Source, shown: Transcript) -> None:
        """Draw the file and mark the line of a step; nothing before `open`."""
        if not self._open:
            return
        pane = self._view.query_one("#source", RowList)
        file, line = place_shown(source, shown)
        if file != self._drawn:
            from ...draw.formats import source_table

            self._drawn = file
            pane.show(source_table(file))
            other = file.path != source.path
            pane.border_title = f"Source: {file.path.name}" if other else "Source"
        pane.mark(line - 1 if line else None)


def place_shown(source: Source, shown: Transcript) -> tuple[Source, int | None]:
    """The file and line that a run asks at, or raised at; no line where it has ended well."""
    error = shown.last_error
    if error:
        return source.at(error.place, error.line)
    return source.at(shown.last.place, shown.last.line)
