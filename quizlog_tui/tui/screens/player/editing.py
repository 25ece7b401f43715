"""What changes a record from the player: answer, rewind, fork, amend, undo, reload, follow.

Every change is a call of the session in a thread, so that a slow script never freezes the screen.
Draws nothing; the player does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from textual import work

from ....record.branches import free_name, leaves_tail
from ....replay.replayer import Replayer
from ....session.session import Session
from ....session.timeline import Timeline
from ....text import clipped, one_line, plural
from ...known_steps import KnownSteps
from ...watch import Watch
from ...widgets.editors.answered import Answered
from ...widgets.prompt_panel import PromptPanel
from ..base import DIALOG, QuizlogScreen
from ..dialogs import ConfirmScreen
from .player_state import Mode, state_of
from .recorded import needs_script

_FOLLOW_SECONDS = 0.5
"""How often the record is looked at for changes by others."""
_MOST_SHOWN = 200
"""Characters of an answer that are shown where it is to be confirmed."""
_VERBS = {"answer": "Question", "fork": "Fork", "amend": "Amend", "retry": "Try again"}


class PlayerEditing(QuizlogScreen[None]):
    """The half of the player that moves the record.

    Args:
        session: The open record.
        replayer: Where it runs, to cancel a slow script.
    """

    _confirms = True
    """Whether to ask before an answer at an earlier step starts a branch."""

    def __init__(self, session: Session, replayer: Replayer) -> None:
        super().__init__()
        self.gate.shut()  # until the first question is painted
        self._moving = asyncio.Lock()
        self.session = session
        self._replayer = replayer
        self.state = state_of(session.transcript, session.pointer)
        self._watch = Watch(session.path)
        self._steps = KnownSteps(session)

    def draw(self) -> None:
        """Put the session's state on the screen."""
        raise NotImplementedError

    def run_changed(self) -> None:
        """The run is another one."""
        raise NotImplementedError

    # -- what is known at the place shown

    def heading(self, at: int, mode: str) -> str:
        """What an answer will do, and at which step."""
        return f"{_VERBS[mode]} at step {at}"

    @property
    def moments(self) -> Timeline:
        """The steps of the run with what was remarked and tried at each."""
        return self._steps.moments(self.state.whole)

    @property
    def decided(self) -> frozenset[int]:
        """The steps whose answer several models decided."""
        return self._steps.decided

    def marks(self) -> dict[int, str]:
        """The steps worth stopping at, each with its sign."""
        return self._steps.marks(self.state.whole)

    def remark(self, panel: PromptPanel) -> str:
        """What to say below the input: recorded and old answers, and how to take them."""
        recorded, said = self.state.recorded, []
        if recorded is not None:
            said.append(f"recorded: {recorded or '(empty)'}")
        behind = len(self.state.whole.steps) - self.session.pointer
        if behind > 0:
            takes, tail = self.key("player.redo_tail"), plural(behind, "recorded answer")
            said.append(f"{takes} takes the {tail} after the pointer again")
        takes = "↑↓ " if panel.suggests else f"{self.key('player.plain')} ↑↓ "
        if panel.options:
            said.append(f"{takes}options")
            takes = ""
        old = [answer for answer in self.old_answers() if answer != recorded]
        if old:
            said.append(f"{takes}other branches: {', '.join(old[:4])}")
        return " · ".join(said)

    def old_answers(self) -> list[str]:
        """What was ever answered at this stop, on any branch, the recorded answer first."""
        moment = self.moments[self.state.step]
        found = [moment.answer, *(one.answer for one in moment.tries)]
        return list(dict.fromkeys(answer for answer in found if answer is not None))

    def focus_pending(self) -> None:
        """Give a pending question the focus, bringing it into sight; else the output."""
        self.remove_class("-aside")
        if not self.query_one(PromptPanel).focus_input():
            self.query_one("#output").focus()

    # -- answering

    def on_answered(self, event: Answered) -> None:
        """An answer: a fork or a change if one was begun, else at the step shown."""
        step, answer, session = self.state.step, event.answer, self.session
        if self.state.mode == "fork":
            self.move(lambda: session.fork(step, answer), answer)
        elif self.state.mode == "amend":
            self.move(lambda: session.amend(step, answer), answer)
        elif step == session.pointer:
            self.move(lambda: session.answer(answer), answer)
        else:
            self._answer_elsewhere(step - (self.state.shown.status == "error"), answer)

    @work(group=DIALOG)
    async def _answer_elsewhere(self, at: int, answer: str) -> None:
        """Answer at a step that is not the pending one, asking before that starts a branch.

        What is recorded there is only stepped over: to look changes nothing.
        """
        if answer == self.state.recorded:
            self.state = self.state.to(at + 1)
            self.draw()
            self.take_keys_when_painted()
        elif not leaves_tail(self.session.record, at, answer) or await self._may_branch(at, answer):
            self.move(lambda: self.session.answer(answer, at=at), answer)
        else:
            self.query_one(PromptPanel).fill(answer)
            self.take_keys_when_painted()

    async def _may_branch(self, at: int, answer: str) -> bool:
        """Ask whether an answer may leave what was answered from a step on as a branch."""
        if not self._confirms:
            return True
        record = self.session.record
        stay = plural(len(record.inputs) - at, "recorded answer")
        name = free_name(record, record.branch)
        shown = clipped(one_line(answer), _MOST_SHOWN) or "(empty)"
        question = (
            f"Your answer: {shown}\n"
            f"This starts a branch at step {at}: {stay} from there on stay as {name}."
        )
        agreed: bool = await self.app.push_screen_wait(ConfirmScreen(question))
        return agreed

    @needs_script
    def action_focus_answer(self) -> None:
        """Go and type."""
        self.focus_pending()

    def action_plain(self) -> None:
        """A plain line for the answer, or the fitting input again."""
        self.query_one(PromptPanel).toggle_plain()
        self.focus_pending()

    @needs_script
    def action_fork(self) -> None:
        """Take the next answer as a fork at the step shown."""
        self._begin("fork")

    @needs_script
    def action_amend(self) -> None:
        """Take the next answer in place of the recorded one, keeping later answers."""
        self._begin("amend")

    def _begin(self, mode: Mode) -> None:
        begun = self.state.begin(mode)
        if begun is None:
            self.tell("nothing is asked here")
            return
        self.state = begun
        self.draw()
        if mode == "amend":
            self.query_one(PromptPanel).fill(self.state.recorded or "")
        self.focus_pending()

    # -- moving

    def action_rewind(self) -> None:
        """Put the pointer where we look."""
        step = self.state.step
        self.move(lambda: self.session.rewind(step))

    def action_undo(self) -> None:
        """Take the last change back."""
        self._turn(self.session.can_undo, self.session.undo, "undone")

    def action_redo(self) -> None:
        """Make the change again that was taken back."""
        self._turn(self.session.can_redo, self.session.redo, "done again")

    def _turn(self, label: str | None, call: Callable[[], Any], said: str) -> None:
        if label is None:
            self.tell("nothing to take back" if said == "undone" else "nothing to do again")
        else:
            self.move(call)
            self.tell(f"{said}: {label}")

    def action_redo_tail(self) -> None:
        """Take all recorded answers again."""
        end = len(self.session.inputs)
        if end == self.session.pointer:
            self.tell("no recorded answers after the pointer")
        else:
            self.move(lambda: self.session.rewind(end))

    def action_reload(self) -> None:
        """Read everything again, keeping the place."""
        self.move(self.session.reload)

    @needs_script
    @work
    async def action_bisect(self) -> None:
        """Find the answer that spoils the outcome, and look at it; the verdict stays in sight."""
        branch = self.session.branch
        found = await self.work_on(lambda: (self.session.bisect(),), "searching")
        if found is None:
            return
        if found[0] is None:
            self.state = self.state.found(f"no answer of {branch} spoils the outcome")
        else:
            step = found[0].step
            verdict = f"the answer at step {step} of {branch} spoils the outcome"
            self.state = self.state.to(step).found(verdict)
        self.draw()

    @work(group="move")
    async def move(self, call: Callable[[], Any], answer: str | None = None) -> None:
        """Make a change after those under way, then show where it led.

        Args:
            call: The change.
            answer: What was typed for it; stands there again if it could not be made.
        """
        async with self._moving:
            panel = self.query_one(PromptPanel)
            typing = panel.has_focus_within
            known = [*self.session.warnings]
            if await self.work_on(lambda: (call(), self.session.preview()), "running"):
                self._warn_of_new(known)
                await self._take()
                if typing:
                    self.focus_pending()
            else:
                self.draw()
                if answer is not None:
                    panel.fill(answer)
        if answer is not None:
            self.take_keys_when_painted()

    def _warn_of_new(self, known: Sequence[str]) -> None:
        for warning in self.session.warnings:
            if warning not in known:
                self.warn(warning)

    @work(exclusive=True, group="paint")
    async def take_keys_when_painted(self) -> None:
        """Let keys act again once what they are to act on can be seen."""
        await self.query_one(PromptPanel).arranged()
        await self.wait_for_refresh()
        self.gate.open()

    @work(group="move")
    async def take_tail(self, step: int) -> None:
        """Run through the recorded answers after the pointer too, and look at a step."""
        async with self._moving:
            if await self.work_on(self.session.preview, "running") is not None:
                await self._take(step)

    async def _take(self, step: int | None = None) -> None:
        """Show what the session holds now: at its pointer, or at a step."""
        whole = await asyncio.to_thread(self.session.preview)
        self.state = state_of(whole, self.session.pointer, step)
        self.run_changed()
        self.draw()

    def cancel(self) -> None:
        """Stop a running script."""
        if self.working:
            self._replayer.cancel()

    def action_back(self) -> None:
        """Escape: stop a running script, give up a fork, leave the input, end a search."""
        panel = self.query_one(PromptPanel)
        if not self.working and self.state.mode != "answer":
            self.state = self.state.give_up()
            self.draw()
            self.query_one("#output").focus()
        elif not self.working and panel.has_focus_within:
            self.query_one("#output").focus()
        else:
            super().action_back()

    def nothing_to_back_out_of(self) -> None:
        """Stay: Escape is pressed too easily here, where it also leaves the input; q leaves."""
        self.state = self.state.found("")
        self.draw()
        self.query_one("#output").focus()

    # -- following

    def follow(self) -> None:
        """Watch the record, and show what others write to it."""
        self.set_interval(_FOLLOW_SECONDS, self._look_for_changes)

    def _look_for_changes(self) -> None:
        if self.working or self._moving.locked() or not self.is_active:
            return
        if self._watch.touched() and self.session.outdated:
            self._catch_up()

    @work(group="move")
    async def _catch_up(self) -> None:
        """Read what somebody else wrote; stay at the end if we were there and type nothing."""
        step, before = self.state.step, self.session.pointer
        at_end = step == before and not self.query_one(PromptPanel).draft
        async with self._moving:
            if await self.work_on(self.session.reload, "reading what changed") is None:
                return
            await self._take(None if at_end else step)
        moved = f"step {before} → {self.session.pointer}"
        self.tell(f"somebody else wrote the record: {moved}")
