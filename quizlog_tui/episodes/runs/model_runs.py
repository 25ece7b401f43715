"""Lets models answer whole scripts, each run by one model alone.

Runs are assigned to the models of a panel in turn, so that no model sees another's answers. A run
ends when its script ends or raises, or when the model has no answer.
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
from ...replay.process.process import Limits
from ...replay.replayer import Replayer
from ...session.session import Session
from ...solver.autopilot import question_files, question_of
from ...solver.decisions.decision import Decision
from ...solver.decisions.decision_text import answer_text
from ...solver.models.transport import ModelClient
from ...solver.solve import Panel, solve
from .asking import GOLD, Keep, SolveRun, WantedRun
from .runs import SolverRun, Turn

MAX_TURNS = 1000
"""Maximum number of answers in a run, for scripts that never stop asking."""
_LOST = ("error", "timeout", "rate_limited")


@dataclass(frozen=True)
class ModelAnswer:
    """A model's answer to a question."""

    turn: Turn | None
    """The answer; None if there is none."""
    broken: str | None = None
    """Why there is none, if the model is not to blame."""


def by_models(panel: Panel, limits: Limits | None = None) -> SolveRun:
    """A solver that assigns runs to the models of a panel in turn, and gold to the primary one.

    An unfinished run is continued by the same model only.

    Args:
        panel: The models.
        limits: The limits of scripts.
    """

    async def solve_run(want: WantedRun, *, begun: SolverRun | None, keep: Keep) -> SolverRun:
        alone = replace(panel, clients=[client_for(panel.clients, want.sample)])
        name, instance = alone.clients[0].voter.name, want.instance
        run = SolverRun(name, (), sample=want.sample, start_time=instance.start_time)
        if begun is not None and begun.name == name:  # another model's run is not continued
            run = begun
        record = record_of_run(instance.source.path.absolute(), instance.seed, run)
        try:
            async with session_of(record, limits) as session:
                return await _answered(session, alone, want.hint, run, keep)
        except LimitError:
            return run  # the script went over a limit after the last stored answer

    return solve_run


def client_for(clients: Sequence[ModelClient], sample: int) -> ModelClient:
    """The model that makes a run: determined by its number, the primary model for gold."""
    if sample == GOLD:
        return next((one for one in clients if one.voter.primary), clients[0])
    return clients[(sample - 1) % len(clients)]


def record_of_run(script: Path, seed: int, run: SolverRun) -> Record:
    """A record with the answers of a run, and the pointer after the last."""
    extras = {"start_time": run.start_time} if run.start_time else {}
    return Record(str(script), seed, AppendOnlyList(run.inputs), len(run.inputs), extras=extras)


@asynccontextmanager
async def session_of(record: Record, limits: Limits | None) -> AsyncIterator[Session]:
    """A session for a temporary record.

    Raises:
        LimitError: The script goes over a limit before the last answer.
    """
    with scratch_folder("standing") as folder, Replayer(limits) as replayer:
        path = folder / "record.yaml"
        RecordFile(path).create(record)
        yield await asyncio.to_thread(Session, path, replayer, save=False)


async def _answered(
    session: Session, panel: Panel, hint: str | None, run: SolverRun, keep: Keep
) -> SolverRun:
    """Continue a run to its end; it is `broken` if it stops for another reason than the model."""
    while session.reply().status == "in_progress" and len(run.turns) < MAX_TURNS:
        said = await ask_model(session, panel, hint)
        if said.turn is None:
            return replace(run, broken=said.broken)
        run = replace(run, turns=(*run.turns, said.turn))
        keep(run)
        try:
            await asyncio.to_thread(session.answer, said.turn.answer)
        except LimitError:  # the answer makes the script go over a limit, also in a replay
            break
    return run


async def ask_model(session: Session, panel: Panel, hint: str | None) -> ModelAnswer:
    """Ask the pending question to the only model of a panel.

    Args:
        session: The session with the question.
        panel: A panel of one model.
        hint: The hint, for a teacher.
    """
    question = question_of(session)
    asked = question
    if hint:
        asked = replace(question, context=f"{question.context}\n[Hint: {hint}]\n")
    with question_files(session.source.path.parent, question) as folder:
        decision = await solve(asked, panel, folder=folder)
    if decision.verdict.why is None:
        [reply] = decision.models
        return ModelAnswer(None, (reply.error or reply.status) if reply.status in _LOST else None)
    return ModelAnswer(_turn(decision))


def _turn(decision: Decision) -> Turn:
    """The answer in a decision with one model."""
    [reply] = decision.models
    text = answer_text(decision.verdict.answer, decision.question)
    return Turn(text, reply.code, reply.explanation)
