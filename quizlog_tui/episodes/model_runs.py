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
from ..record.model import Record
from ..record.store import RecordFile
from ..session import Session
from ..solver.answer_text import answer_text
from ..solver.client import ModelClient
from ..solver.decision import Decision
from ..solver.solve import Panel, solve
from .asking import GOLD, SolveRun
from .runs import SolverRun, Turn

MAX_TURNS = 1000
"""Answers of one run; a script that asks on and on is left there."""
_LOST = ("error", "timeout", "rate_limited")


def by_models(panel: Panel) -> SolveRun:
    """A solver that deals runs to the models of a panel in turn; gold to the primary one."""

    async def solve_run(script: Path, seed: int, hint: str | None, *, sample: int) -> SolverRun:
        alone = replace(panel, clients=[_client(panel.clients, sample)])
        with TemporaryDirectory(prefix="quizlog-run-") as folder:
            path = Path(folder) / "record.yaml"
            RecordFile(path).create(Record(str(script.absolute()), seed))
            session = await asyncio.to_thread(Session, path, save=False)
            with session:
                turns, broken = await _turns(session, alone, hint)
        name = alone.clients[0].voter.name
        return SolverRun(name, tuple(turns), sample=sample, broken=broken)

    return solve_run


def _client(clients: Sequence[ModelClient], sample: int) -> ModelClient:
    """Who makes a run: the same for the same sample, the primary model for gold."""
    if sample == GOLD:
        return next((one for one in clients if one.voter.primary), clients[0])
    return clients[(sample - 1) % len(clients)]


async def _turns(session: Session, panel: Panel, hint: str | None) -> tuple[list[Turn], str | None]:
    """The answers up to the end, and why there are no more if it was not the model's doing."""
    turns: list[Turn] = []
    while session.reply().status == "in_progress" and len(turns) < MAX_TURNS:
        question = question_of(session)
        asked = question
        if hint:
            asked = replace(question, context=f"{question.context}\n[Hint: {hint}]\n")
        with question_files(session, question) as folder:
            decision = await solve(asked, panel, folder=folder)
        if decision.verdict.why is None:
            [reply] = decision.models
            return turns, reply.error if reply.status in _LOST else None
        turn = _turn(decision)
        turns.append(turn)
        await asyncio.to_thread(session.answer, turn.answer)
    return turns, None


def _turn(decision: Decision) -> Turn:
    """The answer of a decision that one model made alone."""
    [reply] = decision.models
    text = answer_text(decision.verdict.answer, decision.question)
    return Turn(text, reply.code, reply.explanation)
