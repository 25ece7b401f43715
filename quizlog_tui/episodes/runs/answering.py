"""Answers a single question of a run, on a machine that works the queue.

Nothing is stored here: the process that asked stores the answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import asdict, replace
from typing import Any

from ...errors import QuizlogError
from ...files.scratch import scratch_folder
from ...replay.process.limits import Limits
from ...solver.models.transport import ModelClient
from ...solver.solve import Panel
from .model_runs import ask_model, client_for, record_of_run, session_of
from .remote_question import RemoteAnswer, RemoteQuestion, unpack
from .runs import SolverRun, Turn

_OTHERWISE = (
    "the script asks another question on the host: it lacks a file that the script does not "
    "mention, or has other versions of imported packages"
)


def answering(
    panel: Panel, limits: Limits | None = None
) -> Callable[[str, dict[str, Any]], Awaitable[dict[str, Any]]]:
    """A function that answers the questions in the queue.

    Args:
        panel: This machine's models.
        limits: The limits of scripts.
    """

    async def answer(task: str, question: dict[str, Any]) -> dict[str, Any]:
        return asdict(await _answer_question(RemoteQuestion(**question), panel, limits))

    return answer


async def _answer_question(
    question: RemoteQuestion, panel: Panel, limits: Limits | None
) -> RemoteAnswer:
    client = _client(question, panel)
    if client is None:
        broken = f"the host has no model {question.model!r}"
        return RemoteAnswer(question.model or "", broken=broken)
    name = client.voter.name
    run = SolverRun(name, tuple(map(Turn, question.inputs)), start_time=question.start_time)
    try:
        with scratch_folder("order") as folder:
            script = await asyncio.to_thread(unpack, question, folder)
            async with session_of(record_of_run(script, question.seed, run), limits) as session:
                if session.reply().next_prompt != question.prompt:
                    return RemoteAnswer(name, broken=_OTHERWISE)
                result = await ask_model(session, replace(panel, clients=[client]), question.hint)
                turn = asdict(result.turn) if result.turn else {}
                return RemoteAnswer(name, **turn, broken=result.broken)
    except QuizlogError as error:
        return RemoteAnswer(name, broken=str(error))


def _client(question: RemoteQuestion, panel: Panel) -> ModelClient | None:
    """The model that has answered so far, or whose turn it is; None if it is not configured."""
    if question.model is None:
        return client_for(panel.clients, question.sample)
    return next((one for one in panel.clients if one.voter.name == question.model), None)
