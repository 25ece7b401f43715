"""A host's part in runs that are asked for through the queue: it answers one question of one.

Keeps nothing: whoever ordered the answer does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import asdict, replace
from typing import Any

from ...errors import QuizlogError
from ...files.scratch import scratch_folder
from ...replay.process.limits import Limits
from ...solver.models.client import ModelClient
from ...solver.solve import Panel
from .model_runs import dealt, say, session_of, standing_at
from .remote_question import Delivery, Order, unpack
from .runs import SolverRun, Turn

_OTHERWISE = (
    "a host's script asks something else: it lacks a file that the script does not mention, "
    "or has other versions of what it imports"
)


def answering(
    panel: Panel, limits: Limits | None = None
) -> Callable[[str, dict[str, Any]], Awaitable[dict[str, Any]]]:
    """What answers orders of the queue.

    Args:
        panel: The host's models.
        limits: What a script may use.
    """

    async def answer(task: str, order: dict[str, Any]) -> dict[str, Any]:
        return asdict(await _delivery(Order(**order), panel, limits))

    return answer


async def _delivery(order: Order, panel: Panel, limits: Limits | None) -> Delivery:
    client = _client(order, panel)
    if client is None:
        return Delivery(order.model or "", broken=f"a host has no model {order.model!r}")
    name = client.voter.name
    run = SolverRun(name, tuple(map(Turn, order.inputs)), start_time=order.start_time)
    try:
        with scratch_folder("order") as folder:
            script = await asyncio.to_thread(unpack, order, folder)
            async with session_of(standing_at(script, order.seed, run), limits) as session:
                if session.reply().next_prompt != order.prompt:
                    return Delivery(name, broken=_OTHERWISE)
                said = await say(session, replace(panel, clients=[client]), order.hint)
                turn = asdict(said.turn) if said.turn else {}
                return Delivery(name, **turn, broken=said.broken)
    except QuizlogError as error:
        return Delivery(name, broken=str(error))


def _client(order: Order, panel: Panel) -> ModelClient | None:
    """Who answers: who has done so far, and at first whose turn it is."""
    if order.model is None:
        return dealt(panel.clients, order.sample)
    return next((one for one in panel.clients if one.voter.name == order.model), None)
