"""A process that works the tasks of a database, for tests that end it: `python -m tests.webquiz.worker`.

Takes a JSON object: base, database, models (a file), slots, and tasks as pairs of id and address.
Says who it is once it works; at the end of its stdin, how all tasks stand.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from quizlog_tui.sandbox import run_code
from quizlog_tui.solver.models.choice import Choice
from quizlog_tui.webquiz.task.settings import TaskSettings
from quizlog_tui.webquiz.task.task import TaskRequest
from quizlog_tui.webquiz.task.task_runner import open_task_runner
from quizlog_tui.webquiz.task.tasks import open_tasks
from tests.webquiz.conftest import QUICK, SECRET
from tests.webquiz.stand_in import StandIn


async def work(order: dict[str, Any]) -> None:
    settings = TaskSettings(
        user_secret=SECRET,
        task_basedir=Path(order["base"]),
        task_database_url=order["database"],
        max_concurrent_tasks=order["slots"],
        max_queued_tasks=1000,
        quiz_private_hosts=("127.0.0.1",),
    )
    async with open_task_runner(settings, Choice(Path(order["models"])), run_code) as runner:
        runner.budget = QUICK
        runner.browser = StandIn()  # type: ignore[assignment]
        async with open_tasks(runner) as tasks:
            for task, email in order["tasks"]:
                await tasks.start(
                    TaskRequest(email, SECRET, f"{order['first']}?email={email}", task)
                )
            print(tasks.engine.presence.name, flush=True)
            await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
            print(json.dumps(await tasks.list()), flush=True)


if __name__ == "__main__":
    asyncio.run(work(json.loads(sys.argv[1])))
