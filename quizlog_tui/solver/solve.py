"""Makes a decision: asks all models at once, runs their code, lets them vote and reconcile.

Each event is reported with the decision so far. No fault of a model, its code or its server raises
here; cancelling ends everything. The caller provides the function that runs code, and the tool that
sends HTTP requests of models: this module sends none. Requests to endpoints are counted, because
providers may bill them; prices are not known.
"""

from __future__ import annotations

import asyncio
import math
import time
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ..sandbox.result import ExecResult
from ..text import plural
from .contract import C, FetchRequest, Final, Research, Solution
from .decision import Decision, Execution, Fetched, ModelQuestion, ModelReply, Reconsidered, Refusal
from .decision_text import answer_fault
from .models.transport import ModelClient, ModelResult, Prompt, Transport, TransportReply
from .prompts import Offer, reconcile_prompt, solve_prompt
from .redaction import Redaction
from .voting.decide import decide, needs_reconciliation, settled, two_runs_agree

if TYPE_CHECKING:
    from .models.transport import Voter


RunCode = Callable[[str, Path | None], Awaitable[ExecResult]]
"""Runs a model's code in a sandbox, on a copy of a folder's files."""
_AGREED_SHARE = 0.4
"""Share of the budget after which two runs with equal answers are enough."""
_SPENT = "not waited for: "
_SHOWN = 4_000
"""Maximum number of characters of a run's output in a decision."""
ROUNDS = 4
"""Number of times that one model may ask for requests before it must answer."""


@dataclass(frozen=True)
class Progress:
    """An event while a question is asked."""

    what: Literal["asked", "replied", "ran", "reconciling", "reconsidered", "decided"]
    name: str | None
    """The model it concerns."""
    decision: Decision
    """The decision so far, with a verdict on the present evidence."""


@dataclass(frozen=True)
class FetchTool:
    """Sends the HTTP requests that models ask for."""

    sites: tuple[str, ...]
    """Allowed origins."""
    fetch: Callable[[str, FetchRequest], Awaitable[tuple[Fetched, ...]]]
    """Sends a request of the named model. Raises for no fault of the model or of a server."""


def cost_text(names: Sequence[str]) -> str:
    """What a question costs, in one line, to be shown before models behind endpoints are asked."""
    asked = f"each question is sent to {', '.join(names)}, again where they differ"
    return f"{asked}; their providers may bill it"


@dataclass
class Bill:
    """The requests sent to models behind endpoints."""

    names: tuple[str, ...] = ()
    """The names of the models."""
    requests: int = 0
    """Number of requests sent to them."""

    @property
    def spent(self) -> str:
        """The number of requests, in one line for the user."""
        sent = f"{plural(self.requests, 'request')} sent to {', '.join(self.names)}"
        return f"{sent}: quizlog does not know what their providers bill"

    def counting(self, name: str, endpoint: Transport) -> Transport:
        """A transport that counts the requests to an endpoint."""
        self.names = (*self.names, name)
        return _Counted(endpoint, self)


class _Counted:
    """Counts the requests to an endpoint."""

    def __init__(self, endpoint: Transport, bill: Bill) -> None:
        self._endpoint = endpoint
        self._bill = bill

    async def complete(self, prompt: Prompt[Any]) -> TransportReply:
        """The endpoint's reply."""
        self._bill.requests += 1
        return await self._endpoint.complete(prompt)


_SECOND_SHARE = 1 / 3
"""Share of a budget that is reserved for a second round while one may be needed."""


@dataclass(frozen=True)
class Shares:
    """Limits in seconds for parts of a budget."""

    model: float = math.inf
    """One model's reply, repair included."""
    second: float = math.inf
    """The second round."""

    def first(self, budget: float) -> float:
        """Seconds for the first round if models differ, so that time is left for the second."""
        if budget == math.inf:
            return budget
        return budget - min(self.second, budget * _SECOND_SHARE)


UNSHARED = Shares()
"""No part has its own limit."""


@dataclass(frozen=True)
class Panel:
    """The models to ask, and the settings for asking them."""

    clients: Sequence[ModelClient]
    run: RunCode
    family_cap: float | None = None
    label: str | None = None
    """A remark for the decision."""
    redaction: Redaction = field(default_factory=Redaction)
    """The keys that must not get into a decision."""
    turns: AbstractAsyncContextManager[Any] = field(default_factory=nullcontext)
    """Held while a model is asked: limits the concurrent requests of all questions."""
    recording: Recording | None = None
    """Replies recorded for some questions, which are played instead of asking."""
    bill: Bill = field(default_factory=Bill)
    """Counts the requests that providers may bill."""
    fetched: Path | None = None
    """Folder of recorded replies to HTTP requests of models, played instead of sending any."""


@dataclass(frozen=True)
class Recording:
    """Replies recorded for the questions of a record."""

    panel: Panel
    """The panel that plays them."""
    has: Callable[[Prompt[Any]], bool]
    """Whether every model's reply to a request is recorded."""


def answering_panel(
    panel: Panel, question: ModelQuestion, folder: Path | None, refused: Sequence[Refusal]
) -> Panel:
    """The panel that answers a question: its recording if that has all replies, else itself."""
    recording = panel.recording
    if recording and recording.has(solve_prompt(question, _file_names(folder), refused)):
        return recording.panel
    return panel


async def solve(
    question: ModelQuestion,
    panel: Panel,
    *,
    folder: Path | None = None,
    refused: Sequence[Refusal] = (),
    budget: float | None = None,
    shares: Shares = UNSHARED,
    tool: FetchTool | None = None,
    tell: Callable[[Progress], None] = lambda progress: None,
) -> Decision:
    """Ask all models of a panel, and make a decision.

    Args:
        question: The question.
        panel: The models to ask.
        folder: A folder of exactly the files that a model's code may read.
        refused: Answers already found wrong, which are not given again.
        budget: Seconds for everything; unlimited if None. Within a budget, votes that can change
            nothing are not awaited, nor are late ones if models differ and a second round is due.
        shares: The limits of parts of the budget.
        tool: Sends HTTP requests that models ask for before they answer; None to forbid them.
        tell: Called with each event.
    """
    seconds = math.inf if budget is None else budget
    work = _Work(_blank(question, panel, refused), panel, folder, tell, seconds, shares, tool)
    await work.first_round()
    if work.left() and needs_reconciliation(work.decision):
        await work.second_round()
    work.update("decided", None, work.decision)
    return work.decision


def _blank(question: ModelQuestion, panel: Panel, refused: Sequence[Refusal]) -> Decision:
    return Decision(
        id=f"d-{uuid.uuid4().hex[:12]}",
        time=datetime.now(UTC).isoformat(timespec="seconds"),
        question=_clean_question(question, panel.redaction),
        refused=tuple(_clean_refusal(one, panel.redaction) for one in refused),
        family_cap=panel.family_cap,
        label=panel.label,
    )


@dataclass
class _Work:
    """A decision in the making."""

    decision: Decision
    panel: Panel
    folder: Path | None
    tell: Callable[[Progress], None]
    budget: float
    shares: Shares
    tool: FetchTool | None
    started: float = field(default_factory=time.monotonic)

    def update(self, what: Any, name: str | None, decision: Decision) -> None:
        """Store new evidence with its verdict, and report the event."""
        self.decision = decide(decision)
        self.tell(Progress(what, name, self.decision))

    def left(self) -> float:
        """Seconds of the budget that are left."""
        return max(0.0, self.budget - self._age())

    # -- first round

    async def first_round(self) -> None:
        """Ask all models at once, and handle each reply as it arrives."""
        prompt = partial(
            solve_prompt, self.decision.question, _file_names(self.folder), self.decision.refused
        )
        for client in self.panel.clients:
            self.tell(Progress("asked", client.voter.name, self.decision))
        asking = {
            asyncio.create_task(self._ask(client, prompt)): client for client in self.panel.clients
        }
        spent = await self._all(asking, self._enough, self._left_of_first)
        why, seconds = f"{_SPENT}{self._why_spent()}", round(self._age(), 3)
        for client in spent:
            self._put(
                _reply_evidence(client.voter, ModelResult("timeout", error=why, seconds=seconds))
            )

    async def _ask(self, client: ModelClient, prompt: Callable[..., Prompt[Solution]]) -> None:
        async def ask(offer: Offer | None = None) -> ModelResult[Solution]:
            return await self._request(client, prompt(offer))

        fetched: tuple[Fetched, ...] = ()
        if self.tool:
            result, fetched = await _research(client.voter.name, self.tool, ask)
        else:
            result = await ask()
        reply = replace(_reply_evidence(client.voter, result), fetched=fetched)
        if not reply.code:
            self._put(reply)
            return
        self.tell(Progress("replied", reply.name, self.decision))
        executed = await self._run(reply.code)
        self._put(replace(reply, executed=executed), "ran")

    async def _request(self, client: ModelClient, prompt: Prompt[C]) -> ModelResult[C]:
        """A model's reply. Waiting for its turn uses the budget, not the model's own time."""
        async with self.panel.turns:
            return await client.request(prompt, min(self.left(), self.shares.model))

    async def _run(self, code: str) -> Execution:
        return run_evidence(await self.panel.run(code, self.folder), self.panel.redaction)

    def _put(self, reply: ModelReply, what: str = "replied") -> None:
        models = (*self.decision.models, reply)
        order = {client.voter.name: i for i, client in enumerate(self.panel.clients)}
        models = tuple(sorted(models, key=lambda model: order[model.name]))
        self.update(what, reply.name, replace(self.decision, models=models))

    async def _all(
        self,
        tasks: Mapping[asyncio.Task[None], ModelClient],
        enough: Callable[[list[float]], bool],
        left: Callable[[], float],
    ) -> list[ModelClient]:
        """Wait for tasks until enough are done; cancel the rest and return their models."""
        pending = set(tasks)
        try:
            while pending and not enough([tasks[task].voter.weight for task in pending]):
                seconds = left()
                done, pending = await asyncio.wait(
                    pending,
                    timeout=None if seconds == math.inf else max(0.0, seconds),
                    return_when=asyncio.FIRST_COMPLETED,
                )
                for task in done:
                    task.result()
                if not done:
                    break
        finally:
            for task in pending:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        return [client for task, client in tasks.items() if task.cancelled()]

    def _enough(self, weights: Sequence[float]) -> bool:
        """Whether the votes so far suffice, given a budget and the weights still to come."""
        if self.budget == math.inf:
            return False
        if settled(self.decision, sum(weights)):
            return True
        return self._age() > _AGREED_SHARE * self.budget and two_runs_agree(self.decision)

    def _left_of_first(self) -> float:
        """Seconds for which to wait further in the first round."""
        differ = needs_reconciliation(self.decision)
        return self.shares.first(self.budget) - self._age() if differ else self.left()

    def _age(self) -> float:
        return time.monotonic() - self.started

    def _why_spent(self) -> str:
        if not self.left():
            return "the budget is spent"
        differ = needs_reconciliation(self.decision)
        return "others differ, and need time to agree" if differ else "the vote was settled"

    # -- second round

    async def second_round(self) -> None:
        """Show all models the candidates and results, and ask once more."""
        self.tell(Progress("reconciling", None, self.decision))
        prompt = reconcile_prompt(self.decision, _file_names(self.folder))
        again = {reply.name for reply in self.decision.models if _may_be_asked_again(reply)}
        clients = [client for client in self.panel.clients if client.voter.name in again]
        tasks = {asyncio.create_task(self._ask_again(c, prompt)): c for c in clients}
        end = min(self.budget, self._age() + self.shares.second)
        error = f"{_SPENT}the budget is spent"
        for client in await self._all(tasks, lambda weights: False, lambda: end - self._age()):
            self._put_again(Reconsidered(client.voter.name, "timeout", error=error))

    async def _ask_again(self, client: ModelClient, prompt: Prompt[Final]) -> None:
        result = await self._request(client, prompt)
        reply = _reconsidered_evidence(client.voter, result)
        if reply.corrected_code:
            reply = replace(reply, executed=await self._run(reply.corrected_code))
        self._put_again(reply)

    def _put_again(self, reply: Reconsidered) -> None:
        replies = sorted((*self.decision.reconciliation, reply), key=lambda one: one.name)
        changed = replace(self.decision, reconciliation=tuple(replies))
        self.update("reconsidered", reply.name, changed)


def _file_names(folder: Path | None) -> list[str]:
    return sorted(path.name for path in folder.iterdir()) if folder else []


async def _research(
    name: str, tool: FetchTool, ask: Callable[[Offer], Awaitable[ModelResult[Solution]]]
) -> tuple[ModelResult[Solution], tuple[Fetched, ...]]:
    """A model's final reply of the first round, and the results of its requests."""
    fetched: tuple[Fetched, ...] = ()
    seconds = 0.0
    for rounds in range(ROUNDS, -1, -1):
        reply = await ask(Offer(tool.sites, rounds, fetched))
        seconds += reply.seconds
        requests = reply.parsed.fetch if isinstance(reply.parsed, Research) else ()
        if not requests:
            break
        for results in await asyncio.gather(*(tool.fetch(name, request) for request in requests)):
            fetched += results
    return replace(reply, seconds=round(seconds, 3)), fetched


# -- evidence: replies and runs, limited in size and without keys


def _clean_question(question: ModelQuestion, redaction: Redaction) -> ModelQuestion:
    """The question without keys, which a quiz might print."""
    clean = redaction.clean
    return replace(question, text=clean(question.text), context=clean(question.context))


def _clean_refusal(refusal: Refusal, redaction: Redaction) -> Refusal:
    """An answer found wrong, without keys."""
    clean = redaction.clean_value
    return Refusal(clean(refusal.answer), clean(refusal.reason))


def _reply_evidence(voter: Voter, result: ModelResult[Solution]) -> ModelReply:
    """The evidence of a model's reply, before its code has run."""
    solution = result.parsed
    code = solution.code if solution else None
    return ModelReply(
        name=voter.name,
        status=result.status,
        claimed=solution.answer if solution else None,
        code=code if code and code.strip() else None,
        explanation=solution.explanation if solution else None,
        seconds=result.seconds,
        repaired=result.repaired,
        error=result.error,
        family=voter.family,
        weight=voter.weight,
        primary=voter.primary,
        source=result.source,
    )


def _may_be_asked_again(reply: ModelReply) -> bool:
    """Whether a voter takes part in the second round: no person, and no unusable reply."""
    return reply.source != "human" and reply.status in ("ok", "rate_limited")


def _reconsidered_evidence(voter: Voter, result: ModelResult[Final]) -> Reconsidered:
    """The evidence of a reconsidered answer, before its code has run."""
    final = result.parsed
    code = final.corrected_code if final else None
    return Reconsidered(
        name=voter.name,
        status=result.status,
        final_answer=final.final_answer if final else None,
        confidence=final.confidence if final else None,
        explanation=final.explanation if final else None,
        corrected_code=code if code and code.strip() else None,
        seconds=result.seconds,
        repaired=result.repaired,
        error=result.error,
    )


def run_evidence(result: ExecResult, redaction: Redaction) -> Execution:
    """The evidence of a run. An answer that is not a JSON value is left out."""
    fault = answer_fault(result.answer)
    error = f"the answer {fault}" if fault else result.error
    return Execution(
        status="bad_result" if fault else result.status,
        answer=None if fault else redaction.clean_value(result.answer),
        stdout=redaction.clean(result.stdout)[:_SHOWN],
        stderr=redaction.clean(result.stderr)[:_SHOWN],
        error=redaction.clean(error) if error else None,
        seconds=round(result.seconds, 3),
        isolation=result.isolation,
    )
