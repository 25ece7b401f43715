"""Asking several models the pending question: replies as they arrive, the vote as it grows.

Answers only when told to, or on autopilot while models agree. What a person answered stays: models
that answer otherwise get a branch of their own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType

from ....errors import QuizlogError
from ....session.session import Session
from ....solver import autopilot
from ....solver.bill import Bill, cost_text
from ....solver.decisions.decision import Decision
from ....solver.solve import Panel, Progress
from ....text import clipped, one_line
from ...clock import Clock
from ...draw.consensus import outcome_text, verdict_lines
from ...draw.replies import reply_lines
from ...keys.bindings import screen_bindings
from ...toasts import complain, tell, warn
from ...widgets.lines.documents import Paragraphs, line
from ...widgets.lines.line_view import LineView
from ..base import DIALOG, QuizlogScreen
from ..dialogs import AskScreen, ConfirmScreen

_ASKING = "asking"
"""The group of the workers that wait for models."""

_CHOICES = {
    "ask.accept": "takes it",
    "ask.override": "changes it",
    "ask.autopilot": "goes on by itself",
    "ask.leave": "leaves it",
}


class _NotAgreedError(Exception):
    """The user has not agreed to asking models that may bill it."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__()
        self.names = names


class AskModelsScreen(QuizlogScreen[str]):
    """Dismisses with `changed`, with `override: TEXT` to be edited, or with nothing.

    Args:
        session: The record whose pending question is asked.
        clock: How durations are told.
        agreed: The models that may be asked although their providers may bill it; grows.
    """

    SCOPE = "ask"
    BINDINGS: ClassVar[list[BindingType]] = screen_bindings("ask")
    DEFAULT_CSS = "AskModelsScreen LineView { height: 1fr; }"

    def __init__(self, session: Session, clock: Clock, agreed: set[str]) -> None:
        super().__init__()
        self.session = session
        self._clock = clock
        self._agreed = agreed
        self._bill = Bill()
        self._noted: set[str] = set()
        self._decision: Decision | None = None
        self._asking = False
        self._changed = False
        self._autopilot = False

    def content(self) -> ComposeResult:
        """The decision as it grows."""
        yield LineView(id="decision")

    def on_mount(self) -> None:
        """Ask at once."""
        self.query_one(LineView).border_title = "Models"
        self.query_one(LineView).focus()
        self._ask()

    # -- asking

    @work(group=_ASKING, exclusive=True, exit_on_error=False)
    async def _ask(self, decision: Decision | None = None) -> None:
        """Ask the pending question; on autopilot go on while models agree.

        Args:
            decision: What was decided about it; None if it is yet to be asked.
        """
        self._asking, self._decision = True, None
        self.status("asking the models; Escape stops")
        try:
            async with self._panel() as panel:
                await self._go_on(panel, decision)
        except _NotAgreedError as error:
            self._ask_whether(error.names)
        except QuizlogError as error:
            complain(self, error)
            self.status(f"not asked; {self.key('ask.leave')} goes back")
        finally:
            self._asking = False

    def _panel(self) -> AbstractAsyncContextManager[Panel]:
        from ....sandbox import run_code
        from ....solver.models.choice import Choice, chosen_panel

        run = partial(run_code, unsafe_local=False)
        beside = self.session.path.parent
        return chosen_panel(
            Choice(), run, record_folder=beside, ask=self._ask_person, note=self._note
        )

    def _note(self, text: str) -> None:
        """Warn once, however often is asked."""
        if text not in self._noted:
            self._noted.add(text)
            warn(self, text)

    async def _go_on(self, panel: Panel, decision: Decision | None) -> None:
        self._bill = panel.bill
        while True:
            self._decision = decision or await autopilot.ask(
                self.session, panel, tell=self._progress, agree=self._check_agreed
            )
            self._draw(self._decision)
            if not self._autopilot or not autopilot.agreed(self._decision):
                self._say_what_now(self._decision)
                return
            await self._take(self._decision)
            decision = self._decision = None
            if self.session.transcript.status != "in_progress":
                ended = f"the questionnaire has ended: {self.session.transcript.status}"
                self.status(f"{ended}; {self.key('ask.leave')} goes back")
                return

    def _check_agreed(self, panel: Panel) -> None:
        """Nobody is asked who may bill it, unless the user has agreed."""
        if not self._agreed.issuperset(panel.bill.names):
            raise _NotAgreedError(panel.bill.names)

    @work(group=DIALOG, exclusive=True)
    async def _ask_whether(self, names: Sequence[str]) -> None:
        """Ask the user, once for each model, then the models."""
        question = ConfirmScreen(f"Ask the models: {cost_text(names)}.")
        if await self.app.push_screen_wait(question):
            self._agreed.update(names)
            self._ask()
        else:
            self.leave()

    async def _ask_person(self, prompt: object) -> str | None:
        """The person at the screen is one of the voters."""
        return await self.app.push_screen_wait(AskScreen("Your vote? (Escape abstains)"))

    def _progress(self, progress: Progress) -> None:
        """Something arrived: draw the vote as it stands."""
        self._draw(progress.decision)
        who = f" {progress.name}" if progress.name else ""
        self.status(f"… {progress.what}{one_line(who)}; Escape stops")

    def _draw(self, decision: Decision) -> None:
        lines = [*verdict_lines(decision), line(""), *reply_lines(decision, self._clock)]
        if self._bill.requests:
            lines += [line(""), line((self._bill.spent, "dim"))]
        self.query_one(LineView).show(Paragraphs(lines))

    def _say_what_now(self, decision: Decision) -> None:
        if decision.verdict.why is None:
            said = f"nothing was decided; {self.key('ask.override')} answers yourself"
        elif self._autopilot:
            takes, answers = self.key("ask.accept"), self.key("ask.override")
            said = "paused: the models do not agree; "
            said += f"{takes} takes it all the same, {answers} answers yourself"
        else:
            said = ", ".join(f"{self.key(name)} {does}" for name, does in _CHOICES.items())
        self.status(f"◆ {clipped(outcome_text(decision.verdict), 40)} · {said}")

    # -- what to do with it

    async def _take(self, decision: Decision) -> None:
        await asyncio.to_thread(autopilot.accept, self.session, decision)
        self._changed = True

    @work(group=DIALOG, exclusive=True)
    async def action_accept(self) -> None:
        """Answer with what was decided."""
        if self._decision is None:
            tell(self, "nothing is decided here")
            return
        decision = self._decision
        if await self.slow_work.run(lambda: autopilot.accept(self.session, decision)) is not None:
            self._changed = True
            self.leave()

    def action_override(self) -> None:
        """Back to the question, with the decided answer to change."""
        decided = self._decision is not None and self._decision.verdict.why is not None
        text = outcome_text(self._decision.verdict) if self._decision and decided else ""
        self.dismiss(f"override: {text}")

    def action_autopilot(self) -> None:
        """Take what models agree on, question after question; pause where they do not."""
        self._autopilot = not (self._autopilot and self._asking)
        if not self._autopilot:
            tell(self, "stops after this question")
        elif not self._asking:
            self._ask(self._decision)

    def action_again(self) -> None:
        """Ask once more."""
        if not self._asking:
            self._ask()

    # -- leaving

    def action_back(self) -> None:
        """Stop asking first, then leave."""
        if self._asking:
            self.workers.cancel_group(self, _ASKING)
            self._autopilot = False
            self.status(
                f"stopped; {self.key('ask.again')} asks again, {self.key('ask.leave')} goes back"
            )
        else:
            super().action_back()

    def leave(self) -> None:
        """Back to the player."""
        self.workers.cancel_group(self, _ASKING)
        self.dismiss("changed" if self._changed else "")
