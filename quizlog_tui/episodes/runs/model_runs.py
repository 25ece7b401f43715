"""Models that answer whole scripts, each run by one model alone.

Runs are dealt to the models of a panel in turn, so that each run is one model's own and sees no
other's answers. A run ends where its script ends, raises, or the model has no answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from ...errors import LimitError
from ...files.scratch import scratch_folder
from ...record.append_only_list import AppendOnlyList
from ...record.model import Record
from ...record.store import RecordFile
from ...replay.process.limits import Limits
from ...replay.replayer import Replayer
from ...session.session import Session
from ...solver.autopilot import question_files, question_of
from ...solver.decisions.answer_text import answer_text
from ...solver.decisions.decision import Decision
from ...solver.models.client import ModelClient
from ...solver.solve import Panel, solve
from .asking import GOLD, Keep, SolveRun, WantedRun
from .runs import SolverRun, Turn

MAX_TURNS = 1000
"""Answers of one run; a script that asks on and on is left there."""
_LOST = ("error", "timeout", "rate_limited")


@dataclass(frozen=True)
class Said:
    """What a model said to one question."""

    turn: Turn | None
    """Its answer; None if it has none."""
    broken: str | None = None
    """Why it has none for no reason of its own."""


def by_models(panel: Panel, limits: Limits | None = None) -> SolveRun:
    """A solver that deals runs to the models of a panel in turn; gold to the primary one.

    A run that was begun is gone on with by the same model only.

    Args:
        panel: The models.
        limits: What a script may use.
    """

    async def solve_run(want: WantedRun, *, begun: SolverRun | None, keep: Keep) -> SolverRun:
        alone = replace(panel, clients=[dealt(panel.clients, want.sample)])
        name, instance = alone.clients[0].voter.name, want.instance
        run = SolverRun(name, (), sample=want.sample, start_time=instance.start_time)
        if begun is not None and begun.name == name:  # else another model goes on from there
            run = begun
        record = standing_at(instance.source.path.absolute(), instance.seed, run)
        try:
            async with session_of(record, limits) as session:
                return await _answered(session, alone, want.hint, run, keep)
        except LimitError:
            return run  # what was kept last was never answered to

    return solve_run


def dealt(clients: Sequence[ModelClient], sample: int) -> ModelClient:
    """Who makes a run: the same for the same sample, the primary model for gold."""
    if sample == GOLD:
        return next((one for one in clients if one.voter.primary), clients[0])
    return clients[(sample - 1) % len(clients)]


def standing_at(script: Path, seed: int, run: SolverRun) -> Record:
    """A record that stands where a run does."""
    extras = {"start_time": run.start_time} if run.start_time else {}
    return Record(str(script), seed, AppendOnlyList(run.inputs), len(run.inputs), extras=extras)


@asynccontextmanager
async def session_of(record: Record, limits: Limits | None) -> AsyncIterator[Session]:
    """A session for a record that no file keeps.

    Raises:
        LimitError: Its script does not come as far as its answers go.
    """
    with scratch_folder("standing") as folder, Replayer(limits) as replayer:
        path = folder / "record.yaml"
        RecordFile(path).create(record)
        yield await asyncio.to_thread(Session, path, replayer, save=False)


async def _answered(
    session: Session, panel: Panel, hint: str | None, run: SolverRun, keep: Keep
) -> SolverRun:
    """The run gone on with up to its end; `broken` if it ends there by no doing of the model's."""
    while session.reply().status == "in_progress" and len(run.turns) < MAX_TURNS:
        said = await say(session, panel, hint)
        if said.turn is None:
            return replace(run, broken=said.broken)
        run = replace(run, turns=(*run.turns, said.turn))
        keep(run)
        try:
            await asyncio.to_thread(session.answer, said.turn.answer)
        except LimitError:  # the script did not come to an end with it; so will its replay say
            break
    return run


async def say(session: Session, panel: Panel, hint: str | None) -> Said:
    """What the one model of a panel says to the pending question.

    Args:
        session: Where the question is asked.
        panel: The model, alone.
        hint: What only a teacher is told.
    """
    question = question_of(session)
    asked = question
    if hint:
        asked = replace(question, context=f"{question.context}\n[Hint: {hint}]\n")
    with question_files(session.source.path.parent, question) as folder:
        decision = await solve(asked, panel, folder=folder)
    if decision.verdict.why is None:
        [reply] = decision.models
        return Said(None, (reply.error or reply.status) if reply.status in _LOST else None)
    return Said(_turn(decision))


def _turn(decision: Decision) -> Turn:
    """The answer of a decision that one model made alone."""
    [reply] = decision.models
    text = answer_text(decision.verdict.answer, decision.question)
    return Turn(text, reply.code, reply.explanation)
