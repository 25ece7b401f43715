"""Verifies the player's record, and tells how far it fits its script, beside what the user does.

Replays are made by processes of its own, of the files as they are when it begins. Writes nothing.
`verdict_watch` keeps what was found as long as it holds.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from ...errors import CancelledError
from ...replay.replayer import Replayer
from ...text import one_line
from ..screens.base import DIALOG, SlowWork
from ..toasts import tell, warn
from ..widgets.documents import line
from .editing import Editing
from .panes import Panes
from .verdict_watch import VerdictChange, VerdictWatch

if TYPE_CHECKING:
    from ...proof.drift import DriftReport
    from ...proof.proven import ProvenRecord
    from ...replay.uncached_runs import UncachedRuns
    from ..screens.proof import ProvenStep

T = TypeVar("T")
_PROOF = "proof"
"""The group of the workers that verify and compare."""


class Proving:
    """Verifies and compares with the script, one of the two at a time.

    Args:
        panes: Show the verdict.
        editing: Goes to another branch.
        replayer: That of the screen, whose limits the replays have; it makes none of them.
        known: The verdicts of this program by record, which outlive the screen.
    """

    def __init__(
        self, panes: Panes, editing: Editing, replayer: Replayer, known: dict[Path, ProvenRecord]
    ) -> None:
        self.session = panes.session
        self._screen = panes.screen
        self._panes = panes
        self._editing = editing
        self._replayer = replayer
        self.watch = VerdictWatch(panes, known)
        self._stop: Callable[[], None] = lambda: None
        """Makes the replays under way end."""
        self._ended = False
        self._work = SlowWork(self._screen, self._show_work, lambda: self._stop())

    # -- running beside the screen

    @property
    def running(self) -> bool:
        """Whether something runs that Escape stops."""
        return self._work.running

    def stop(self) -> None:
        """Stop what runs."""
        self._work.stop()

    def end(self) -> None:
        """End what runs, as the screen is closed."""
        self._ended = True
        self._stop()

    def _is_free(self) -> bool:
        if self.running:
            tell(self._screen, "a proof is under way; Escape stops it")
        return not self.running

    async def _run(self, call: Callable[[], T], stop: Callable[[], None], doing: str) -> T | None:
        """The result of a call in a thread; None after an error that was shown, or once stopped."""
        self._stop = stop

        def act() -> T:
            try:
                if self._ended:
                    raise CancelledError("the screen is closed")
                return call()
            except CancelledError:
                raise CancelledError("stopped; nothing was found out") from None

        return await self._work.run(act, doing)

    def _show_work(self, doing: str) -> None:
        self._panes.proving = doing
        self._panes.show_status()

    def _place(self) -> tuple[object, ...]:
        """Where the user is in the player."""
        return self._panes.state.head, self._screen.focused, self._panes.output.scroll_offset

    def _is_still_at(self, place: tuple[object, ...]) -> bool:
        """Whether a result may open a screen: the user has gone nowhere else meanwhile."""
        return self._screen.is_active and place == self._place()

    # -- verifying

    def verify(self) -> None:
        """Verify the record; if its verdict stands already, show how it was found."""
        proven = self.watch.standing
        if proven is not None:
            self._screen.run_worker(self._show_verdict(proven), group=DIALOG)
        elif self._is_free():
            self._screen.run_worker(self._verify(), group=_PROOF)

    async def _verify(self) -> None:
        from ...replay.uncached_runs import UncachedRuns

        place, again = self._place(), self._screen.key("player.verify")
        runs = UncachedRuns(self._replayer.limits)
        done = await self._run(partial(self._judge, runs), runs.give_up, "verifying")
        if done is None:
            return
        proven, change = done
        if change.what:
            said = f"{change.what} has changed meanwhile: the verdict was of how it was"
            warn(self._screen, f"{said}; {again} verifies what is there now")
            return
        self.watch.put(proven)
        if self._is_still_at(place):
            self._screen.run_worker(self._show_verdict(proven), group=DIALOG)
        else:
            does = "shows how it was found" if proven.is_kept else "verifies again"
            tell(self._screen, f"{self._panes.verdict}; {again} {does}")

    def _judge(self, runs: UncachedRuns) -> tuple[ProvenRecord, VerdictChange]:
        """The verdict, and what has changed meanwhile. In a thread."""
        from ...proof.proven import Evidence, ProvenRecord
        from ...proof.verify import verify_branches

        def tell_progress(branch: str, done: int, total: int) -> None:
            self._work.tell_progress(f"verifying: branch {branch}, {done} of {total}")

        about = Evidence.of(self.session.path, *self.session.on_disk())
        verdict = verify_branches(about.record, about.source, runs, progress=tell_progress)
        proven = ProvenRecord(verdict, about)
        return proven, self.watch.change(proven)

    async def _show_verdict(self, proven: ProvenRecord) -> None:
        """Show how the verdict was found, and then what the user wants to see."""
        from ..screens.proof import ProofScreen

        self.watch.opened = ProofScreen(proven, self.session.path)
        chosen = await self._screen.app.push_screen_wait(self.watch.opened)
        self.watch.opened = None
        if chosen == "drift":
            self.drift()
        elif chosen is not None:
            await self._go(chosen)

    # -- comparing with the script

    def drift(self) -> None:
        """Show how far each branch fits the script as it is now."""
        if self._is_free():
            self._screen.run_worker(self._drift(), group=_PROOF)

    async def _drift(self) -> None:
        place = self._place()
        replayer = Replayer(self._replayer.limits, checkpoints=0)
        doing = "comparing with the script"
        report = await self._run(partial(self._compare, replayer), replayer.give_up, doing)
        if report is None:
            return
        if self._is_still_at(place):
            self._screen.run_worker(self._show_drift(report), group=DIALOG)
        else:
            fits = "fits" if report.agrees else "does not fit"
            again = self._screen.key("player.drift")
            tell(self._screen, f"the record {fits} the script; {again} shows how far")

    def _compare(self, replayer: Replayer) -> DriftReport:
        from ...proof.drift import drift_report

        with replayer:
            return drift_report(*self.session.on_disk(), replayer)

    async def _show_drift(self, report: DriftReport) -> None:
        from ..screens.proof import DriftScreen

        chosen = await self._screen.app.push_screen_wait(DriftScreen(report))
        if chosen is not None:
            await self._go(chosen)

    # -- going to what differs

    async def _go(self, to: ProvenStep) -> None:
        """Show a step; if it is on another branch, ask what to do."""
        if self.session.branch_with(to.branch, to.step) is None:
            self._look(to.step)
            return
        name = one_line(to.branch)
        lines = [f"switch to {name}", f"compare it with {self.session.record.branch}", "stay here"]
        question = f"Step {to.step} is on branch {name}."
        chosen = await self._screen.choose(question, [line(each, cut=True) for each in lines])
        if chosen == 0:
            await self._editing.switch(to.branch).wait()
            if self.session.branch_with(to.branch, to.step) is None:
                self._look(to.step)
        elif chosen == 1:
            await self._compare_with(to.branch)

    async def _compare_with(self, branch: str) -> None:
        from ..screens.compare import CompareScreen, compare_branch, side_of

        side = side_of(self.session, self.session.record.branch, self._panes.state.whole)
        found = await compare_branch(self._screen, self.session, side, branch)
        if found is not None:
            screen = CompareScreen(self.session, self._replayer, found)
            step = await self._screen.app.push_screen_wait(screen)
            if step is not None:
                self._look(step)

    def _look(self, step: int) -> None:
        self._panes.look_at(step)
        self._panes.output.focus()
