"""Processes that work one database, and are killed. Pages are fetched by a stand-in for the browser;
loop, gate, models' code, submissions, database and processes are the real ones."""

from __future__ import annotations

import fcntl
import json
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest

from quizlog_tui.webquiz.demo_server.grader import Options
from quizlog_tui.webquiz.demo_server.web import QuizServer, quiz_server
from quizlog_tui.webquiz.task.tasks import KIND
from tests.support.postgres import needs_postgres, postgres
from tests.support.processes import wait_for
from tests.webquiz.conftest import SECRET

SAID = json.dumps({"answer": "Brown", "final_answer": "Brown"})
PATIENCE = 150.0


def until(state: Callable[[], bool]) -> None:
    wait_for(state, PATIENCE)


def models(path: Path, *command: str) -> Path:
    voter = {"name": "ada", "primary": True, "command": [*command, "echo", SAID]}
    path.write_text(json.dumps({"models": [voter]}))
    return path


@contextmanager
def worker(server: QuizServer, base: Path, database: str, models: Path, tasks: Any = (), slots: int = 8) -> Iterator[subprocess.Popen[str]]:  # fmt: skip
    order = {"base": str(base), "database": database, "models": str(models), "slots": slots,
             "first": server.first(), "tasks": tasks}  # fmt: skip
    words = [sys.executable, "-W", "error", "-m", "tests.webquiz.worker", json.dumps(order)]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def began(process: subprocess.Popen[str]) -> str:
    """Wait for a worker to work: its name."""
    assert process.stdout
    name = process.stdout.readline().strip()
    assert name, process.communicate()[1]
    return name


def ended(process: subprocess.Popen[str]) -> dict[str, str]:
    """End a worker in peace: how each task stands."""
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err) == (0, "")
    return {task["id"]: task["state"] for task in json.loads(out)}


def sent(server: QuizServer) -> Counter[tuple[str, str]]:
    return Counter((row.email, row.page) for row in server.grader.rows)


def named(count: int) -> list[tuple[str, str]]:
    return [(f"{n:08x}", f"p{n}@quiz.test") for n in range(count)]


@pytest.mark.long  # a server that is killed is tested in every run
@needs_postgres()
def test_of_two_workers_one_is_killed_and_no_task_is_lost_or_doubled(tmp_path: Path) -> None:
    hold = tmp_path / "hold"
    hold.touch()
    waiting = models(tmp_path / "waiting.json", "flock", "-s", str(hold))
    quick = models(tmp_path / "quick.json")
    tasks = named(30)
    with (
        postgres() as url,
        quiz_server(Options(chain=("q20-case",))) as server,
        worker(server, tmp_path / "a", url, waiting, tasks) as one,
        open(hold) as lock,
    ):
        name = began(one)
        with worker(server, tmp_path / "b", url, quick) as other, psycopg.connect(url) as database:
            assert began(other) != name
            until(lambda: len(server.grader.rows) >= 10)
            fcntl.flock(lock, fcntl.LOCK_EX)  # its models wait from now on
            until(lambda: thinking(database, name))
            one.kill()
            fcntl.flock(lock, fcntl.LOCK_UN)
            until(lambda: open_tasks(database) == 0)
            states = ended(other)
    assert states == {task: "finished" for task, _ in tasks}
    assert sent(server) == {(email, "q20-case"): 1 for _, email in tasks}
    assert all(row.correct for row in server.grader.rows)


def thinking(database: psycopg.Connection, name: str) -> bool:
    """Whether all that a worker does is to wait for its models."""
    last = """SELECT function_name FROM dbos.operation_outputs AS o
              WHERE o.workflow_uuid = w.workflow_uuid ORDER BY function_id DESC LIMIT 1"""
    sql = f"""SELECT ({last}) FROM dbos.workflow_status AS w
              WHERE status = 'PENDING' AND executor_id = %s"""
    rows = database.execute(sql, [name]).fetchall()
    database.commit()
    return len(rows) > 0 and {row[0] for row in rows} == {"look"}


def open_tasks(database: psycopg.Connection) -> int:
    sql = "SELECT count(*) FROM dbos.workflow_status WHERE name = %s AND status <> 'SUCCESS'"
    row = database.execute(sql, [KIND]).fetchone()
    database.commit()
    assert row
    return int(row[0])


def test_an_answer_that_may_have_arrived_is_sent_once_more_and_the_task_goes_on(
    tmp_path: Path,
) -> None:
    chosen = models(tmp_path / "models.json")
    database = tmp_path / "tasks.sqlite"
    url, tasks = f"sqlite:///{database}", named(1)
    with quiz_server(Options(chain=("q20-case",), latency=600)) as server:
        posts = lambda: [hit for hit in server.hits if hit["method"] == "POST"]  # noqa: E731
        with worker(server, tmp_path / "a", url, chosen, tasks) as first:
            began(first)
            until(lambda: len(posts()) == 1)
            first.kill()
        server.grader.options = replace(server.grader.options, latency=0)
        with worker(server, tmp_path / "a", url, chosen) as second:
            began(second)
            with closing(sqlite3.connect(database)) as looking:
                sql = "SELECT count(*) FROM workflow_status WHERE status = 'SUCCESS'"
                until(lambda: looking.execute(sql).fetchone() == (1,))
            assert ended(second) == {tasks[0][0]: "finished"}
        assert len(posts()) == 2
    log = (tmp_path / "a" / "results" / tasks[0][0] / "task.log").read_text()
    assert log.count("the identical answer is sent once more") == 1
    assert SECRET.encode() not in b"".join(file.read_bytes() for file in tmp_path.glob("tasks.*"))
