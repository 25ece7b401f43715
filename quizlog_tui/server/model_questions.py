"""Puts questions to models, with or without a record, and returns the decisions.

A record's question is read in a separate session, so that others can answer the record in the
meantime. The decision is then given as the answer if the record still asks the same question.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from ..errors import did_you_mean
from ..files.paths import decisions_path
from ..sandbox import run_code
from ..session.session import Session
from ..solver.autopilot import Pending, accept, agreed, ask_about, read_pending
from ..solver.decision import Decision, ModelQuestion
from ..solver.decision_text import read_decisions, to_data
from ..solver.models.choice import Choice, chosen_panel
from ..solver.solve import Progress, solve
from ..solver.voting.decide import RULES, decide
from .bodies import QuestionSolve, RecordSolve
from .lookup import SHEET, NotServedError
from .replies import BadRequestError
from .sessions import Sessions

AT_ONCE = 8
"""Maximum number of concurrent questions; more wait."""
_RECENT = 256
"""Number of recent decisions that can be fetched by id."""

Tell = Callable[[Progress], None]


class ModelQuestions:
    """Asks models on behalf of clients and remembers recent decisions."""

    def __init__(self, sessions: Sessions, choice: Choice) -> None:
        self._sessions = sessions
        self._choice = choice
        self._turns = asyncio.Semaphore(AT_ONCE)
        self._recent: OrderedDict[str, dict[str, Any]] = OrderedDict()

    async def solved(self, body: RecordSolve | QuestionSolve, tell: Tell) -> dict[str, Any]:
        """Ask the models: the decision, whether they agree, and the reply if it was given."""
        asked = time.monotonic()
        async with self._turns:
            budget = body.budget and max(0.0, body.budget - (time.monotonic() - asked))
            if isinstance(body, QuestionSolve):
                decision, reply = await self._ask_alone(body, budget, tell), None
            else:
                decision, reply = await self._ask_about_record(body, budget, tell)
        data = to_data(decision)
        self._recent[decision.id] = data
        while len(self._recent) > _RECENT:
            self._recent.popitem(last=False)
        result = {"decision": data, "agreed": agreed(decision), "reply": reply}
        return {"schema_version": 1} | result

    async def _ask_alone(self, body: QuestionSolve, budget: float | None, tell: Tell) -> Decision:
        asked = body.question
        question = ModelQuestion(asked.text, asked.context, asked.input_type, tuple(asked.choices))
        async with chosen_panel(self._choice, run_code) as panel:
            return await solve(question, panel, budget=budget, tell=tell)

    async def _ask_about_record(
        self, body: RecordSolve, budget: float | None, tell: Tell
    ) -> tuple[Decision, dict[str, Any] | None]:
        path = self._sessions.folders.find(SHEET, body.sheet_id)
        pending = await self._sessions.off_loop(partial(self._pending, path))
        async with chosen_panel(self._choice, run_code, record_folder=path.parent) as panel:
            decision = await ask_about(pending, panel, budget=budget, tell=tell)
        wanted = body.accept == "always" or (body.accept == "agreed" and agreed(decision))
        if not wanted or decision.verdict.why is None:
            return decision, None
        reply = await self._sessions.move(path, lambda session: accept(session, decision).to_dict())
        return decision, reply | {"record": body.sheet_id}

    def _pending(self, path: Path) -> Pending:
        """The record's pending question, read in a separate session."""
        replayers = self._sessions.replayers
        with replayers.using(replayers.slot(*self._sessions.script_of(path))) as replayer:
            return read_pending(Session(path, replayer, save=False))

    # -- decisions

    def recent(self, name: str) -> dict[str, Any]:
        """A recent decision by its id.

        Raises:
            NotServedError: There is no recent decision with this id.
        """
        if name not in self._recent:
            hint = "older decisions are stored with their records: /decisions?sheet_id=..."
            raise NotServedError("no recent decision has this id", where=name[:100], hint=hint)
        return {"schema_version": 1, "decision": self._recent[name]}

    async def of_sheet(self, name: str, rule: str | None) -> dict[str, Any]:
        """All decisions stored with a record, decided again by `rule` if one is given.

        Raises:
            BadRequestError: There is no such rule.
        """
        if rule is not None and rule not in RULES:
            hint = did_you_mean(rule, RULES) or f"one of {', '.join(RULES)}"
            raise BadRequestError(f"there is no rule {rule!r:.60}", where="rule", hint=hint)
        path = self._sessions.folders.find(SHEET, name)
        return await self._sessions.off_loop(partial(self._stored, path, rule))

    def _stored(self, path: Path, rule: str | None) -> dict[str, Any]:
        file = read_decisions(decisions_path(path))
        decisions = [decide(each, rule) if rule else each for each in file.decisions]
        faults = [self._sessions.folders.shown(str(fault)) for fault in file.faults]
        data = [to_data(decision) for decision in decisions]
        return {"schema_version": 1, "decisions": data, "faults": faults}
