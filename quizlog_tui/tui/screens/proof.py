"""Screens that show a verdict on a record, and how far its branches fit the script as it is now.

Both sides of a difference stand beside each other. They dismiss with what the user wants to see,
and change nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

from textual import on
from textual.app import ComposeResult

from ...proof.drift import BranchDrift, DriftReport
from ...proof.proven import ProvenRecord
from ...text import one_line
from ..draw.verdict import (
    SIDES,
    basis_lines,
    drift_grid,
    drift_title,
    fit_lines,
    value_shown,
    verdict_lines,
    verdict_text,
)
from ..toasts import tell
from ..widgets.documents import Document, Paragraphs, StackedDocuments, line
from ..widgets.line_view import LineView
from ..widgets.row_list import RowList
from .base import QuizlogScreen, halves
from .compare import compared_texts


class ProvenStep(NamedTuple):
    """A step of a branch to go to."""

    branch: str
    step: int


def _sides(
    names: tuple[str, str], step: int, what: str | None, values: tuple[Any, Any], no_text: str
) -> Iterator[Document]:
    """Both sides of a difference, after a line that names them.

    Args:
        names: What the sides are.
        step: The step that differs.
        what: What differs there.
        values: What the sides show; None for nothing.
        no_text: What None means on the left, in words.
    """
    one, other = names
    yield Paragraphs([line((f"{one} (left, <) and {other} (right, >)", "dim"))])
    a, b = values
    texts = value_shown(what, a, no_text), value_shown(what, b)
    yield compared_texts(*texts, names, step)


class ProofScreen(QuizlogScreen[ProvenStep | Literal["drift"] | None]):
    """Shows a verdict, its cause and what it is based on.

    Dismisses with the step that differs if the user wants to go there, or with `drift`.
    """

    SCOPE = "proof"

    def __init__(self, proven: ProvenRecord, path: Path) -> None:
        super().__init__()
        self._proven = proven
        self._path = path
        self._ended = ""

    def on_mount(self) -> None:
        """Show it."""
        self._show()

    def end(self, what: str) -> None:
        """Say at the top that the verdict holds no longer, as something has changed."""
        self._ended = f"{what} has changed: the verdict was of how it was"
        if self.is_mounted:
            self._show()

    def _show(self) -> None:
        about = (self._ended, verdict_text(self._proven), self._path.name)
        words = " · ".join(filter(None, about))
        self.show_text("Proof", words, StackedDocuments(*self._parts()))

    def _parts(self) -> Iterator[Document]:
        proven, found = self._proven, self._proven.verdict
        if self._ended:
            yield Paragraphs([line((f"{self._ended}.", "warn")), line("")])
        yield Paragraphs([*verdict_lines(proven)])
        if found.differs:
            names, values = SIDES[found.verdict], (found.recorded, found.replayed)
            yield from _sides(names, found.step or 0, found.what, values, found.no_text)
        yield Paragraphs([*basis_lines(proven, self._path)])

    def action_go(self) -> None:
        """Go to the step that differs."""
        found = self._proven.verdict
        if found.step is None:
            tell(self, "no step differs")
        else:
            self.dismiss(ProvenStep(self._proven.branch, found.step))

    def action_drift(self) -> None:
        """Show how far each branch fits the script."""
        self.dismiss("drift")


class DriftScreen(QuizlogScreen[ProvenStep | None]):
    """Shows how far each branch fits; dismisses with the step where one differs, or None."""

    SCOPE = "drift"
    DEFAULT_CSS = "DriftScreen #difference { height: 1fr; min-height: 5; }"

    def __init__(self, report: DriftReport) -> None:
        super().__init__()
        self._report = report

    def content(self) -> ComposeResult:
        """The branches, and the difference of the selected one."""
        yield from halves("fits", "difference")

    def on_mount(self) -> None:
        """Select the first branch that differs."""
        branches = self._report.branches
        differing = (at for at, branch in enumerate(branches) if branch.difference is not None)
        first = next(differing, 0)
        self.query_one("#difference").border_title = "Difference"
        self.show_rows(drift_grid(branches), first)
        self.rows.focus()
        self.status(drift_title(self._report))
        self._draw(first)

    def on_row_list_moved(self, event: RowList.Moved) -> None:
        """Show the newly selected branch."""
        self._draw(event.index)

    def _draw(self, index: int) -> None:
        parts = StackedDocuments(*self._parts(self._report.branches[index]))
        self.query_one("#difference", LineView).show(parts)

    def _parts(self, branch: BranchDrift) -> Iterator[Document]:
        found = branch.difference
        yield Paragraphs([*fit_lines(branch)])
        if found is not None:
            names, values = ("recorded", "now"), (found.a, found.b)
            yield from _sides(names, found.step, found.what, values, found.no_text)

    @on(RowList.Chosen)
    def action_go(self) -> None:
        """Go to the step where the selected branch differs."""
        branch = self._report.branches[self.rows.index or 0]
        if branch.difference is None:
            tell(self, f"{one_line(branch.branch)} fits the script to its end")
        else:
            self.dismiss(ProvenStep(branch.branch, branch.difference.step))
