"""Tasks on web pages, in a real browser: `python -m tests.bench.web_tasks`; prints one JSON object.

Two pages a task, models that are programs. Milliseconds and megabytes.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import statistics
import sys
import tempfile
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx

from quizlog_tui.sandbox import run_code
from quizlog_tui.solver.models.choice import Choice
from quizlog_tui.webquiz.demo_server.grader import Options
from quizlog_tui.webquiz.demo_server.web import QuizServer, quiz_server
from quizlog_tui.webquiz.task.settings import TaskSettings
from quizlog_tui.webquiz.task.task import TaskRequest
from quizlog_tui.webquiz.task.task_runner import open_task_runner
from quizlog_tui.webquiz.task.tasks import open_tasks

SECRET = "a secret of the bench"
PAGES = ("q01-start", "q20-case")


def files(folder: Path, at_once: int) -> list[str]:
    said = json.dumps({"answer": "Brown", "final_answer": "Brown"})
    voter = {"name": "ada", "primary": True, "command": ["echo", said]}
    (folder / "models.yaml").write_text(json.dumps({"models": [voter]}))
    own = {"USER_SECRET": SECRET, "QUIZ_PRIVATE_HOSTS": "127.0.0.1", "TASK_BASEDIR": folder / "t"}
    own |= {"MAX_CONCURRENT_TASKS": at_once, "MAX_CONCURRENT_BROWSERS": at_once}
    (folder / "env").write_text("".join(f"{name}={value}\n" for name, value in own.items()))
    return ["--env", str(folder / "env"), "--models", str(folder / "models.yaml")]


@asynccontextmanager
async def served(
    folder: Path, words: list[str]
) -> AsyncIterator[tuple[Process, httpx.AsyncClient]]:
    command = [sys.executable, "-m", "quizlog_tui", "serve", "--json", "--port", "0"]
    process = await asyncio.create_subprocess_exec(
        *command, "--folder", str(folder), *words, stdout=PIPE
    )
    assert process.stdout
    try:
        url = json.loads(await process.stdout.readline())["url"]
        async with httpx.AsyncClient(base_url=url, timeout=300) as http:
            yield process, http
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def states(http: httpx.AsyncClient) -> list[str]:
    return [task["state"] for task in (await http.get("/tasks")).json()["tasks"]]


async def trigger(http: httpx.AsyncClient, server: QuizServer, count: int) -> list[float]:
    took = []
    for n in range(count):
        email = f"p{n}@quiz.test"
        body = {"email": email, "secret": SECRET, "url": server.first(email)}
        began = time.perf_counter()
        (await http.post("/run", json=body)).raise_for_status()
        took.append(1000 * (time.perf_counter() - began))
    return took


async def twenty_at_once(folder: Path) -> dict[str, float]:
    """How soon twenty triggers are answered, and twenty more while those run."""
    with quiz_server(Options(chain=PAGES)) as server:
        async with served(folder, files(folder, 20)) as (_, http):
            first = await trigger(http, server, 20)
            while "queued" in await states(http):
                await asyncio.sleep(0.05)
            later = await trigger(http, server, 20)
            running = (await states(http)).count("running")
    return {
        "trigger_p50": statistics.median(first),
        "trigger_max": max(first),
        "trigger_while_running_p50": statistics.median(later),
        "trigger_while_running_max": max(later),
        "running_at_their_end": running,
    }


async def killed_with_fifty(folder: Path) -> dict[str, float]:
    """How soon after a restart the tasks go on, and whether all fifty do."""
    with quiz_server(Options(chain=PAGES)) as server:
        words = files(folder, 4)
        async with served(folder, words) as (process, http):
            await trigger(http, server, 50)
            while len(server.grader.rows) < 6:
                await asyncio.sleep(0.01)
            left = len([one for one in await states(http) if one in ("queued", "running")])
            process.kill()
            await process.wait()
        held, began = len(server.grader.rows), time.perf_counter()
        async with served(folder, words) as (_, http):
            up = time.perf_counter() - began
            while (await states(http)).count("running") < 4:
                await asyncio.sleep(0.02)
            taken = time.perf_counter() - began
            while len(server.grader.rows) == held:
                await asyncio.sleep(0.02)
            sent = time.perf_counter() - began
            while {"queued", "running"} & set(await states(http)):
                await asyncio.sleep(0.2)
            ended = time.perf_counter() - began
            found = await states(http)
        answers = [(row.email, row.page) for row in server.grader.rows]
    return {
        "open_when_killed": left,
        "up": 1000 * up,
        "taken_up": 1000 * taken,
        "first_answer": 1000 * sent,
        "all_ended": 1000 * ended,
        "finished": found.count("finished"),
        "in_doubt": found.count("in_doubt"),
        "tasks": len(found),
        "answers_sent_twice": len(answers) - len(set(answers)),
    }


def resident() -> float:
    text = Path("/proc/self/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", text)[1]) / 1024  # type: ignore[index]


async def hundred(folder: Path) -> dict[str, float]:
    """Memory of a process that works tasks after 10 and after 100, and contexts left."""
    files(folder, 4)
    settings = TaskSettings(
        user_secret=SECRET, task_basedir=folder / "t", quiz_private_hosts=("127.0.0.1",)
    )
    found: dict[str, float] = {}
    async with (
        open_task_runner(settings, Choice(folder / "models.yaml"), run_code) as runner,
        open_tasks(runner) as tasks,
    ):
        for upto in (10, 100):
            for n in range(len(await tasks.list()), upto):
                email = f"p{n}@quiz.test"
                url = f"{os.environ['QUIZ']}?email={email}"
                await tasks.start(TaskRequest(email, SECRET, url))
            while {"queued", "running"} & {task["state"] for task in await tasks.list()}:
                await asyncio.sleep(0.5)
            found[f"rss_after_{upto}"] = resident()
        chromium = runner.browser._chromium
        found["contexts_left"] = len(chromium.contexts) if chromium else 0
        found["finished"] = [task["state"] for task in await tasks.list()].count("finished")
    return found


async def in_own_process(folder: Path) -> dict[str, float]:
    with quiz_server(Options(chain=PAGES)) as server:
        words = [sys.executable, "-m", "tests.bench.web_tasks", str(folder)]
        environment = os.environ | {"QUIZ": server.first()}
        process = await asyncio.create_subprocess_exec(*words, stdout=PIPE, env=environment)
        out, _ = await process.communicate()
        found: dict[str, float] = json.loads(out)
    return found


async def main() -> dict[str, Any]:
    parts = (twenty_at_once, killed_with_fifty, in_own_process)
    found = {}
    for part in parts:
        with tempfile.TemporaryDirectory() as folder:
            found[part.__name__] = await part(Path(folder))
            print(part.__name__, found[part.__name__], file=sys.stderr)
    return found


if __name__ == "__main__":
    work = hundred(Path(sys.argv[1])) if len(sys.argv) > 1 else main()
    print(json.dumps(asyncio.run(work)))
