"""Runs whose questions are answered by the hosts that work a queue, each by a model of theirs.

A question is one piece of work, named after what leads to it: a run that is asked for again finds
the answers that came meanwhile. Asks no model itself.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import asdict, replace
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import LimitError
from ...replay.replayer import Replayer
from ...replay.world import world_of
from .asking import Keep, SolveRun, WantedRun
from .instance import Instance
from .model_runs import MAX_TURNS, standing_at
from .remote_question import KIND, Delivery, Order, packed_script
from .runs import SolverRun, Turn

if TYPE_CHECKING:
    from ...queue.client import Client, QueueOutcome

ABREAST = 64
"""Runs that are under way at the same time: how many are answered is for the hosts to say."""


def by_queue(client: Client, folder: Path, replayer: Replayer) -> SolveRun:
    """A solver that gives each question to the queue.

    Args:
        client: The queue.
        folder: Where the runs are kept: what is asked for elsewhere are other runs.
        replayer: Where it is found out what a script asks next.
    """
    packed: dict[tuple[str, int], str] = {}

    def files(one: Instance) -> str:
        if one.key not in packed:
            packed[one.key] = packed_script(one.source)
        return packed[one.key]

    async def solve_run(want: WantedRun, *, begun: SolverRun | None, keep: Keep) -> SolverRun:
        start = want.instance.start_time
        run = begun or SolverRun("", (), sample=want.sample, start_time=start)
        while len(run.turns) < MAX_TURNS:
            prompt = await asyncio.to_thread(_prompt, want.instance, run, replayer)
            if prompt is None:
                break
            order = _order(want, run, files(want.instance), prompt)
            came = await _delivery(client, _name(want, run, folder), order)
            run = replace(run, name=came.model)
            if came.answer is None:
                return replace(run, broken=came.broken)
            turn = Turn(came.answer, came.code, came.explanation)
            run = replace(run, turns=(*run.turns, turn))
            keep(run)
        return run

    return solve_run


def _prompt(one: Instance, run: SolverRun, replayer: Replayer) -> str | None:
    """What is asked after the answers so far; None if the script has ended."""
    record = standing_at(one.source.path, one.seed, run)
    try:
        transcript = replayer.replay(one.source, world_of(record), run.inputs)
    except LimitError:  # what was kept last was never answered to
        return None
    return transcript.last.prompt if transcript.status == "in_progress" else None


def _order(want: WantedRun, run: SolverRun, files: str, prompt: str) -> Order:
    one = want.instance
    return Order(
        script=one.source.path.name,
        files=files,
        seed=one.seed,
        start_time=run.start_time,
        inputs=list(run.inputs),
        prompt=prompt,
        sample=want.sample,
        model=run.name or None,
        hint=want.hint,
    )


def _name(want: WantedRun, run: SolverRun, folder: Path) -> Callable[[int], str]:
    """The id of a question's work, at each attempt."""
    file = str(want.file(folder.absolute()))
    key = sha256(json.dumps([file, *run.inputs]).encode("utf-8", "replace")).hexdigest()[:32]
    return lambda attempt: f"run-{key}-{attempt}"


async def _delivery(client: Client, name: Callable[[int], str], order: Order) -> Delivery:
    """What comes of an order: what came of it before, unless that was no answer."""
    for attempt in count(1):
        earlier = await client.ended(name(attempt))
        if earlier is None:
            return _read(await client.work(KIND, name(attempt), asdict(order)), order)
        if not (came := _read(earlier, order)).broken:
            return came
    raise AssertionError("there is always another attempt")


def _read(outcome: QueueOutcome, order: Order) -> Delivery:
    if outcome.result is None:
        return Delivery(order.model or "", broken=outcome.failed)
    return Delivery(**outcome.result)
