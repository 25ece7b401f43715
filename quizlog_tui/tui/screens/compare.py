"""The screen that compares two branches or records, with keys to go through the differences.

Draws a `Comparison` and changes no record.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.widgets import Static

from ...errors import UsageError
from ...files.paths import record_path, typed_path
from ...record.lineage import partings
from ...replay.replayer import Replayer
from ...session.audit import Audit, readable_path
from ...session.session import Session
from ...text import clipped, plural, told_apart
from ..draw.compare import Comparison, DrawnSide, branch_line
from ..keys.keymap import screen_bindings
from ..toasts import tell
from ..widgets.documents import line
from ..widgets.row_list import MarkedView
from .base import DIALOG, QuizlogScreen
from .dialogs import AskScreen, ChooseScreen

_AROUND = 4
"""Cells of border, scroll bar and mark, to measure rows before they are shown."""


class CompareScreen(QuizlogScreen[int | None]):
    """Shows a comparison; dismisses with a step of the left run to show, or None.

    Args:
        session: The record on the left, to choose another branch from.
        replayer: Makes the runs; cancels a slow one.
        found: The comparison shown first.
    """

    SCOPE = "compare"
    BINDINGS: ClassVar[list[BindingType]] = screen_bindings("compare")
    DEFAULT_CSS = """
    CompareScreen #heading { height: auto; padding: 0 2; color: $secondary; text-style: bold; }
    CompareScreen #beside { height: 1fr; }
    """

    def __init__(self, session: Session, replayer: Replayer, found: Comparison) -> None:
        super().__init__()
        self._session = session
        self._replayer = replayer
        self._found = found

    def content(self) -> ComposeResult:
        """The names of the sides above their columns."""
        yield Static(id="heading", markup=False)
        yield MarkedView(id="beside")

    def on_mount(self) -> None:
        """Show the first difference."""
        self._show(self._found)
        self._pane.focus()

    @property
    def _pane(self) -> MarkedView:
        return self.query_one(MarkedView)

    def _show(self, found: Comparison) -> None:
        self._found = found
        first = found.differences[0] if found.differences else 0
        found.reveal(first)
        self._pane.show(found, cursor=first)
        self._tell_place(first)
        self.call_after_refresh(self._draw_heading)

    def on_resize(self) -> None:
        """Draw the heading again, since the columns have moved."""
        self.call_after_refresh(self._draw_heading)

    def _draw_heading(self) -> None:
        pane = self._pane
        width = pane.scrollable_content_region.width - pane.GUTTER
        self.query_one("#heading", Static).update(self._found.heading(width))

    def _tell_place(self, index: int) -> None:
        """Show the first difference and the number of the current one in the status line."""
        first, differences = self._found.first(), self._found.differences
        if first is None:
            count = plural(len(self._found.a.run.steps), "answer")
            self.status(f"= no difference: both show the same, {count}")
            return
        a, b = (clipped(text, 24) for text in (first.a, first.b))
        at = f"difference {differences.index(index) + 1} of {len(differences)}"
        self.status(f"≠ first at step {first.step}, {first.what}: {a} | {b} · {at}")

    # -- keys

    def action_difference(self, by: int) -> None:
        """Go to the next (1) or previous (-1) difference."""
        here = self._pane.place(by)
        ahead = [i for i in self._found.differences if (i > here if by > 0 else i < here)]
        if not ahead:
            tell(self, "no more differences that way")
            return
        index = (min if by > 0 else max)(ahead)
        self._found.reveal(index)
        self._pane.mark(index)
        self._tell_place(index)

    def action_look(self) -> None:
        """Go back to the player, at the selected step."""
        index = self._pane.place(1)
        known = (row.index_a for row in reversed(self._found.rows[: index + 1]))
        self.dismiss(next((step for step in known if step is not None), 0))

    @work(group=DIALOG)
    async def action_other(self) -> None:
        """Compare with something else."""
        found = await choose(self, self._session, self._replayer, self._found.a)
        if found is not None:
            self._show(found)

    def cancel(self) -> None:
        """Stop a running script."""
        self._replayer.cancel()


async def choose(
    screen: QuizlogScreen[Any], session: Session, replayer: Replayer, side: DrawnSide
) -> Comparison | None:
    """Ask what to compare a side with, and compare; None if nothing was chosen."""
    others = [branch for branch in session.branches if not branch.active]
    parts = partings(session.record, session.record.branch)
    names = told_apart(session.record.names)
    lines = [
        *(branch_line(each, names[each.name], parts[each.name].at) for each in others),
        line("  another record...", cut=True),
    ]
    question = f"Compare {side.name} with"
    chosen = await screen.app.push_screen_wait(ChooseScreen(question, lines))
    if chosen is None:
        return None
    if chosen < len(others):
        name = others[chosen].name
        return await _compared(screen, side, lambda: DrawnSide(name, session.transcript_of(name)))
    ask = AskScreen("Compare with which record? FILE, or FILE@BRANCH")
    wanted = (await screen.app.push_screen_wait(ask) or "").strip()
    if not wanted:
        return None
    return await _compared(screen, side, lambda: _record_side(wanted, replayer, session.audit))


async def _compared(
    screen: QuizlogScreen[Any], side: DrawnSide, other: Callable[[], DrawnSide]
) -> Comparison | None:
    """Run the other side and lay out both, in a thread; None after an error that was shown."""
    width = screen.size.width - _AROUND

    def compare() -> Comparison:
        found = Comparison(side, other())
        found.starts(width)
        return found

    return await screen.slow_work.run(compare, "comparing")


def _record_side(wanted: str, replayer: Replayer, audit: Audit | None) -> DrawnSide:
    """The run of another record, which is not changed.

    Args:
        wanted: Its file, with `@BRANCH` behind it for another than the active branch.
        replayer: Where it runs.
        audit: The audit mode in which it is read, if any.

    Raises:
        QuizlogError: The record or its script cannot be read, or there is no such branch.
    """
    path, branch = readable_path(audit, wanted, _record_path), ""
    if not os.path.exists(path) and "@" in wanted:
        file, _, branch = wanted.rpartition("@")
        path = readable_path(audit, file, _record_path)
    if os.path.isdir(path):
        raise UsageError("is a folder", where=str(path), hint="name a record file in it")
    with Session(path, replayer, save=False, audit=audit) as other:
        run = other.transcript_of(branch or None)
        return DrawnSide(f"{path}@{branch or other.record.branch}", run)


def _record_path(wanted: str) -> Path:
    """The record that a user typed, which may be the name of an example."""
    return record_path(str(typed_path(wanted)))
