"""Changes the player's record: answer, fork, amend, any other move. Follows changes by others.

It can also hold the record: then programs that answer it wait for the person.

Each change calls the session in a thread, so that a slow script never freezes the screen, and runs
after those before it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from textual.worker import Worker

from ...errors import QuizlogError
from ...files.regular_file import Watch
from ...record.branches import free_name, leaves_tail
from ...record.hold import Hold
from ...replay.transcript import Transcript
from ...text import clipped, one_line, plural
from ..screens.base import DIALOG
from ..screens.dialogs import ChooseScreen, ConfirmScreen
from ..toasts import complain, tell, warn
from ..widgets.documents import line
from .panes import Panes
from .player_state import Mode, state_of

_FOLLOW_SECONDS = 0.1
"""Seconds between two checks for changes by other programs, and for programs that wait."""
_MOST_SHOWN = 200
"""Maximum characters of an answer in a confirmation."""
_MOST_LINES = 5
"""Maximum number of arguments and answers that are shown before something is allowed."""
_MOST_GIVEN = 80
"""Characters of each; the timeline shows all of it."""
_MOVE = "move"
"""The group of the workers that change the record."""


class Editing:
    """Changes the record at the step shown.

    With `confirms` it asks before an answer at an earlier step starts a branch.
    """

    def __init__(self, panes: Panes, *, confirms: bool) -> None:
        self.session = panes.session
        self._screen = panes.screen
        self._panes = panes
        self._confirms = confirms
        self._moving = asyncio.Lock()
        self._watch = Watch(self.session.path)

    # -- answering

    def give_answer(self, answer: str) -> None:
        """Give an answer: as a fork or amendment if one was started, else at the step shown."""
        state, session = self._panes.state, self.session
        if state.mode == "fork":
            self.move(lambda: session.fork(state.step, answer), answer)
        elif state.mode == "amend":
            self.move(lambda: session.amend(state.step, answer), answer)
        elif state.step == session.pointer:
            self.move(lambda: session.answer(answer), answer)
        else:
            at = state.step - (state.shown.status == "error")
            self._screen.run_worker(self._answer_elsewhere(at, answer), group=DIALOG)

    async def _answer_elsewhere(self, at: int, answer: str) -> None:
        """Answer at a step other than the pending one; ask before that starts a branch.

        The recorded answer only moves to the next step and changes nothing.
        """
        state = self._panes.state
        if answer == state.recorded:
            self._panes.show(state.to(at + 1))
            self._panes.take_keys_when_painted()
        elif not leaves_tail(self.session.record, at, answer) or await self._may_branch(at, answer):
            self.move(lambda: self.session.answer(answer, at=at), answer)
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
        agreed: bool = await self._screen.app.push_screen_wait(ConfirmScreen(question))
        return agreed

    def begin(self, mode: Mode) -> None:
        """Make the next answer a fork at the step shown, or one in place of the recorded one."""
        begun = self._panes.state.begin(mode)
        if begun is None:
            tell(self._screen, "there is no question here")
            return
        self._panes.show(begun)
        if begun.recorded and not self._panes.prompt.draft:
            self._panes.prompt.fill(begun.recorded)
        self._panes.focus_pending()

    def switch(self, branch: str) -> Worker[None]:
        """Switch to a branch."""
        return self.move(lambda: self.session.switch(branch))

    # -- making a change

    def move(self, call: Callable[[], Any], answer: str | None = None) -> Worker[None]:
        """Make a change after the running ones, show its result, and tell a text that it returns.

        The `answer` that was typed for it stands there again if it could not be made.
        """
        return self._screen.run_worker(self._move(call, answer), group=_MOVE)

    async def _move(self, call: Callable[[], Any], answer: str | None) -> None:
        async with self._moving:
            panel = self._panes.prompt
            typing = panel.has_focus_within
            known = [*self.session.warnings]
            done = await self._screen.slow_work.run(lambda: (call(), self._whole()))
            if done is not None:
                said, whole = done
                self._warn_of_new(known)
                self._show(whole)
                if isinstance(said, str):
                    tell(self._screen, said)
                if typing:
                    self._panes.focus_pending()
            else:
                self._panes.draw()
                if answer is not None:
                    panel.fill(answer)
        if answer is not None:
            self._panes.take_keys_when_painted()

    def _warn_of_new(self, known: Sequence[str]) -> None:
        for warning in self.session.warnings:
            if warning not in known:
                warn(self._screen, warning)

    def take_tail(self, step: int) -> Worker[None]:
        """Also run the recorded answers after the pointer, and show a step."""
        return self._screen.run_worker(self._take_tail(step), group=_MOVE)

    async def _take_tail(self, step: int) -> None:
        async with self._moving:
            whole = await self._screen.slow_work.run(self._whole)
            if whole is not None:
                self._show(whole, step)

    async def replay(self) -> None:
        """Run the script, while what is recorded is shown and can be looked at.

        Then ask the pending question, unless the user has gone elsewhere meanwhile.
        """
        panes, screen = self._panes, self._screen
        before = (panes.state.head, screen.focused, panes.output.scroll_offset)
        replayed = await self._read_again("replaying")
        if replayed and before == (panes.state.head, screen.focused, panes.output.scroll_offset):
            screen.gate.shut()
            panes.focus_pending()
            panes.take_keys_when_painted()

    def _whole(self) -> Transcript:
        """The run through all recorded answers of the active branch."""
        return self.session.transcript_of()

    def _show(self, whole: Transcript, step: int | None = None) -> None:
        """Show the session's present state at its pointer or at a step."""
        finding = self._panes.state.finding
        still = finding if finding and finding.holds(self.session.record) else None
        self._panes.show(state_of(whole, self.session.pointer, step).found(still))

    # -- grants

    async def offer_grants(self) -> None:
        """Ask whether to grant the script what it asks for; do so if the user agrees."""
        from ...record.given_here import given_lines
        from ...session.session import allow, not_given_here

        session = self.session
        source, unknown = session.source, not_given_here(session)
        question = f"{source.path.name} asks for {' and '.join(source.refused)}."
        details = [source.withheld] if source.withheld else []
        if unknown is not None:
            try:
                given = given_lines(unknown, _MOST_LINES, _MOST_GIVEN)
            except QuizlogError as error:
                complain(self._screen, error)
                return
            details += ["The record is from elsewhere:", *given]
        lines = [line("run it without", cut=True), line("allow it, for what is here now", cut=True)]
        screen = ChooseScreen(question, lines, details=details)
        if await self._screen.app.push_screen_wait(screen) == 1:
            self.move(lambda: allow(session, source.refused, unknown))

    # -- changes by others

    def follow(self) -> None:
        """Watch the record, and show changes by other programs."""
        self._screen.set_interval(_FOLLOW_SECONDS, self._look_for_changes)

    def _look_for_changes(self) -> None:
        screen = self._screen
        if screen.slow_work.running or self._moving.locked() or not screen.is_active:
            return
        if self._watch.touched() and self.session.outdated:
            screen.run_worker(self._catch_up(), group=_MOVE)

    async def _catch_up(self) -> None:
        """Read changes by other programs."""
        before = self.session.pointer
        if await self._read_again("reading what changed"):
            moved = f"step {before} → {self.session.pointer}"
            tell(self._screen, f"another program changed the record: {moved}")

    async def _read_again(self, doing: str) -> bool:
        """Read the record and run it; stay at the end if it is shown and nothing is typed.

        Whether it was read.
        """
        async with self._moving:
            known, before = [*self.session.warnings], self.session.pointer
            done = await self._screen.slow_work.run(
                lambda: (self.session.reload(), self._whole()), doing
            )
            if done is None:
                return False
            self._warn_of_new(known)
            step = self._panes.state.step
            at_end = step == before and not self._panes.prompt.draft
            self._show(done[1], None if at_end else step)
            return True


# -- programs that answer the record


class Holding:
    """Holds the record and gives it back; ends with the screen."""

    def __init__(self, panes: Panes) -> None:
        self._panes = panes
        self._hold: Hold | None = None

    def follow(self) -> None:
        """Show from now on who waits."""
        self._panes.screen.set_interval(_FOLLOW_SECONDS, self._look)

    def turn(self) -> None:
        """Hold the record; if it is held, give it back."""
        screen = self._panes.screen
        if self._hold is not None:
            self.end()
            tell(screen, "given back: programs go on, and are told what was answered for them")
            return
        try:
            self._hold = Hold(self._panes.session.path)
        except QuizlogError as error:
            complain(screen, error)
            return
        self._show("held")
        key = screen.key("player.hold")
        tell(screen, f"held: programs that answer this record wait; {key} gives it back")

    def end(self) -> None:
        """Give the record back, if it is held."""
        if self._hold is not None:
            self._hold.release()
            self._hold = None
            self._show("")

    def _look(self) -> None:
        if self._hold is not None:
            names = ", ".join(self._hold.waiting())
            self._show(f"held, {names} waits" if names else "held")

    def _show(self, held: str) -> None:
        if held != self._panes.held:
            self._panes.held = held
            self._panes.show_status()
