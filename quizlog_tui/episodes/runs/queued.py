"""Makes runs whose questions are answered through the queue, by models of other machines.

Each question is a task whose id is derived from the run and its answers so far: a run that is
requested again finds answers that came in the meantime. No model is asked here.
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
from .model_runs import MAX_TURNS, record_of_run
from .remote_question import KIND, RemoteAnswer, RemoteQuestion, packed_script
from .runs import SolverRun, Turn

if TYPE_CHECKING:
    from ...queue.client import Client, QueueOutcome

CONCURRENT_RUNS = 64
"""Maximum number of concurrent runs; the machines that work the queue limit the questions."""


def by_queue(client: Client, folder: Path, replayer: Replayer) -> SolveRun:
    """A solver that puts each question into the queue.

    Args:
        client: The queue.
        folder: The folder of the runs; other folders mean other runs.
        replayer: Replays the script to find its next question.
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
            question = _remote_question(want, run, files(want.instance), prompt)
            reply = await _ask(client, _name(want, run, folder), question)
            run = replace(run, name=reply.model)
            if reply.answer is None:
                return replace(run, broken=reply.broken)
            turn = Turn(reply.answer, reply.code, reply.explanation)
            run = replace(run, turns=(*run.turns, turn))
            keep(run)
        return run

    return solve_run


def _prompt(one: Instance, run: SolverRun, replayer: Replayer) -> str | None:
    """The question after the answers so far; None if the script has ended."""
    record = record_of_run(one.source.path, one.seed, run)
    try:
        transcript = replayer.replay(one.source, world_of(record), run.inputs)
    except LimitError:  # the script went over a limit after the last stored answer
        return None
    return transcript.next_prompt if transcript.status == "in_progress" else None


def _remote_question(want: WantedRun, run: SolverRun, files: str, prompt: str) -> RemoteQuestion:
    one = want.instance
    return RemoteQuestion(
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
    """A function that gives the id of a question's task for each attempt."""
    file = str(want.file(folder.absolute()))
    key = sha256(json.dumps([file, *run.inputs]).encode("utf-8", "replace")).hexdigest()[:32]
    return lambda attempt: f"run-{key}-{attempt}"


async def _ask(
    client: Client, name: Callable[[int], str], question: RemoteQuestion
) -> RemoteAnswer:
    """The answer to a question: an earlier one if there is one, else one from a new attempt."""
    for attempt in count(1):
        earlier = await client.ended(name(attempt))
        if earlier is None:
            return _read(await client.work(KIND, name(attempt), asdict(question)), question)
        if not (reply := _read(earlier, question)).broken:
            return reply
    raise AssertionError("there is always another attempt")


def _read(outcome: QueueOutcome, question: RemoteQuestion) -> RemoteAnswer:
    if outcome.result is None:
        return RemoteAnswer(question.model or "", broken=outcome.failed)
    return RemoteAnswer(**outcome.result)
