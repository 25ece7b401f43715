"""Shows the verdict on the player's record as long as it holds.

It stands in the line at the top until the record, the script or a file beside it changes, also by
another program; it is kept for when the record is opened again, unless there is too much beside the
script to be watched. Writes and replays nothing.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ...errors import QuizlogError
from ..toasts import tell
from .panes import Panes

if TYPE_CHECKING:
    from ...proof.proven import ProvenRecord
    from ..screens.proof import ProofScreen

_LOOK_SECONDS = 0.2
"""Seconds between two checks whether what a verdict is about has changed.

A look at a folder of 1,000 files takes about 3 ms.
"""


class VerdictChange(NamedTuple):
    """What has happened to what a verdict is about."""

    what: str
    """In words; empty if the verdict holds."""
    is_sure: bool = True
    """Whether that is all: what another program wrote is not judged before the session read it."""


class VerdictWatch:
    """Keeps and shows the verdict on the record, and drops one that holds no longer.

    Args:
        panes: Show the verdict.
        known: The verdicts of this program by record, which outlive the screen.
    """

    def __init__(self, panes: Panes, known: dict[Path, ProvenRecord]) -> None:
        self.known = known
        self._session = panes.session
        self._screen = panes.screen
        self._panes = panes
        self.opened: ProofScreen | None = None
        """The screen that shows how the verdict was found, while it is open."""
        self._is_checking = False
        self.seen: tuple[object, ...] = ()
        """The traces of what the verdict is about, as they were when it held last."""

    @property
    def standing(self) -> ProvenRecord | None:
        """The verdict that stands at the top; None if none does, or one that is not kept."""
        proven = self.known.get(self._session.path) if self._panes.verdict else None
        return proven if proven is not None and proven.is_kept else None

    def put(self, proven: ProvenRecord) -> None:
        """Keep and show a verdict that was found just now."""
        self.known[self._session.path] = proven
        self.seen = ()
        self._panes.verdict = ""
        self._show(proven)

    def follow(self) -> None:
        """Show the verdict from before, if it holds, and drop one that holds no longer."""
        proven = self.known.get(self._session.path)
        if proven is not None and not proven.is_kept:
            del self.known[self._session.path]
        self._screen.set_interval(_LOOK_SECONDS, self._look_for_changes)

    def _look_for_changes(self) -> None:
        proven = self.known.get(self._session.path)
        if proven is None or self._is_checking or self._screen.slow_work.running:
            return
        if proven.about.traces(self._session.path) != self.seen:
            self._screen.run_worker(self._check(proven), group="follow")

    async def _check(self, proven: ProvenRecord) -> None:
        self._is_checking = True
        seen = proven.about.traces(self._session.path)
        change = await asyncio.to_thread(self.change, proven)
        self._is_checking = False
        if self._screen.slow_work.running or self.known.get(self._session.path) is not proven:
            return  # a change of ours is being written
        if change.what:
            self._drop(change.what)
        elif change.is_sure:
            self.seen = seen
            self._show(proven)

    def change(self, proven: ProvenRecord) -> VerdictChange:
        """What has changed since a verdict. In a thread."""
        from ...proof.proven import Evidence

        known, is_sure = self._session.record, not self._session.outdated
        try:
            now = Evidence.of(self._session.path, *self._session.on_disk())
        except QuizlogError:
            return VerdictChange("the record or its script")
        return VerdictChange(proven.change(now, known if is_sure else None), is_sure)

    def _drop(self, what: str) -> None:
        del self.known[self._session.path]
        if self.opened is not None:
            self.opened.end(what)
        if self._panes.verdict:
            verdict, again = self._panes.verdict, self._screen.key("player.verify")
            self._panes.verdict = ""
            self._panes.show_status()
            said = f"{what} has changed: the verdict {verdict!r} was of how it was"
            tell(self._screen, f"{said}; {again} verifies again")

    def _show(self, proven: ProvenRecord) -> None:
        from ..draw.verdict import verdict_text

        if not self._panes.verdict:
            self._panes.verdict = verdict_text(proven)
            self._panes.show_status()
