"""Models that answer whole scripts, each run by one model alone.

Runs are dealt to the models of a panel in turn, so that each run is one model's own and sees no
other's answers. A run ends where its script ends, raises, or the model has no answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from ..autopilot import question_files, question_of
from ..errors import LimitError
from ..record.model import Record
from ..record.store import RecordFile
from ..series import Series
from ..session import Session
from ..solver.answer_text import answer_text
from ..solver.client import ModelClient
from ..solver.decision import Decision
from ..solver.solve import Panel, solve
from .asking import GOLD, Keep, SolveRun, Wanted
from .instance import Instance
from .runs import SolverRun, Turn

MAX_TURNS = 1000
"""Answers of one run; a script that asks on and on is left there."""
_LOST = ("error", "timeout", "rate_limited")


def by_models(panel: Panel) -> SolveRun:
    """A solver that deals runs to the models of a panel in turn; gold to the primary one.

    A run that was begun is gone on with by the same model only.
    """

    async def solve_run(want: Wanted, *, begun: SolverRun | None, keep: Keep) -> SolverRun:
        alone = replace(panel, clients=[_client(panel.clients, want.sample)])
        name, instance = alone.clients[0].voter.name, want.instance
        run = SolverRun(name, (), sample=want.sample, start_time=instance.start_time)
        if begun is not None and begun.name == name:  # else another model goes on from there
            run = begun
        with TemporaryDirectory(prefix="quizlog-run-") as folder:
            path = Path(folder) / "record.yaml"
            RecordFile(path).create(_record(instance, run))
            try:
                session = await asyncio.to_thread(Session, path, save=False)
            except LimitError:
                return run  # what was kept last was never answered to
            with session:
                return await _answered(session, alone, want.hint, run, keep)

    return solve_run


def _record(instance: Instance, run: SolverRun) -> Record:
    """A record that stands where a run does."""
    extras = {"start_time": run.start_time} if run.start_time else {}
    script, inputs = str(instance.source.path.absolute()), Series(run.inputs)
    return Record(script, instance.seed, inputs, len(inputs), extras=extras)


def _client(clients: Sequence[ModelClient], sample: int) -> ModelClient:
    """Who makes a run: the same for the same sample, the primary model for gold."""
    if sample == GOLD:
        return next((one for one in clients if one.voter.primary), clients[0])
    return clients[(sample - 1) % len(clients)]


async def _answered(
    session: Session, panel: Panel, hint: str | None, run: SolverRun, keep: Keep
) -> SolverRun:
    """The run gone on with up to its end; `broken` if it ends there by no doing of the model's."""
    while session.reply().status == "in_progress" and len(run.turns) < MAX_TURNS:
        question = question_of(session)
        asked = question
        if hint:
            asked = replace(question, context=f"{question.context}\n[Hint: {hint}]\n")
        with question_files(session, question) as folder:
            decision = await solve(asked, panel, folder=folder)
        if decision.verdict.why is None:
            [reply] = decision.models
            broken = (reply.error or reply.status) if reply.status in _LOST else None
            return replace(run, broken=broken)
        turn = _turn(decision)
        run = replace(run, turns=(*run.turns, turn))
        keep(run)
        try:
            await asyncio.to_thread(session.answer, turn.answer)
        except LimitError:  # the script did not come to an end with it; so will its replay say
            break
    return run


def _turn(decision: Decision) -> Turn:
    """The answer of a decision that one model made alone."""
    [reply] = decision.models
    text = answer_text(decision.verdict.answer, decision.question)
    return Turn(text, reply.code, reply.explanation)
