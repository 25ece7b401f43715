"""The player's doors to what lies beside the run: comparison, sweep, decisions.

Each screen is imported when it is opened.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from textual import work

from ....errors import QuizlogError
from ....files.paths import typed_path
from ....replay.replayer import Replayer
from ....session.session import Session
from ....text import plural
from ...clock import Clock
from ...widgets.prompt_panel import PromptPanel
from ..base import DIALOG
from ..dialogs import AskScreen
from .editing import PlayerEditing
from .recorded import needs_script

if TYPE_CHECKING:
    from ....episodes.build.make import BuildResult
    from ..sweep import Trial


class PlayerTools(PlayerEditing):
    """The part of the player that opens other screens at the step shown.

    Args:
        session: The open record.
        replayer: Where it runs, to cancel a slow script.
    """

    _clock: Clock
    _agreed: set[str]
    """The models that may be asked although their providers may bill it."""
    _apart: Replayer | None = None
    """Where an episode is replayed: without checkpoints, as what it says must hold elsewhere."""

    def __init__(self, session: Session, replayer: Replayer) -> None:
        super().__init__(session, replayer)
        self._trials: dict[tuple[str, tuple[str, ...]], Trial] = {}
        """What was tried at stops of the script, each by its text and the answers before it."""

    def cancel(self) -> None:
        """Stop a running script, also one that runs for an episode."""
        super().cancel()
        if self._apart is not None:
            self._apart.cancel()

    @work(group=DIALOG)
    async def action_compare(self) -> None:
        """This branch beside another branch or record."""
        from ...draw.compare import DrawnSide
        from ..compare import CompareScreen, choose

        side = DrawnSide(self.session.branch, self.state.whole)
        found = await choose(self, self.session, self._replayer, side)
        if found is None:
            return
        screen = CompareScreen(self.session, self._replayer, found)
        step = await self.app.push_screen_wait(screen)
        if step is not None:
            self.state = self.state.to(step)
            self.draw()

    @needs_script
    @work(group=DIALOG)
    async def action_sweep(self) -> None:
        """Many answers at the step shown, side by side."""
        from ..sweep import SweepScreen, first_trial

        at = self.state.step - (self.state.shown.status != "in_progress")
        if at < 0:
            self.tell("nothing is asked here")
            return
        stop = self.state.whole.upto(at)
        place = (self.session.source.code_hash, stop.inputs)
        trial = self._trials.setdefault(place, first_trial(stop))
        screen = SweepScreen(self.session, self._replayer, stop, trial)
        if await self.app.push_screen_wait(screen):
            self.draw()

    @work(group=DIALOG)
    async def action_decision(self) -> None:
        """How several models came to the answer at this step."""
        from ....solver.decisions.decision_file import decisions_path, read_decisions
        from ...decided import decided, nearest
        from ..consensus import ConsensusScreen

        path = decisions_path(self.session.path)
        kept = await self.work_on(lambda: read_decisions(path), "reading decisions")
        if kept is None:
            return
        self._tell_faults(kept.faults)
        if not kept.decisions:
            self.tell(f"no decisions are kept in {path.name}")
            return
        record = self.session.record
        start = nearest(kept.decisions, record, self.state.step)
        screen = ConsensusScreen(kept.decisions, start, self._clock)
        chosen = await self.app.push_screen_wait(screen)
        if chosen is None:
            return
        steps = decided(kept.decisions, record).items()
        step = next((at for at, indexes in steps if chosen in indexes), None)
        if step is None:
            branch = kept.decisions[chosen].question.branch
            self.tell(f"it was not asked on this branch, but on {branch or 'none'}")
            return
        self.state = self.state.to(step)
        self.draw()

    @needs_script
    @work(group=DIALOG)
    async def action_episode(self) -> None:
        """The branch shown as an episode, in a file beside those that it holds."""
        from ....episodes.read.index import USUAL

        name = self.session.branch
        question = f"Put {name} as an episode into which file?"
        wanted = (await self.app.push_screen_wait(AskScreen(question, USUAL)) or "").strip()
        if not wanted:
            return
        path = typed_path(wanted)
        made = await self.work_on(lambda: self._put_episode(name, path), "replaying it")
        if made is not None:
            self.tell(f"{name} is in {path}; {made.standing}")

    def _put_episode(self, branch: str, path: Path) -> BuildResult:
        """Build and write it. In a thread."""
        from ....episodes.build.build import BuildSettings
        from ....episodes.build.make import make

        with Replayer(self._replayer.limits, checkpoints=0) as self._apart:
            made = make(
                [self.session.path],
                path,
                BuildSettings(),
                lambda *told: None,
                replayer=self._apart,
                branch=branch,
            )
        for error in made.skipped:
            raise error
        return made

    @needs_script
    @work(group=DIALOG)
    async def action_ask_models(self) -> None:
        """Ask several models the pending question."""
        missing = [name for name in ("httpx", "pydantic", "dotenv") if find_spec(name) is None]
        if missing:
            self.warn("models need more: pip install 'quizlog-tui[solver]'")
            return
        from .ask import AskModelsScreen

        self.gate.shut()
        screen = AskModelsScreen(self.session, self._clock, self._agreed)
        said = await self.app.push_screen_wait(screen) or ""
        if said == "changed":
            self.move(self.session.reply)
        else:
            self.draw()
        if said.startswith("override: "):
            self.state = self.state.to(self.session.pointer)
            self.draw()
            self.query_one(PromptPanel).fill(said.removeprefix("override: "))
            self.focus_pending()
        self.take_keys_when_painted()

    def _tell_faults(self, faults: Sequence[QuizlogError]) -> None:
        """Say what of a file of decisions cannot be read."""
        if faults:
            self.warn(f"{plural(len(faults), 'line')} cannot be read: {faults[0]}")
