"""The screen that asks several models the pending question and shows replies and votes live.

It answers only on request, or on autopilot while the models agree. A person's answer stays: if the
models' answer differs, it goes to a new branch.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial

from textual import work
from textual.app import ComposeResult

from ...errors import QuizlogError
from ...session.session import Session
from ...solver import autopilot
from ...solver.decision import Decision
from ...solver.solve import Bill, Panel, Progress, cost_text
from ...text import clipped, one_line
from ..clock import Clock
from ..screens.base import DIALOG, QuizlogScreen
from ..screens.consensus import outcome_text, reply_lines, verdict_lines
from ..screens.dialogs import AskTextScreen, ConfirmScreen
from ..toasts import complain, tell, warn
from ..widgets.documents import Paragraphs, line
from ..widgets.line_view import LineView

_ASKING = "asking"
"""The group of the workers that wait for models."""

_CHOICES = {
    "ask.accept": "accepts",
    "ask.override": "edits",
    "ask.autopilot": "runs the autopilot",
    "ask.leave": "leaves",
}


class _NotAgreedError(Exception):
    """The user has not agreed to ask models that may cost money."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__()
        self.names = names


class AskModelsScreen(QuizlogScreen[str]):
    """Dismisses with `changed`, with `override: TEXT` to be edited, or with nothing.

    `agreed` grows: the models that the user agreed to ask although they may cost money.
    """

    SCOPE = "ask"
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
        """The decision, drawn as it grows."""
        yield LineView(id="decision")

    def on_mount(self) -> None:
        """Ask at once."""
        self.query_one(LineView).border_title = "Models"
        self.query_one(LineView).focus()
        self._ask()

    # -- asking

    @work(group=_ASKING, exclusive=True, exit_on_error=False)
    async def _ask(self, decision: Decision | None = None) -> None:
        """Ask, unless there is a `decision`; on autopilot continue while the models agree."""
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
        from ...sandbox import run_code
        from ...solver.models.choice import Choice, chosen_panel

        run = partial(run_code, unsafe_local=False)
        beside = self.session.path.parent
        return chosen_panel(
            Choice(), run, record_folder=beside, ask=self._ask_person, note=self._note
        )

    def _note(self, text: str) -> None:
        """Warn only once."""
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
        """Raise unless the user has agreed to ask the models that may cost money."""
        if not self._agreed.issuperset(panel.bill.names):
            raise _NotAgreedError(panel.bill.names)

    @work(group=DIALOG, exclusive=True)
    async def _ask_whether(self, names: Sequence[str]) -> None:
        """Ask the user for consent, once per model, then ask the models."""
        question = ConfirmScreen(f"Ask the models: {cost_text(names)}.")
        if await self.app.push_screen_wait(question):
            self._agreed.update(names)
            self._ask()
        else:
            self.leave()

    async def _ask_person(self, prompt: object) -> str | None:
        return await self.app.push_screen_wait(AskTextScreen("Your vote? (Escape abstains)"))

    def _progress(self, progress: Progress) -> None:
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
            said = f"nothing was decided; {self.key('ask.override')} lets you answer"
        elif self._autopilot:
            takes, answers = self.key("ask.accept"), self.key("ask.override")
            said = "paused: the models do not agree; "
            said += f"{takes} accepts it anyway, {answers} lets you answer"
        else:
            said = ", ".join(f"{self.key(name)} {does}" for name, does in _CHOICES.items())
        self.status(f"◆ {clipped(outcome_text(decision.verdict), 40)} · {said}")

    # -- what to do with it

    async def _take(self, decision: Decision) -> None:
        await asyncio.to_thread(autopilot.accept, self.session, decision)
        self._changed = True

    @work(group=DIALOG, exclusive=True)
    async def action_accept(self) -> None:
        """Answer with the decision."""
        if self._decision is None:
            tell(self, "nothing has been decided")
            return
        decision = self._decision
        if await self.slow_work.run(lambda: autopilot.accept(self.session, decision)) is not None:
            self._changed = True
            self.leave()

    def action_override(self) -> None:
        """Go back to the question, with the decided answer to edit."""
        decided = self._decision is not None and self._decision.verdict.why is not None
        text = outcome_text(self._decision.verdict) if self._decision and decided else ""
        self.dismiss(f"override: {text}")

    def action_autopilot(self) -> None:
        """Accept agreed answers, question after question; pause if the models disagree."""
        self._autopilot = not (self._autopilot and self._asking)
        if not self._autopilot:
            tell(self, "stops after this question")
        elif not self._asking:
            self._ask(self._decision)

    def action_again(self) -> None:
        """Ask again."""
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
        """Go back to the player."""
        self.workers.cancel_group(self, _ASKING)
        self.dismiss("changed" if self._changed else "")
