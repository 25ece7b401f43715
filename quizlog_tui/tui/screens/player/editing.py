"""Changes the record from the player: answer, rewind, fork, amend, undo, reload."""

from __future__ import annotations

from ....record.branches import free_name, leaves_tail
from ....text import clipped, one_line, plural
from ...toasts import tell
from ..base import DIALOG, in_worker
from ..dialogs import ConfirmScreen
from ..undoing import redo, undo
from .context import PlayerContext
from .locked import writes
from .moves import Moves
from .panes import Panes
from .player_state import Mode, finding_of
from .unreadable_script import needs_script

_MOST_SHOWN = 200
"""Maximum characters of an answer in a confirmation."""


class Editing:
    """Changes the record at the step shown.

    Args:
        context: What the parts of the player share.
        panes: Of the screen.
        moves: Makes the changes.
        confirms: Whether to ask before an answer at an earlier step starts a branch.
    """

    def __init__(self, context: PlayerContext, panes: Panes, moves: Moves, confirms: bool) -> None:
        self.view, self.session = context.view, context.session
        self._holder = context.holder
        self._panes = panes
        self._move = moves.move
        self._confirms = confirms

    # -- answering

    def answer(self, answer: str) -> None:
        """Give an answer: as a fork or amendment if one was started, else at the step shown."""
        state, session = self._holder.state, self.session
        if state.mode == "fork":
            self._move(lambda: session.fork(state.step, answer), answer)
        elif state.mode == "amend":
            self._move(lambda: session.amend(state.step, answer), answer)
        elif state.step == session.pointer:
            self._move(lambda: session.answer(answer), answer)
        else:
            self._answer_elsewhere(state.step - (state.shown.status == "error"), answer)

    @in_worker(DIALOG)
    async def _answer_elsewhere(self, at: int, answer: str) -> None:
        """Answer at a step other than the pending one; ask before that starts a branch.

        The recorded answer only moves to the next step and changes nothing.
        """
        state = self._holder.state
        if answer == state.recorded:
            self._holder.become(state.to(at + 1))
            self._panes.take_keys_when_painted()
        elif not leaves_tail(self.session.record, at, answer) or await self._may_branch(at, answer):
            self._move(lambda: self.session.answer(answer, at=at), answer)
        else:
            self._panes.prompt.fill(answer)
            self._panes.take_keys_when_painted()

    async def _may_branch(self, at: int, answer: str) -> bool:
        """Ask whether an answer may turn the recorded answers from this step on into a branch."""
        if not self._confirms:
            return True
        record = self.session.record
        stay = plural(len(record.inputs) - at, "recorded answer")
        name = free_name(record, record.branch)
        shown = clipped(one_line(answer), _MOST_SHOWN) or "(empty)"
        question = (
            f"Your answer: {shown}\n"
            f"This starts a branch at step {at}: {stay} from there on become {name}."
        )
        agreed: bool = await self.view.app.push_screen_wait(ConfirmScreen(question))
        return agreed

    @writes("another answer, on a branch of its own")
    @needs_script
    def fork(self) -> None:
        """Make the next answer a fork at the step shown."""
        self._begin("fork")

    @writes("another answer in place of the recorded one")
    @needs_script
    def amend(self) -> None:
        """Make the next answer replace the recorded one and keep later answers."""
        self._begin("amend")

    def _begin(self, mode: Mode) -> None:
        begun = self._holder.state.begin(mode)
        if begun is None:
            tell(self.view, "there is no question here")
            return
        self._holder.become(begun)
        if begun.recorded and not self._panes.prompt.draft:
            self._panes.prompt.fill(begun.recorded)
        self._panes.focus_pending()

    # -- moving

    def rewind(self) -> None:
        """Set the pointer to the step shown."""
        step = self._holder.state.step
        self._move(lambda: self.session.rewind(step))

    def undo(self) -> None:
        """Undo the last change."""
        self._move(lambda: undo(self.session))

    def redo(self) -> None:
        """Redo the change that was undone."""
        self._move(lambda: redo(self.session))

    def redo_tail(self) -> None:
        """Move the pointer after all recorded answers."""
        end = len(self.session.record.inputs)
        if end == self.session.pointer:
            tell(self.view, "no recorded answers after the pointer")
        else:
            self._move(lambda: self.session.rewind(end))

    def reload(self) -> None:
        """Read everything again and stay at the step."""
        self._move(self.session.reload)

    @needs_script
    @in_worker()
    async def bisect(self) -> None:
        """Find the answer that makes the outcome fail, and show it. The finding stays visible."""
        found = await self.view.slow_work.run(lambda: (self.session.bisect(),), "searching")
        if found is None:
            return
        [culprit] = found
        state = self._holder.state
        finding = finding_of(self.session, culprit)
        self._holder.become((state.to(culprit.step) if culprit else state).found(finding))
