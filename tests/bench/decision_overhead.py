"""What a decision costs beyond its models and their code: CPU of one process, five models.

Run as `python -m tests.bench.decision_overhead`; prints one JSON object. The models are a server in a
process of its own that answers at once, the code's result comes from a function that returns at once;
so all that is left is asking over sockets, checking, voting, telling, and writing the decision down.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from quizlog_tui.sandbox.result import ExecResult
from quizlog_tui.solver.decision import ModelQuestion
from quizlog_tui.solver.decision_text import append_decision
from quizlog_tui.solver.models.choice import live_panel
from quizlog_tui.solver.models.env_file import Variables
from quizlog_tui.solver.models.models import Models
from quizlog_tui.solver.solve import solve
from tests.support.fake_models import fake_models

LIMIT = 0.050
"""Seconds of CPU a decision may cost."""
ROUNDS = 40
_REPLY = json.dumps(
    {"code": "answer = 6 * 7", "answer": 42, "explanation": "six times seven"}
    | {"final_answer": 42, "confidence": 0.9}
)
"""Follows the contracts of both rounds."""
QUESTION = ModelQuestion("What is 6 * 7? ", "Two numbers.\n" * 20, "integer")


def _serve(pipe: Any) -> None:
    async def serve() -> None:
        async with fake_models(**{f"m{i}": [_REPLY] for i in range(5)}) as fake:
            pipe.send(fake.url)
            await asyncio.to_thread(pipe.recv)

    asyncio.run(serve())


def _settings(url: str) -> Models:
    models = [
        {"name": f"m{i}", "base_url": url, "model": f"m{i}", "primary": i == 0} for i in range(5)
    ]
    return Models.model_validate({"models": models})


async def _measure(url: str, folder: Path, *, differ: bool) -> dict[str, float]:
    answers = iter(range(10**9))

    async def run(code: str, folder: Path | None) -> ExecResult:
        return ExecResult("ok", next(answers) if differ else 42, "", "", None, 0.0, "none")

    cpu, wall = [], []
    async with live_panel(_settings(url), run, environment=Variables({})) as panel:
        for _ in range(ROUNDS):
            before = time.process_time(), time.perf_counter()
            decision = await solve(QUESTION, panel, tell=lambda progress: None)
            append_decision(folder / "d.jsonl", decision)
            cpu.append(time.process_time() - before[0])
            wall.append(time.perf_counter() - before[1])
            assert bool(decision.reconciliation) is differ
    return {
        "first_cpu_ms": round(1000 * cpu[0], 2),
        "median_cpu_ms": round(1000 * statistics.median(cpu), 2),
        "max_cpu_ms": round(1000 * max(cpu), 2),
        "median_wall_ms": round(1000 * statistics.median(wall), 2),
    }


def main() -> None:
    """Measure one round, and a reconciliation on top of it."""
    ours, theirs = multiprocessing.get_context("spawn").Pipe()
    server = multiprocessing.get_context("spawn").Process(target=_serve, args=(theirs,))
    server.start()
    try:
        url = ours.recv()
        with tempfile.TemporaryDirectory() as name:
            one = asyncio.run(_measure(url, Path(name), differ=False))
            two = asyncio.run(_measure(url, Path(name), differ=True))
    finally:
        ours.send("end")
        server.join()
    print(json.dumps({"models": 5, "limit_ms": 1000 * LIMIT, "one_round": one, "two_rounds": two}))


if __name__ == "__main__":
    main()
