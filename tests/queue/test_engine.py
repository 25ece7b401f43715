"""The queue in its database: what is kept, who works it, what is taken up again, what an end leaves."""

from __future__ import annotations

import asyncio
import stat
import time
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, text

from quizlog_tui.errors import ConfigError, LockedError
from quizlog_tui.queue import presence
from quizlog_tui.queue.database import server_arguments, system_url
from quizlog_tui.queue.engine import Engine, running, store_value, stored_values
from quizlog_tui.queue.presence import present
from quizlog_tui.solver.redaction import Redaction

pytestmark = pytest.mark.core

KEY = "sk-geheim-1234"
CLEAN = Redaction([KEY])
KIND = "quizlog-test-1"


class Work:
    """Announces, sends and goes on; ends when it is told to."""

    engine: Engine

    def __init__(self) -> None:
        self.sent = 0
        self.sending, self.go_on, self.after = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def __call__(self, task: str, email: str, url: str) -> dict[str, Any]:
        await self.engine.step("announce", self.nothing)
        said = await self.engine.step("send", self.send)
        await store_value("001", {"said": said})
        return {"said": await self.engine.step("look", self.look)}

    async def nothing(self) -> None: ...

    async def send(self) -> str:
        self.sent += 1
        self.sending.set()
        await self.go_on.wait()
        return f"it is {KEY}"

    async def look(self) -> str:
        await self.after.wait()
        return "done"


async def ended(engine: Engine, task: str) -> Any:
    async with asyncio.timeout(60):
        while (row := await engine.one(KIND, task)) is None or row.status in (
            "ENQUEUED",
            "PENDING",
        ):
            await asyncio.sleep(0.05)
    return row


def test_every_sqlite_tells_the_milliseconds_that_dbos_asks_for() -> None:
    engine = create_engine("sqlite://")
    with engine.connect() as connection:
        now = connection.execute(text("SELECT unixepoch('subsec')")).scalar_one()
    engine.dispose()
    assert isinstance(now, float) and abs(now - time.time()) < 60


async def test_an_end_lets_what_is_being_sent_arrive_and_leaves_the_rest(tmp_path: Path) -> None:
    url, work = f"sqlite:///{tmp_path / 't.sqlite'}", Work()
    async with running(url, 2, {KIND: work}, CLEAN) as work.engine:
        await work.engine.enqueue(KIND, "aa", "jon@quiz.test", "http://quiz.test")
        await work.sending.wait()
        asyncio.get_running_loop().call_later(0.1, work.go_on.set)
    row_before = work.sent
    work.after.set()
    async with running(url, 2, {KIND: work}, CLEAN) as work.engine:
        row = await ended(work.engine, "aa")
        assert (row.status, row.output) == ("SUCCESS", {"said": "done"})
        assert await stored_values("aa") == {"001": {"said": "it is [key]"}}
        assert (row_before, work.sent) == (1, 1)
    assert KEY.encode() not in b"".join(path.read_bytes() for path in tmp_path.glob("t.sqlite*"))


async def test_what_fails_is_kept_as_its_text_and_old_tasks_are_forgotten(tmp_path: Path) -> None:
    async def work(task: str, email: str, url: str) -> dict[str, Any]:
        raise ValueError(f"no {KEY}")

    async with running(f"sqlite:///{tmp_path / 't.sqlite'}", 2, {KIND: work}, CLEAN) as engine:
        await engine.enqueue(KIND, "bb", "jon@quiz.test", "http://quiz.test")
        row = await ended(engine, "bb")
        assert (row.status, str(row.error)) == ("ERROR", "ValueError: no [key]")
        assert (await engine.unfinished_tasks(KIND, 9), len(await engine.newest(KIND, 9))) == (
            [],
            1,
        )
        await engine.forget(row.completed_at / 1000 - 10)
        assert await engine.one(KIND, "bb")
        await engine.forget(row.completed_at / 1000 + 10)
        assert await engine.one(KIND, "bb") is None


async def test_of_what_may_be_open_once_a_second_is_not_taken(tmp_path: Path) -> None:
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def work(task: str, email: str) -> dict[str, Any]:
        begun.set()
        await go_on.wait()
        return {"task": task}

    url = f"sqlite:///{tmp_path / 't.sqlite'}"
    async with running(url, 2, {KIND: work}, CLEAN) as engine:
        taken = [engine.enqueue(KIND, task, "jon@quiz.test", only="jon") for task in ("aa", "bb")]
        ids = set(await asyncio.gather(*taken))
        assert len(ids) == 1
        await begun.wait()  # it is open also while it is worked, and when it is taken up again
    async with running(url, 2, {KIND: work}, CLEAN) as engine:
        assert await engine.enqueue(KIND, "cc", "jon@quiz.test", only="jon") in ids
        assert await engine.enqueue(KIND, "dd", "dora@quiz.test", only="dora") == "dd"
        go_on.set()
        assert (await ended(engine, *ids)).output == {"task": ids.pop()}
        assert await engine.enqueue(KIND, "ee", "jon@quiz.test", only="jon") == "ee"
        await ended(engine, "ee")


async def test_a_task_is_worked_in_the_loop_of_its_engine_or_left_for_later(tmp_path: Path) -> None:
    url, work = f"sqlite:///{tmp_path / 't.sqlite'}", Work()
    async with running(url, 2, {KIND: work}, CLEAN) as work.engine:
        elsewhere = asyncio.to_thread(asyncio.run, work.engine._workflow(work, "aa", ("a", "b")))
        with pytest.raises(asyncio.CancelledError):
            await elsewhere
        assert (work.engine.busy, work.sent) == ({}, 0)


def test_a_file_has_one_process_at_a_time_and_is_its_owners(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(presence, "_LOCK_SECONDS", 0.1)
    path = tmp_path / "new" / "tasks.sqlite"
    with present(f"sqlite:///{path}"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        with pytest.raises(LockedError, match="another process works its tasks"):
            present(f"sqlite:///{path}").__enter__()
    with present(f"sqlite:///{path}"):
        pass


@pytest.mark.parametrize(
    "url", ["postgresql:///t", "postgres:///t", "postgresql+psycopg:///t?application_name=a%20b"]
)
def test_every_part_of_a_servers_address_reaches_it_unchanged(url: str) -> None:
    filled = url.replace(":///t", "://postgres:a%40postgres:b@db.test:5433/postgres:x")
    wanted = {"user": "postgres", "password": "a@postgres:b", "host": "db.test", "port": 5433}
    found = server_arguments(filled)
    assert wanted.items() <= found.items() and found["dbname"] == "postgres:x"
    assert server_arguments(system_url(filled)) == found


@pytest.mark.parametrize("url", ["mysql://h/t", "tasks", "sqlite://", "postgresql://h:x/t"])
def test_other_databases_are_none_for_tasks(url: str) -> None:
    with pytest.raises(ConfigError, match="is not the address of a database for tasks"):
        present(url).__enter__()


def test_a_file_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="is not a folder"):
        present(f"sqlite:///{tmp_path / 'file' / 'tasks.sqlite'}").__enter__()
