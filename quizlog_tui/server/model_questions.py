"""Puts questions to models, with or without a record, and returns the decisions.

A record's question is read in a separate session, so that others can answer the record in the
meantime. The decision is then given as the answer if the record still asks the same question.

Server-sent events tell of the progress: any number of `progress` (what, name, the decision so far),
then one `done` (the same JSON as without events) or `error`. If the client disconnects, the models'
requests are cancelled.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from ..errors import QuizlogError, did_you_mean, error_data, refusal
from ..files.paths import decisions_path
from ..sandbox import run_code
from ..session.open_sessions import OpenSessions
from ..session.served_folders import SHEET, NotServedError
from ..session.session import Session
from ..solver.autopilot import Pending, accept, agreed, ask_about, read_pending
from ..solver.decision import Decision, ModelQuestion
from ..solver.decision_text import read_decisions, to_data
from ..solver.models.choice import Choice, chosen_panel
from ..solver.solve import Progress, solve
from ..solver.voting.decide import RULES, decide
from .bodies import QuestionSolve, RecordSolve
from .replies import BadRequestError, event

AT_ONCE = 8
"""Maximum number of concurrent questions; more wait."""
_RECENT = 256
"""Number of recent decisions that can be fetched by id."""

Tell = Callable[[Progress], None]
_ALIVE_SECONDS = 15.0
"""Seconds without an event after which a comment is sent, to detect a broken connection."""
Work = Callable[[Callable[[Progress], None]], Awaitable[dict[str, Any]]]
_Event = tuple[str, Mapping[str, Any]]


class ModelQuestions:
    """Asks models on behalf of clients and remembers recent decisions."""

    def __init__(self, sessions: OpenSessions, choice: Choice) -> None:
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
        answer = partial(_accepted, decision)
        reply = await self._sessions.change(path, answer, "models, over HTTP")
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


def _accepted(decision: Decision, session: Session) -> dict[str, Any]:
    return accept(session, decision).to_dict()


# -- events


async def events(work: Work) -> AsyncIterator[bytes]:
    """The events of `work` until it ends; it is cancelled if the generator is closed."""
    queue: asyncio.Queue[_Event] = asyncio.Queue()
    task = asyncio.create_task(_work(work, queue))
    try:
        kind = "progress"
        while kind == "progress":
            try:
                async with asyncio.timeout(_ALIVE_SECONDS):
                    kind, data = await queue.get()
            except TimeoutError:
                yield b": still at work\n\n"
                continue
            yield event(kind, data)
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def _work(work: Work, queue: asyncio.Queue[_Event]) -> None:
    def tell(progress: Progress) -> None:
        data = {"what": progress.what, "name": progress.name}
        queue.put_nowait(("progress", data | {"decision": to_data(progress.decision)}))

    try:
        queue.put_nowait(("done", await work(tell)))
    except Exception as error:
        shown = refusal(error)
        defect = QuizlogError("the server failed", hint="see the messages of the server")
        queue.put_nowait(("error", error_data(shown or defect)))
        if shown is None:
            raise
