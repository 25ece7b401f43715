"""Opens the tools of the player: comparison, sweep, decisions, models, episode, editor.

Each screen is imported when it is opened.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from ....errors import QuizlogError
from ....files.paths import typed_path
from ....replay.replayer import Replayer
from ....session.effort import total_effort
from ....text import plural
from ... import external
from ...draw.timeline import effort_text
from ...known_steps import KnownSteps
from ...toasts import complain, tell, warn
from ..base import DIALOG, in_worker
from ..dialogs import AskScreen
from .context import PlayerContext
from .locked import writes
from .moves import Moves
from .panes import Panes
from .source_pane import place_shown
from .unreadable_script import needs_script

if TYPE_CHECKING:
    from ....episodes.build.make import BuildResult
    from ..sweep import Trial


class Tools:
    """Opens other screens at the step shown.

    Args:
        context: What the parts of the player share.
        panes: Of the screen.
        moves: Applies changes made on other screens.
        agreed: The models that the user agreed to ask although they may cost money; grows.
        known: What is known of the steps.
    """

    def __init__(
        self,
        context: PlayerContext,
        panes: Panes,
        moves: Moves,
        agreed: set[str],
        known: KnownSteps,
    ) -> None:
        self.view, self.session = context.view, context.session
        self._context = context
        self._panes = panes
        self._moves = moves
        self._agreed = agreed
        self._known = known
        self._apart: Replayer | None = None
        """Replays episodes without checkpoints, as on another machine."""
        self._trials: dict[tuple[str, tuple[str, ...]], Trial] = {}
        """Attempts at stops of the script, by its text and the answers before."""

    def cancel(self) -> None:
        """Stop a script that runs for an episode."""
        if self._apart is not None:
            self._apart.cancel()

    def _look(self, step: int) -> None:
        self._context.holder.become(self._context.holder.state.to(step))

    @in_worker(DIALOG)
    async def compare(self) -> None:
        """Compare this branch with another branch or record."""
        from ...draw.compare import DrawnSide
        from ..compare import CompareScreen, choose

        side = DrawnSide(self.session.record.branch, self._context.holder.state.whole)
        found = await choose(self.view, self.session, self._context.replayer, side)
        if found is None:
            return
        screen = CompareScreen(self.session, self._context.replayer, found)
        step = await self.view.app.push_screen_wait(screen)
        if step is not None:
            self._look(step)

    @needs_script
    @in_worker(DIALOG)
    async def sweep(self) -> None:
        """Try many answers at the step shown."""
        from ..sweep import SweepScreen, first_trial

        state = self._context.holder.state
        at = state.step - (state.shown.status != "in_progress")
        if at < 0:
            tell(self.view, "there is no question here")
            return
        stop = state.whole.upto(at)
        place = (self.session.source.code_hash, stop.inputs)
        trial = self._trials.setdefault(place, first_trial(stop))
        screen = SweepScreen(self.session, self._context.replayer, state.whole, at, trial)
        if await self.view.app.push_screen_wait(screen):
            self.view.draw()

    def effort(self) -> None:
        """Tell who answered and how long it took, in sums."""
        efforts = self._known.efforts(self._context.holder.state.whole)
        sums = effort_text(total_effort(efforts), self._context.clock)
        each = "`quizlog steps RECORD` lists each answer"
        tell(self.view, f"{plural(len(efforts), 'answer')} · {sums} · {each}")

    @in_worker(DIALOG)
    async def decision(self) -> None:
        """Show how several models chose the answer at this step."""
        from ....solver.decisions.decision_file import decisions_path, read_decisions
        from ...step_decisions import decisions_by_step, nearest
        from ..consensus import ConsensusScreen

        path = decisions_path(self.session.path)
        kept = await self.view.slow_work.run(lambda: read_decisions(path), "reading decisions")
        if kept is None:
            return
        self._tell_faults(kept.faults)
        if not kept.decisions:
            tell(self.view, f"there are no decisions in {path.name}")
            return
        record = self.session.record
        start = nearest(kept.decisions, record, self._context.holder.state.step)
        screen = ConsensusScreen(kept.decisions, start, self._context.clock)
        chosen = await self.view.app.push_screen_wait(screen)
        if chosen is None:
            return
        steps = decisions_by_step(kept.decisions, record).items()
        step = next((at for at, indexes in steps if chosen in indexes), None)
        if step is None:
            branch = kept.decisions[chosen].question.branch
            tell(self.view, f"it was not asked on this branch, but on {branch or 'none'}")
            return
        self._look(step)

    @writes("an episode of this branch")
    @needs_script
    @in_worker(DIALOG)
    async def episode(self) -> None:
        """Add the branch shown as an episode to a file."""
        from ....episodes.read.index import USUAL

        name = self.session.record.branch
        question = f"Write {name} as an episode to which file?"
        wanted = (await self.view.app.push_screen_wait(AskScreen(question, USUAL)) or "").strip()
        if not wanted:
            return
        path = typed_path(wanted)
        made = await self.view.slow_work.run(lambda: self._put_episode(name, path), "replaying it")
        if made is not None:
            tell(self.view, f"{name} is in {path}; {made.standing}")

    def _put_episode(self, branch: str, path: Path) -> BuildResult:
        """Build and write it. In a thread."""
        from ....episodes.build.build import BuildSettings
        from ....episodes.build.make import make

        with Replayer(self._context.replayer.limits, checkpoints=0) as self._apart:
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

    @writes("what models decide")
    @needs_script
    @in_worker(DIALOG)
    async def ask_models(self) -> None:
        """Ask several models the pending question."""
        missing = [name for name in ("httpx", "pydantic", "dotenv") if find_spec(name) is None]
        if missing:
            warn(self.view, "asking models needs an extra: pip install 'quizlog-tui[solver]'")
            return
        from .ask import AskModelsScreen

        self.view.gate.shut()
        screen = AskModelsScreen(self.session, self._context.clock, self._agreed)
        said = await self.view.app.push_screen_wait(screen) or ""
        if said == "changed":
            self._moves.move(self.session.reply)
        else:
            self.view.draw()
        if said.startswith("override: "):
            self._look(self.session.pointer)
            self._panes.prompt.fill(said.removeprefix("override: "))
            self._panes.focus_pending()
        self._panes.take_keys_when_painted()

    def _tell_faults(self, faults: Sequence[QuizlogError]) -> None:
        """Report the lines of a decisions file that cannot be read."""
        if faults:
            warn(self.view, f"{plural(len(faults), 'line')} cannot be read: {faults[0]}")

    @writes("the script, in your editor")
    @needs_script
    def editor(self) -> None:
        """Open the script at the line shown in the user's editor."""
        file, line = place_shown(self.session.source, self._context.holder.state.shown)
        try:
            external.edit(self.view.app, file.path, line)
        except QuizlogError as error:
            complain(self.view, error)
            return
        self._moves.move(self.session.reload)
